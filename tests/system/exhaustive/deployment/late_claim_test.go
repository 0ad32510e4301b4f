package deployment

import (
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Juju 4 has no leader settings: a claim is written at the end of the hook, by the current leader. A unit whose hook is
// suspended after its claim, until it leads again, overwrites the claim of the unit that led meanwhile.
func TestBootstrap_late_claim_makes_no_second_cluster(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// stops matches the call at which the other unit's next hook is suspended, until the late claim is written.
		stops func(call string) bool
		// kills reports at which call that hook is killed.
		kills func(call string) bool
		maker int
	}{
		"the other serves":                     {stops: func(string) bool { return false }, maker: 1},
		"the other has only claimed":           {maker: 0},
		"the other is about to serve":          {stops: startsServers, maker: 1},
		"the other is killed before it serves": {kills: startsServers, maker: 1},
		"the other has yet to look at it again": {stops: func(call string) bool {
			return strings.HasPrefix(call,
				"is-leader")
		}, maker: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, units := awaitingVault(t, lab.Juju4)
			late, other := units[0], units[1]
			c.RelateVault()
			for _, u := range units {
				require.Eventually(t, func() bool { // Juju 4 tells late
					next := c.Pending(u)
					if len(next) == 0 || strings.HasPrefix(next[0], "certificates-relation-joined") {
						return len(next) > 0
					}
					_, err := c.Deliver(t.Context(), u)
					assert.NoError(t, err)
					return false
				}, labtest.Patience, 10*time.Millisecond)
			}
			isClaim := func(call string) bool {
				return strings.HasPrefix(call, "relation-set") && strings.Contains(call, "--app")
			}
			lateEnds := standsStill(c, late, "certificates-relation-joined", after(isClaim))
			require.NoError(t, c.SetLeader(t.Context(), other))
			require.NoError(t, c.RunHook(t.Context(), other, "certificates-relation-joined", "JUJU_REMOTE_UNIT=vault/0"))
			require.Equal(t, other.Name(), c.AppData()["created-by"])
			otherEnds := func() {}
			if test.stops != nil {
				otherEnds = standsStill(c, other, "update-status", test.stops)
			}
			if test.kills != nil {
				c.KillHook(other, "update-status", test.kills) // it would have served
			}
			require.NoError(t, c.SetLeader(t.Context(), late))
			lateEnds()
			require.Equal(t, late.Name(), c.AppData()["created-by"], "the premise: its claim is written last")
			require.NoError(t, c.RunHook(t.Context(), late, "update-status"))
			if test.maker == 1 {
				assert.NoFileExists(t, late.DBFile(lab.NB))
			}
			otherEnds()
			requireOneMade(c, units)
			assert.Equal(t, units[test.maker].Name(), c.AppData()["created-by"])
		})
	}
}

// awaitingVault returns two units that have run all hooks before the one about the vault. Further hooks are held
// back.
func awaitingVault(t *testing.T, juju string) (c *labtest.Model, units []*lab.Unit) {
	t.Helper()
	c = labtest.Empty(t, lab.Options{JujuVersion: juju})
	c.Hold(true)
	for range 2 {
		u := c.AddEmpty()
		units = append(units, u)
		c.DeliverAll(u)
	}
	return c, units
}

// requireOneMade runs all hooks, and requires that no unit has made a second cluster.
func requireOneMade(c *labtest.Model, units []*lab.Unit) {
	c.T.Helper()
	c.Hold(false)
	require.NoError(c.T, c.Settle(c.T.Context()))
	c.Tick("all units are active", c.AllActive)
	c.RequireOneCluster(units...)
	for _, u := range units {
		assert.Empty(c.T, c.PutAway(u), u.Name())
	}
}

func startsServers(call string) bool { return strings.HasPrefix(call, "systemctl start") }

// after matches every call after the first that matches when.
func after(when func(call string) bool) func(call string) bool {
	seen := false
	return func(call string) bool {
		if seen {
			return true
		}
		seen = when(call)
		return false
	}
}

// standsStill runs a hook until the first call that matches when, at which it suspends the hook, or until its end. It
// returns a function that continues the hook and waits for its end.
func standsStill(c *labtest.Model, u *lab.Unit, hook string, when func(call string) bool) (end func()) {
	c.T.Helper()
	stopped, ended := make(chan struct{}), make(chan error, 1)
	var once sync.Once
	var mu sync.Mutex
	u.OnCall(func(call string) {
		mu.Lock()
		defer mu.Unlock()
		if when(call) {
			once.Do(func() {
				assert.NoError(c.T, u.SignalHook(syscall.SIGSTOP))
				close(stopped)
			})
		}
	})
	go func() { ended <- c.RunHook(context.WithoutCancel(c.T.Context()), u, hook, "JUJU_REMOTE_UNIT=vault/0") }()
	select {
	case <-stopped:
	case err := <-ended:
		require.NoError(c.T, err)
		ended <- nil
	}
	u.OnCall(nil)
	return func() {
		_ = u.SignalHook(syscall.SIGCONT) // it may have ended
		require.NoError(c.T, <-ended)
	}
}

// A leader is killed while it makes the clusters, and replaced: each database has one cluster in the end.
func TestBootstrap_replaced_leader_makes_no_second_cluster(t *testing.T) {
	t.Parallel()
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	published := func(c *labtest.Model) bool { return c.LeaderSettings()["nb_cid"] != "" }
	nb, sb := func(u *lab.Unit) string { return u.DBFile(lab.NB) }, func(u *lab.Unit) string { return u.DBFile(lab.SB) }
	for name, test := range map[string]struct {
		// after reports whether the step is made; the hook is killed at its next call.
		after func(c *labtest.Model, u *lab.Unit) bool
		// maker is the unit whose clusters remain.
		maker int
		// rests is whether the old leader runs no hook until the new one has run all of its own.
		rests bool
	}{
		"one cluster is staged": {func(_ *labtest.Model,
			u *lab.Unit,
		) bool {
			return exists(nb(u) + ".new")
		}, 1, true},
		"both are staged": {func(_ *labtest.Model,
			u *lab.Unit,
		) bool {
			return exists(sb(u) + ".new")
		}, 1, false},
		"both are staged, and it rests": {func(_ *labtest.Model,
			u *lab.Unit,
		) bool {
			return exists(sb(u) + ".new")
		}, 1, true},
		"they are claimed":               {func(c *labtest.Model, _ *lab.Unit) bool { return published(c) }, 0, false},
		"they are claimed, and it rests": {func(c *labtest.Model, _ *lab.Unit) bool { return published(c) }, 0, true},
		"one is committed":               {func(_ *labtest.Model, u *lab.Unit) bool { return exists(nb(u)) }, 0, true},
		"both are committed":             {func(_ *labtest.Model, u *lab.Unit) bool { return exists(sb(u)) }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, units := awaitingVault(t, lab.Juju3)
			old, next := units[0], units[1]
			c.RelateVault()
			c.DeliverUntil(old, "certificates-relation-joined")
			c.KillHook(old, "certificates-relation-joined", func(string) bool { return test.after(c, old) })
			require.NoError(t, c.SetLeader(t.Context(), next))
			claimed := c.LeaderSettings()["nb_cid"]
			if test.rests {
				c.DeliverAll(next)
			}
			requireOneMade(c, units)
			assert.Equal(t, units[test.maker].Name(), c.LeaderSettings()["created-by"])
			if claimed != "" {
				assert.Equal(t, claimed, c.LeaderSettings()["nb_cid"])
			}
		})
	}
}
