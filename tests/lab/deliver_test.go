package lab_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
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

// Whatever the order, every agent comes to rest having seen everything.
func TestAnyOrderEndsAtRest(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			deliverAtRandom(t, rand.New(rand.NewPCG(seed, 1)))
		})
	}
}

func deliverAtRandom(t *testing.T, random *rand.Rand) {
	t.Helper()
	l, units := heldLab(t, 3, scripts{"leader-elected": `relation-set -r ovsdb-peer:1 --app led="$JUJU_UNIT_NAME"`})
	_, err := l.Relate(ctx(t), "certificates", "vault", 1)
	require.NoError(t, err)
	changed := false
	for step := 0; ; step++ {
		require.Less(t, step, 300, "it never ends")
		var choices []func() error
		for _, u := range units {
			for _, hook := range l.Pending(u) {
				choices = append(choices, func() error { return l.DeliverHook(ctx(t), u, hook) })
			}
		}
		if step > 10 && !changed {
			choices = append(choices, func() error { changed = true; return l.SetLeader(ctx(t), units[2]) })
		}
		if len(choices) == 0 {
			break
		}
		require.NoError(t, choices[random.IntN(len(choices))]())
	}
	for _, u := range units {
		hooks := strings.Join(u.Hooks(), "\n")
		assert.Contains(t, hooks, "certificates-relation-changed vault/0")
		for _, other := range units {
			if other != u {
				assert.Contains(t, hooks, "ovsdb-peer-relation-joined "+other.Name())
			}
		}
		assert.Less(t, strings.Index(hooks, "config-changed"), strings.Index(hooks, "-joined"), "joins come after start")
	}
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
