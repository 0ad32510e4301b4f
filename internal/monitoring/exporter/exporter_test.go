package exporter_test

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/monitoring/exporter"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
)

// The tables are laid out as snapd 2.61 prints them.
const (
	listed = "Name                     Version  Rev  Tracking       Publisher   Notes\n" +
		"prometheus-ovn-exporter  1.0.7    13   latest/stable  canonical✓  -\n"
	byHand = "Name                     Version  Rev  Tracking  Publisher  Notes\n" +
		"prometheus-ovn-exporter  1.0.7    x1   -         -          -\n"
	connected = "Interface              Plug                                           Slot                    Notes\n" +
		"network-bind           prometheus-ovn-exporter:network-bind           :network-bind           -\n" +
		"system-files           prometheus-ovn-exporter:run-ovn                :system-files           manual\n"
	unconnected = "Interface              Plug                                           Slot                    Notes\n" +
		"home                   prometheus-ovn-exporter:home                   -                       -\n" +
		"network-bind           prometheus-ovn-exporter:network-bind           :network-bind           -\n" +
		"openvswitch            prometheus-ovn-exporter:openvswitch            -                       -\n" +
		"system-files           prometheus-ovn-exporter:run-ovn                -                       -\n"
	serviceHead = "Service                               Startup   Current   Notes\n"

	runs     = serviceHead + "prometheus-ovn-exporter.ovn-exporter  enabled   active    -\n"
	stopped  = serviceHead + "prometheus-ovn-exporter.ovn-exporter  enabled   inactive  -\n"
	disabled = serviceHead + "prometheus-ovn-exporter.ovn-exporter  disabled  inactive  -\n"
)

const name = "prometheus-ovn-exporter"

func snap(args ...string) runtest.Call { return runtest.Expect("snap", args...) }

func list(out string) runtest.Call        { return snap("list", name).Writes(out) }
func connections(out string) runtest.Call { return snap("connections", name).Writes(out) }
func services(out string) runtest.Call    { return snap("services", name).Writes(out) }

var notInstalled = snap("list", name).Fails(1, "error: no matching snaps installed\n")

func TestExporter_follows_option(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		channel   string
		calls     []runtest.Call
		installed bool
		says      string
	}{
		"install": {
			channel: "stable", installed: true, calls: []runtest.Call{
				notInstalled, snap("install", "--channel=stable", name),
				connections(unconnected), snap("stop", name),
				snap("connect", name+":openvswitch", ":openvswitch"), snap("connect", name+":run-ovn", ":system-files"),
				services(stopped), snap("start", name),
			},
		},
		"nothing to do": {
			channel: "stable", installed: true, calls: []runtest.Call{list(listed), connections(connected), services(runs)},
		},
		"other channel": {
			channel: "edge", installed: true, calls: []runtest.Call{
				list(listed), snap("refresh", "--channel=edge", name), connections(connected), services(runs),
			},
		},
		"killed before the start": {
			channel: "stable", installed: true, calls: []runtest.Call{
				list(listed), connections(connected), services(stopped), snap("start", name),
			},
		},
		"disabled by an operator": {
			channel: "stable", installed: true, calls: []runtest.Call{list(listed), connections(connected), services(disabled)},
		},
		"installed from a file": {
			channel: "edge", installed: true, calls: []runtest.Call{list(byHand), connections(connected), services(runs)},
		},
		"remove":         {calls: []runtest.Call{list(listed), snap("remove", name)}},
		"removed before": {calls: []runtest.Call{notInstalled}},
		"remove fails": {
			installed: true, says: "cannot remove",
			calls: []runtest.Call{list(listed), snap("remove", name).Fails(1, "error: cannot remove it\n")},
		},
		"install fails": {
			channel: "stable", says: "no route",
			calls: []runtest.Call{notInstalled, snap("install", "--channel=stable", name).Fails(1, "error: no route\n")},
		},
		"refresh fails": {
			channel: "beta", installed: true, says: "no route",
			calls: []runtest.Call{list(listed), snap("refresh", "--channel=beta", name).Fails(1, "error: no route to store\n")},
		},
		"connect fails": {
			channel: "stable", installed: true, says: "no slot",
			calls: []runtest.Call{
				list(listed), connections(unconnected), snap("stop", name),
				snap("connect", name+":openvswitch", ":openvswitch").Fails(1, "error: no slot\n"),
			},
		},
		"snapd silent": {
			channel: "stable", says: "cannot communicate",
			calls: []runtest.Call{snap("list", name).Fails(1, "error: cannot communicate with server\n")},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			script := runtest.New(t, c.calls...)
			installed, err := exporter.Exporter{Runner: script}.Ensure(t.Context(), c.channel)
			assert.Equal(t, c.installed, installed)
			if c.says == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, c.says)
			}
		})
	}
}

type runnerFunc func(context.Context, run.Command) ([]byte, error)

func (f runnerFunc) Run(ctx context.Context, c run.Command) ([]byte, error) { return f(ctx, c) }

// The test uses the error that the real lookup of a program returns.
func TestExporter_without_snapd(t *testing.T) {
	t.Parallel()
	missing := runnerFunc(func(ctx context.Context, c run.Command) ([]byte, error) {
		_, limited := ctx.Deadline()
		assert.True(t, limited)
		return nil, &run.Error{Command: c, ExitCode: -1, Err: exec.ErrNotFound}
	})
	installed, err := exporter.Exporter{Runner: missing}.Ensure(context.WithoutCancel(t.Context()), "stable")
	require.ErrorIs(t, err, exporter.ErrNoSnapd)
	assert.False(t, installed)
	installed, err = exporter.Exporter{Runner: missing}.Ensure(t.Context(), "")
	require.NoError(t, err, "without an exporter no snapd is needed")
	assert.False(t, installed)
}
