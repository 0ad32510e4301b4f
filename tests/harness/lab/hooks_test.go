package lab_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Which variables Juju 3.5 has is in the recorded stories.
func TestCharmRunsInJujusEnvironment(t *testing.T) {
	_, units := withUnits(t, 1, true, scripts{"install": `pwd > cwd; tr '\0' '\n' < /proc/$$/environ > env`})
	u := units[0]
	assert.Equal(t, u.CharmDir()+"\n", read(t, u.CharmDir(), "cwd"))
	env := read(t, u.CharmDir(), "env")
	for _, want := range []string{"JUJU_DISPATCH_PATH=hooks/install", "JUJU_HOOK_NAME=install", "JUJU_VERSION=3.6.11", "OVN_RUNDIR=" + u.RunDir(), "JUJU_SLA="} {
		assert.Contains(t, env, "\n"+want)
	}
	assert.NotContains(t, env, "JUJU_METER_", "since 3.6")
	assert.Equal(t, "10.99.0.10", u.Address())
}

// What the hook drops and keeps is in the recorded stories.
func TestFailedHookIsTheError(t *testing.T) {
	l, units := withUnits(t, 1, true, scripts{"update-status": "echo broken >&2; exit 3"})
	u := units[0]
	err := l.RunHook(ctx(t), u, "update-status")
	var failed *lab.HookError
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "ovn-central/0", failed.Unit)
	assert.Equal(t, "update-status", failed.Hook)
	assert.Equal(t, 3, failed.ExitCode)
	assert.Contains(t, failed.Output, "broken")
	assert.Equal(t, `ovn-central/0: hook failed: "update-status" (exit code 3)`, err.Error())
	require.Error(t, l.RunHook(ctx(t), u, "config-changed"), "no other hook runs before that one")
	on(t, u, "update-status", "")
	require.NoError(t, l.Retry(ctx(t), u))
	require.Error(t, l.Resolved(ctx(t), u, true), "not in error")
}

func TestRefusedStopWaitsInErrorAndThenGoesOn(t *testing.T) {
	t.Parallel()
	stop := `[ -e allowed ]`
	l, units := withUnits(t, 2, true, scripts{"stop": stop})
	u := units[1]
	var failed *lab.HookError
	require.ErrorAs(t, l.RemoveUnit(ctx(t), u, lab.RemoveOptions{}), &failed)
	assert.Equal(t, "stop", failed.Hook)
	assert.True(t, u.Dying())
	require.ErrorAs(t, l.RemoveUnit(ctx(t), u, lab.RemoveOptions{}), &failed, "to ask again is no retry")
	assert.Equal(t, 1, strings.Count(strings.Join(u.Hooks(), "\n"), "stop"))

	short, cancel := context.WithTimeout(ctx(t), 2*time.Second)
	defer cancel()
	tries, err := l.RetryUntil(short, u)
	require.ErrorAs(t, err, &failed)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.GreaterOrEqual(t, tries, 2)

	require.NoError(t, os.WriteFile(filepath.Join(u.CharmDir(), "allowed"), nil, 0o600))
	tries, err = l.RetryUntil(ctx(t), u)
	require.NoError(t, err)
	assert.Equal(t, 1, tries)
	assert.True(t, u.Removed())
}

func TestHookIsKilledAtEachOfItsCalls(t *testing.T) {
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

func TestHookThatNeverEndsIsKilledAtItsDeadline(t *testing.T) {
	t.Parallel()
	l := newLab(t, lab.Options{HookTimeout: 2 * time.Second, Charm: newCharm(t, scripts{"update-status": "sleep 60 & echo $! > child; wait"})})
	u, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true})
	require.NoError(t, err)
	err = l.RunHook(ctx(t), u, "update-status")
	require.ErrorIs(t, err, lab.ErrKilled)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	child := strings.TrimSpace(read(t, u.CharmDir(), "child"))
	assert.Eventually(t, func() bool {
		stat, err := os.ReadFile("/proc/" + child + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, 5*time.Second, 10*time.Millisecond, "its children are killed with it")
}

func TestWholeApplicationStopsAtOnce(t *testing.T) {
	l, units := withUnits(t, 3, true, scripts{
		// Each waits until all three are there: one after another they would never end.
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

func TestTwoUnitsLeaveAtOnce(t *testing.T) {
	l, units := withUnits(t, 4, true, scripts{
		"stop": `touch ../at-stop; while [ "$(ls ../../*/at-stop | wc -l)" -lt 2 ]; do sleep 0.01; done`,
	})
	errs := make(chan error)
	for _, u := range units[:2] {
		go func() { errs <- l.RemoveUnit(ctx(t), u, lab.RemoveOptions{}) }()
	}
	require.NoError(t, <-errs)
	require.NoError(t, <-errs)
	assert.Equal(t, units[2:], l.Units())
	assert.Equal(t, units[2], l.Leader())
	assert.Contains(t, units[2].Hooks(), "leader-elected")
}

func TestUnitThatFailsStaysWhenTheApplicationGoes(t *testing.T) {
	l, units := withUnits(t, 2, true, nil)
	on(t, units[1], "stop", "exit 1")
	var failed *lab.HookError
	require.ErrorAs(t, l.RemoveApplication(ctx(t)), &failed)
	assert.Equal(t, "ovn-central/1", failed.Unit)
	assert.True(t, units[0].Removed())
	on(t, units[1], "stop", "")
	require.NoError(t, l.Retry(ctx(t), units[1]))
	assert.Empty(t, l.Units())
}

func TestUpdateStatusRunsWhereJujuWould(t *testing.T) {
	l, units := withUnits(t, 4, true, scripts{"update-status": "exit 0", "stop": "exit 1"})
	require.NoError(t, units[1].PowerOff())
	require.Error(t, l.RemoveUnit(ctx(t), units[2], lab.RemoveOptions{}))
	require.NoError(t, l.UpdateStatus(ctx(t)))
	for i, want := range []bool{true, false, false, true} {
		assert.Equal(t, want, slices.Contains(units[i].Hooks(), "update-status"), units[i].Name())
	}
}

func TestUnitsHooksDontRunAtTheSameTime(t *testing.T) {
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
