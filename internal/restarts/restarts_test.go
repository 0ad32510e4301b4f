package restarts

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

const nb, sb = ovndb.NorthboundServer, ovndb.SouthboundServer

// refused are the notes about restarts that were refused to packages.
type refused map[string]ovndb.Service

func (r refused) Deferred() (map[string]ovndb.Service, error) { return r, nil }

func (r refused) Forget(map[string]ovndb.Service) error {
	clear(r)
	return nil
}

// manager returns a manager that has stored k.
func manager(t *testing.T, k kept, notes refused) *Manager {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	state, err := unitstate.Open(filepath.Join(t.TempDir(), "state.json"), log)
	require.NoError(t, err)
	require.NoError(t, section.Set(state, k))
	return &Manager{Refusals: notes, State: state, Log: log}
}

func pending(t *testing.T, m *Manager, installed ovndb.Version) map[ovndb.Service]string {
	t.Helper()
	all, err := m.Pending(installed)
	require.NoError(t, err)
	return all
}

// A reboot, systemd after a crash and an operator restart services too. A restart that was recorded after such a
// start, or may have been, is still due.
func TestPlanned_restart_by_others(t *testing.T) {
	t.Parallel()
	old, installed := ovndb.Version{OVN: "23.03", OVS: "3.1"}, ovndb.Version{OVN: "25.03", OVS: "3.5"}
	runs := func(invocation string) plan.ServiceState {
		return plan.ServiceState{Active: true, Invocation: invocation, Installed: true}
	}
	outdated := func(invocation string) plan.ServiceState {
		return plan.ServiceState{Active: true, Invocation: invocation}
	}
	for name, tt := range map[string]struct {
		seen  string
		noted bool // noted after the service was seen
		hooks []plan.ServiceState
		due   bool
	}{
		"it_runs_as_before": {
			seen: "a", hooks: []plan.ServiceState{outdated("a"), outdated("a")}, due: true,
		},
		"it_was_started_again":                 {seen: "a", hooks: []plan.ServiceState{runs("b")}},
		"it_was_started_again_and_seen_before": {hooks: []plan.ServiceState{outdated("a"), runs("b")}},
		"it_was_started_before_the_upgrade":    {seen: "a", hooks: []plan.ServiceState{outdated("b")}, due: true},
		"it_was_started_before_and_after":      {seen: "a", hooks: []plan.ServiceState{outdated("b"), runs("c")}},
		"it_was_never_seen":                    {hooks: []plan.ServiceState{runs("b")}, due: true},
		"systemd_does_not_say":                 {seen: "a", hooks: []plan.ServiceState{runs("")}, due: true},
		"it_is_down": {
			seen: "a", hooks: []plan.ServiceState{{Invocation: "b", Installed: true}}, due: true,
		},
		"it_was_down_and_is_started":              {seen: "a", hooks: []plan.ServiceState{{Invocation: "a"}, runs("b")}},
		"the_restart_was_noted_perhaps_after_it":  {seen: "a", noted: true, hooks: []plan.ServiceState{runs("b")}, due: true},
		"it_was_started_after_the_note_was_seen":  {seen: "a", noted: true, hooks: []plan.ServiceState{runs("b"), runs("c")}},
		"nothing_of_it_is_installed_nor_is_known": {seen: "a", hooks: []plan.ServiceState{{}}, due: true},
	} {
		for _, before := range []string{"", "options changed"} {
			m := manager(t, kept{Running: map[ovndb.Service]ovndb.Version{nb: old}}, nil)
			if before != "" {
				m.Due(nb, before)
			}
			if tt.seen != "" {
				m.update(func(k kept) { k.Invocations[nb] = tt.seen })
			}
			if tt.noted {
				m.Due(nb, "Package update")
			}
			for i, x := range tt.hooks {
				services := map[ovndb.Service]plan.ServiceState{nb: x}
				planned := m.Planned(t.Context(), installed, services, false)
				if i == len(tt.hooks)-1 {
					assert.Equal(t, tt.due, planned[nb] != "", name)
				}
				m.Seen(services, installed)
				assert.Equal(
					t, planned[nb], m.Planned(t.Context(), installed, services, false)[nb], "%s: what a plan leaves out is noted",
					name,
				)
			}
			assert.Equal(t, tt.due, pending(t, m, installed)[nb] != "", name)
			runs, _ := m.Runs(nb)
			assert.Equal(t, !tt.due, runs.Is(installed), name)
		}
	}
}

