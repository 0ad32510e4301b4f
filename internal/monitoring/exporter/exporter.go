// Package exporter installs the exporter of metrics, which is a snap.
package exporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// snap is the exporter: greenpau's ovn_exporter 1.0.7 as
// canonical/snap-prometheus-ovn-exporter packs it. It serves on port 9476.
const snap = "prometheus-ovn-exporter"

// Timeouts of snap. A local call takes a second. A call to the store downloads about 10 MB, and fails after about a
// minute if it can't reach the store.
const (
	snapTimeout  = 30 * time.Second
	storeTimeout = 3 * time.Minute
)

// plugs are the rights that the exporter needs and that snapd does not grant by default. Source: layer.yaml of the
// previous charm.
var plugs = []string{
	"network-bind", "kernel-module-observe", "netlink-audit", "log-observe", "network-observe", "openvswitch",
	"system-observe", "etc-openvswitch", "run-openvswitch", "run-ovn",
}

// ErrNoSnapd means that the machine has no snapd, so it can have no exporter.
var ErrNoSnapd = errors.New("snapd is not installed, without which there is no exporter; " +
	"set ovn-exporter-channel to \"\" to do without")

// Exporter is the snap that serves metrics.
type Exporter struct{ Runner run.Runner }

// Ensure makes the snap follow a channel of its track. It installs or refreshes the snap, or removes it if
// channel is empty; connects its plugs; and starts it, unless an operator has disabled it. It leaves alone a snap
// that was installed from a file, which has no channel. If there is nothing to do, it calls snap three times.
// installed reports whether the snap is installed, even with an error. Without snapd the error is [ErrNoSnapd].
func (e Exporter) Ensure(ctx context.Context, channel string) (installed bool, err error) {
	tracking, installed, err := e.tracking(ctx)
	switch {
	case errors.Is(err, ErrNoSnapd) && channel == "":
		return false, nil
	case err != nil:
		return false, err
	case channel == "" && !installed:
		return false, nil
	case channel == "":
		err := e.store(ctx, "remove", snap)
		return err != nil, err
	case !installed:
		if err := e.store(ctx, "install", "--channel="+channel, snap); err != nil {
			return false, err
		}
	case tracking != "-" && !slices.Contains(strings.Split(tracking, "/"), channel):
		if err := e.store(ctx, "refresh", "--channel="+channel, snap); err != nil {
			return true, err
		}
	}
	if err := e.connect(ctx); err != nil {
		return true, err
	}
	return true, e.start(ctx)
}

// tracking returns the snap's channel, such as latest/stable, or a dash if the snap was installed from a file.
func (e Exporter) tracking(ctx context.Context) (channel string, installed bool, err error) {
	rows, err := e.table(ctx, "list", snap)
	if failed := (*run.Error)(nil); errors.As(err, &failed) &&
		strings.Contains(failed.Stderr, "no matching snaps installed") {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	for _, row := range rows { // Name Version Rev Tracking Publisher Notes
		if len(row) > 3 && row[0] == snap {
			return row[3], true, nil
		}
	}
	return "", false, fmt.Errorf("cannot find out whether %s is installed: snap list does not name it", snap)
}

// connect connects the missing plugs. It stops the exporter first, since a process keeps the system calls that were
// permitted at its start. If the hook is killed then, the stopped exporter shows the next hook that there is
// something to finish.
func (e Exporter) connect(ctx context.Context) error {
	rows, err := e.table(ctx, "connections", snap)
	if err != nil {
		return err
	}
	stopped := false
	for _, row := range rows { // Interface Plug Slot Notes
		if len(row) < 3 || row[2] != "-" {
			continue
		}
		owner, plug, _ := strings.Cut(row[1], ":")
		if owner != snap || !slices.Contains(plugs, plug) {
			continue
		}
		if !stopped {
			if _, err := e.snap(ctx, snapTimeout, "stop", snap); err != nil {
				return err
			}
			stopped = true
		}
		if _, err := e.snap(ctx, snapTimeout, "connect", row[1], ":"+row[0]); err != nil {
			return err
		}
	}
	return nil
}

func (e Exporter) start(ctx context.Context) error {
	rows, err := e.table(ctx, "services", snap)
	if err != nil {
		return err
	}
	for _, row := range rows { // Service Startup Current Notes
		if len(row) > 2 && row[1] == "enabled" && row[2] == "inactive" {
			_, err := e.snap(ctx, snapTimeout, "start", snap)
			return err
		}
	}
	return nil
}

// table returns the columns of snap's output, without their headings.
func (e Exporter) table(ctx context.Context, args ...string) ([][]string, error) {
	out, err := e.snap(ctx, snapTimeout, args...)
	if err != nil {
		return nil, err
	}
	var rows [][]string
	for i, line := range strings.Split(string(out), "\n") {
		if fields := strings.Fields(line); i > 0 && len(fields) > 0 {
			rows = append(rows, fields)
		}
	}
	return rows, nil
}

func (e Exporter) store(ctx context.Context, args ...string) error {
	_, err := e.snap(ctx, storeTimeout, args...)
	return err
}

func (e Exporter) snap(ctx context.Context, timeout time.Duration, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	out, err := e.Runner.Run(ctx, run.Command{Name: "snap", Args: args})
	switch {
	case run.Missing(err):
		return nil, ErrNoSnapd
	case err != nil:
		return nil, fmt.Errorf("cannot run snap %s: %w", args[0], err)
	}
	return out, nil
}
