package lab_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// heldLab is a lab with n units, none of which has run a hook.
func heldLab(t *testing.T, n int, s scripts) (*lab.Lab, []*lab.Unit) {
	t.Helper()
	l := newLab(t, lab.Options{Charm: newCharm(t, s)})
	l.Hold(true)
	var units []*lab.Unit
	for range n {
		u, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoHooks: true, NoDatabases: true})
		require.NoError(t, err)
		units = append(units, u)
	}
	return l, units
}

// deliverUntil runs a unit's hooks up to and with the one named.
func deliverUntil(t *testing.T, l *lab.Lab, u *lab.Unit, last string) {
	t.Helper()
	for range 50 {
		hook, err := l.Deliver(ctx(t), u)
		require.NoError(t, err)
		if hook == last {
			return
		}
		require.NotEmpty(t, hook, "%s came to rest before %s: %v", u.Name(), last, u.Hooks())
	}
}

func TestHeldLabRunsOneHookAtATime(t *testing.T) {
	l, units := heldLab(t, 2, nil)
	assert.Equal(t, []string{"install"}, l.Pending(units[0]))
	for _, want := range []string{"install", "ovsdb-peer-relation-created", "leader-elected", "config-changed", "start", ""} {
		hook, err := l.Deliver(ctx(t), units[0])
		require.NoError(t, err)
		assert.Equal(t, want, hook)
	}
	assert.Empty(t, units[1].Hooks(), "nobody else has moved")
	deliverUntil(t, l, units[1], "start")

	_, err := l.Relate(ctx(t), "certificates", "vault", 1)
	require.NoError(t, err)
	require.NoError(t, l.Configure(ctx(t), map[string]string{"interval": "9"}))
	assert.Equal(t, []string{"certificates-relation-created", "config-changed", "ovsdb-peer-relation-joined ovn-central/1"}, l.Pending(units[0]))
	require.NoError(t, l.DeliverHook(ctx(t), units[0], "ovsdb-peer-relation-joined ovn-central/1"))
	assert.Contains(t, l.Pending(units[0]), "ovsdb-peer-relation-changed ovn-central/1")
	require.Error(t, l.DeliverHook(ctx(t), units[0], "stop"))
}

func TestFailedHookIsAloneUntilItSucceeds(t *testing.T) {
	l, units := heldLab(t, 1, scripts{"config-changed": "[ -e allowed ]"})
	for range 3 {
		_, err := l.Deliver(ctx(t), units[0])
		require.NoError(t, err)
	}
	for range 2 {
		hook, err := l.Deliver(ctx(t), units[0])
		var failed *lab.HookError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, "config-changed", hook)
		assert.Equal(t, []string{"config-changed"}, l.Pending(units[0]))
	}
	on(t, units[0], "config-changed", "")
	deliverUntil(t, l, units[0], "start")
}

func TestHeldRemovalCanBeDeliveredInAnyOrder(t *testing.T) {
	l, units := heldLab(t, 2, nil)
	l.Hold(false)
	require.NoError(t, l.Settle(ctx(t)))
	l.Hold(true)
	require.NoError(t, l.Destroy(units[1]))
	deliverUntil(t, l, units[1], "stop")
	assert.Equal(t, []string{"ovsdb-peer-relation-departed ovn-central/1"}, l.Pending(units[0]), "the survivor hasn't heard of it")
	deliverUntil(t, l, units[1], "remove")
	assert.True(t, units[1].Removed())
	deliverUntil(t, l, units[0], "ovsdb-peer-relation-departed ovn-central/1")
	assert.Empty(t, l.Pending(units[0]))
}

func TestUnitThatWasNeverInstalledGoesWithoutHooks(t *testing.T) {
	l, units := heldLab(t, 2, nil)
	require.NoError(t, l.Destroy(units[1]))
	hook, err := l.Deliver(ctx(t), units[1])
	require.NoError(t, err)
	assert.Empty(t, hook)
	assert.True(t, units[1].Removed())
}

func TestFailedHookIsRetriedWhereAgentsLive(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, true, scripts{"update-status": "exit 1"})
	u := units[0]
	require.Error(t, l.RunHook(ctx(t), u, "update-status"))
	on(t, u, "update-status", "")
	_, end := lab.Live(ctx(t), l)
	defer end()
	require.Eventually(t, func() bool { return u.Agent().Status == "idle" }, time.Minute, 10*time.Millisecond)
}

func TestHookOfAMachineThatGoesOffHasFailed(t *testing.T) {
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