// A refused restart is due even if the service was started before the note was read.
func TestKeepRefused(t *testing.T) {
	t.Parallel()
	installed := ovndb.Version{OVN: "23.03"}
	notes := refused{"1f0e": ovndb.Northd}
	m := manager(t, kept{
		Pending:     map[ovndb.Service]string{ovndb.Northd: "units"},
		Invocations: map[ovndb.Service]string{ovndb.Northd: "a", nb: "c"},
	}, notes)
	started := map[ovndb.Service]plan.ServiceState{ovndb.Northd: {Active: true, Invocation: "b", Installed: true}}
	assert.Equal(
		t, "Package update", m.Planned(t.Context(), installed, started, false)[ovndb.Northd],
		"the plan of an action, which keeps nothing",
	)
	assert.Empty(t, m.Planned(t.Context(), installed, started, true), "ovn-northd is held")

	log := new(bytes.Buffer)
	m.Log = slog.New(slog.NewTextHandler(log, nil))
	m.KeepRefused(t.Context(), func() error { return errors.New("full") })
	assert.Len(t, notes, 1, "the disk does not have it")
	assert.Contains(t, log.String(), "error=full")

	m.KeepRefused(t.Context(), func() error { return nil })
	assert.Empty(t, notes)
	assert.Equal(t, map[ovndb.Service]string{nb: "c"}, m.get().Invocations)
	m.Seen(started, installed)
	assert.Equal(t, map[ovndb.Service]string{ovndb.Northd: "units"}, pending(t, m, installed))
}

func TestKeepRefused_umbrella_is_all_services(t *testing.T) {
	t.Parallel()
	m := manager(t, kept{}, refused{"1f0e": ovndb.Umbrella})
	m.KeepRefused(t.Context(), func() error { return nil })
	assert.Equal(
		t, map[ovndb.Service]string{ovndb.Northd: "Package update", nb: "Package update", sb: "Package update"},
		pending(t, m, ovndb.Version{}),
	)
}

func TestRunning(t *testing.T) {
	t.Parallel()
	old, installed := ovndb.Version{OVN: "23.03", OVS: "3.1"}, ovndb.Version{OVN: "25.03", OVS: "3.5"}
	const northd = ovndb.Northd
	type running = map[ovndb.Service]ovndb.Version
	for name, tt := range map[string]struct {
		running running
		want    []ovndb.Version
	}{
		"all_were_restarted":         {running{northd: installed, nb: installed, sb: installed}, []ovndb.Version{installed}},
		"none_was":                   {running{northd: old, nb: old, sb: old}, []ovndb.Version{old}},
		"a_server_was":               {running{northd: old, nb: installed, sb: old}, []ovndb.Version{old, installed}},
		"ovn-northd_was_not":         {running{northd: old, nb: installed, sb: installed}, []ovndb.Version{old, installed}},
		"ovn-northd_never_ran":       {running{nb: installed, sb: installed}, []ovndb.Version{installed}},
		"a_server_was_never_started": {running{northd: installed, nb: installed}, nil},
		"nothing_was":                {nil, nil},
	} {
		assert.Equal(t, tt.want, manager(t, kept{Running: tt.running}, nil).Running(installed), name)
	}
}

// servers are the servers' versions of Open vSwitch.
type servers map[ovndb.Database]string

func (s servers) Version(_ context.Context, db ovndb.Database) (string, error) {
	if s[db] == "" {
		return "", errors.New("not running")
	}
	return s[db], nil
}

// Under another charm, packages may have been upgraded without a restart of their servers.
func TestComplete(t *testing.T) {
	t.Parallel()
	adopted := ovndb.Version{OVN: "23.03.1-1"}
	m := manager(t, kept{Running: map[ovndb.Service]ovndb.Version{ovndb.Northd: adopted, nb: adopted, sb: adopted}}, nil)
	m.Servers = servers{ovndb.NB: "3.0.1"}
	installed := ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}
	assert.Empty(t, pending(t, m, installed))
	m.Complete(t.Context(), installed)
	running := ovndb.Version{OVN: "23.03.1-1", OVS: "3.0.1"}
	assert.Equal(t, map[ovndb.Service]ovndb.Version{ovndb.Northd: installed, nb: running, sb: adopted}, m.get().Running)
	assert.Equal(t, map[ovndb.Service]string{nb: running.Change(installed)}, pending(t, m, installed))
}
