package lab_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func TestHook_is_killed_at_each_call(t *testing.T) {
	l, units := withUnits(t, 1, false, scripts{
		"stop": "relation-set -r ovsdb-peer:1 a=1; ovs-appctl --version > /dev/null; systemctl stop ovn-ovsdb-server-sb; relation-set -r 1 --file - < /dev/null; echo end > end",
	})
	u := units[0]
	require.NoError(t, l.BeginRemoval(ctx(t), u))
	calls := []string{"relation-set -r ovsdb-peer:1 a=1", "ovs-appctl --version", "systemctl stop ovn-ovsdb-server-sb", "relation-set -r 1 --file -"}
	for i := range calls {
		got, err := l.RunHookKilledAt(ctx(t), u, "stop", i+1)
		require.NoError(t, err)
		assert.True(t, got.Killed)
		assert.Equal(t, calls[:i+1], got.Calls)
		assert.Equal(t, i < 3, u.Running(lab.SB), "what it is killed at isn't done; what was before is: %s", calls[i])
		assert.NotContains(t, u.Data(), "a")
		assert.Equal(t, "idle", u.Agent().Status)
		assert.NoFileExists(t, filepath.Join(u.CharmDir(), "end"))
	}
	got, err := l.RunHookKilledAt(ctx(t), u, "stop", len(calls)+1)
	require.NoError(t, err)
	assert.False(t, got.Killed)
	assert.Equal(t, calls, got.Calls)
	assert.FileExists(t, filepath.Join(u.CharmDir(), "end"))
	require.NoError(t, l.RemoveUnit(ctx(t), u, lab.RemoveOptions{}))
	assert.Equal(t, []string{"stop (killed)", "stop", "remove"}, u.Hooks()[len(u.Hooks())-3:])
}

func TestRemoveApplication_stops_all_units_at_once(t *testing.T) {
	l, units := withUnits(t, 3, true, scripts{
		// Each waits until all three run: one after another they would never end.
		"stop": `goal-state --format=json > goal; touch ../at-stop; while [ "$(ls ../../*/at-stop | wc -l)" -lt 3 ]; do sleep 0.01; done`,
	})
	require.NoError(t, l.RemoveApplication(ctx(t)))
	assert.Empty(t, l.Units())
	for _, u := range units {
		assert.Equal(t, 3, strings.Count(read(t, u.CharmDir(), "goal"), `"dying"`))
	}
	_, err := l.AddUnit(ctx(t))
	require.Error(t, err)
}

func TestHooks_of_one_machine_do_not_overlap(t *testing.T) {
	l, units := withUnits(t, 1, true, scripts{"update-status": `mkdir lock || exit 1; sleep 0.05; rmdir lock`, "run": `mkdir lock || exit 1; sleep 0.05; rmdir lock`})
	errs := make(chan error)
	for range 3 {
		go func() { errs <- l.RunHook(ctx(t), units[0], "update-status") }()
		go func() {
			result, err := l.RunAction(ctx(t), units[0], "run")
			if result.Status != "completed" {
				err = errors.Join(err, errors.New(result.Message))
			}
			errs <- err
		}()
	}
	for range 6 {
		require.NoError(t, <-errs)
	}
}

func TestHook_of_machine_that_goes_off_fails(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, true, scripts{"update-status": "touch reached; sleep 60"})
	u := units[0]
	ran := make(chan error, 1)
	go func() { ran <- l.RunHook(ctx(t), u, "update-status") }()
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(u.CharmDir(), "reached"))
		return err == nil
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, u.PowerOff())
	require.ErrorIs(t, <-ran, lab.ErrKilled)
	on(t, u, "update-status", "")
	require.NoError(t, u.PowerOn(ctx(t)))
	assert.Equal(t, `hook failed: "update-status"`, u.Agent().Message)
	require.NoError(t, l.Retry(ctx(t), u))
	assert.Equal(t, []string{"update-status", "start"}, u.Hooks()[len(u.Hooks())-2:])
}

// Package model tests what else keeps a unit in the model.
func TestRemoveUnit_is_gone_during_stop(t *testing.T) {
	// The hook writes until a call is refused.
	const endless = `while is-leader --format=json > leads; do sleep 0.02; done; echo refused > refused`
	tests := map[string]struct {
		quirks         lab.Quirks
		stop           string
		stays, refused bool
		hooks          []string
	}{
		"nothing waits for its stop": {
			lab.Quirks{GoneAfter: time.Minute},
			endless, false, true,
			[]string{"ovsdb-peer-relation-departed ovn-central/0", "ovsdb-peer-relation-broken", "stop (gone)"},
		},
		"a stop that fails isn't run again": {
			lab.Quirks{GoneAfter: 5 * time.Minute}, // 6 s here: a busy machine takes a while for a hook
			"exit 1", false, false,
			[]string{"ovsdb-peer-relation-departed ovn-central/0", "ovsdb-peer-relation-broken", "stop (failed)"},
		},
		"a stop that is quick enough is the end": {
			lab.Quirks{GoneAfter: time.Hour},
			"", false, false,
			[]string{"ovsdb-peer-relation-departed ovn-central/0", "ovsdb-peer-relation-broken", "stop", "remove"},
		},
		"juju 3 waits for ever": {
			lab.QuirksOf("3.6.11"), "exit 1", true, false,
			[]string{"ovsdb-peer-relation-departed ovn-central/0", "ovsdb-peer-relation-broken", "stop (failed)"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, lab.Options{Quirks: &test.quirks, Charm: newCharm(t, scripts{"stop": test.stop})})
			_, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true})
			require.NoError(t, err)
			u, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true})
			require.NoError(t, err)
			u.RestartAgent()
			before := len(u.Hooks())
			err = l.RemoveUnit(ctx(t), u, lab.RemoveOptions{})
			if test.stays {
				require.ErrorAs(t, err, new(*lab.HookError))
			} else {
				require.NoError(t, err)
			}
			assert.Equal(t, !test.stays, u.Removed())
			assert.Equal(t, test.hooks, u.Hooks()[before:])
			if test.refused {
				assert.Equal(t, "refused\n", read(t, u.CharmDir(), "refused"))
			}
		})
	}
}

func TestStandIns_finish_after_killed_hook(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, false, scripts{
		"update-status": "systemctl stop ovn-ovsdb-server-sb & until [ -e asked ]; do sleep 0.01; done; is-leader",
	})
	u := units[0]
	u.OnCall(func(call string) {
		if strings.HasPrefix(call, "systemctl") {
			assert.NoError(t, os.WriteFile(filepath.Join(u.CharmDir(), "asked"), nil, 0o600))
		}
	})
	got, err := l.RunHookKilledWhen(ctx(t), u, "update-status", func(call string) bool { return call == "is-leader" })
	require.NoError(t, err)
	assert.True(t, got.Killed)
	await(t, func() bool { return !u.Running(lab.SB) })
}
