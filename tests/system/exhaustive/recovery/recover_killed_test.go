package recovery

import (
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// killings are how a recovery is interrupted at its calls.
var killings = []struct {
	name string
	// units are as many as are deployed; all but left are lost.
	units, left int
	// stride is how many calls further each run is killed, where no more is explored.
	stride int
	// power means that the machine loses its power at that moment, too, and starts again.
	power bool
}{
	{"the action is killed", 2, 1, 12, false},
	{"its machine loses its power", 2, 1, 24, true},
	{"the action, and the hooks of it and of the unit that publishes, are killed", 4, 2, 24, false},
}

// The action is killed at its calls, one after another, and the same command continues each
// time, until it has ended.
func TestRecoverIsFinishedByTheSameCommandWhereverItWasKilled(t *testing.T) {
	t.Parallel()
	for _, k := range killings {
		t.Run(k.name, func(t *testing.T) {
			m := labtest.Deploy(t, k.units)
			m.AddSwitch("kept")
			left, lost := m.Deployed[:k.left], m.Deployed[k.left:]
			asked, leads := left[0], left[k.left-1]
			for _, u := range left {
				m.Eventually("the switch is seen", func() bool { return strings.Contains(m.Seen(u), "kept") })
			}
			old := m.Raft(asked, lab.NB)
			m.Lose(lost...)
			require.NoError(t, m.SetLeader(t.Context(), leads))
			copiesOf(m, left...)
			give := "give-up=" + labtest.Names(lost)
			ended := m.WatchServed()
			m.Hold(true)
			m.KillEverywhere(k.stride, labtest.AllMembers(m, left...), func(call int) bool {
				killed, err := m.RunActionKilledAt(t.Context(), asked, call, "recover", give, "i-really-mean-it=true")
				require.NoError(t, err)
				if killed.Killed && k.power {
					require.NoError(t, asked.PowerOff())
					require.NoError(t, asked.PowerOn(t.Context()))
				}
				for _, u := range left {
					if len(m.Pending(u)) > 0 && !k.power { // of what it hears from others
						killed.Killed = m.KillNext(u, call) || killed.Killed
					}
				}
				return killed.Killed
			})
			m.Hold(false)
			require.NoError(t, m.Settle(t.Context()))
			now := m.Raft(asked, lab.NB)
			assert.NotEqual(t, *old.Cluster, *now.Cluster)
			for _, u := range left {
				put, live := m.PutAway(u), m.InPlace(u)
				assert.Len(t, put, 2, "nothing was done twice")
				assert.Len(t, live, 2)
			}
			m.RequireProof(asked, left...)

			for _, u := range lost {
				require.NoError(t, u.PowerOn(t.Context()))
			}
			require.NoError(t, m.Settle(t.Context()))
			m.Tick("the units that return join", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
			ended()
			for _, u := range lost {
				assert.Contains(t, m.Seen(u), "kept")
			}
			m.RequireProof(asked, m.Deployed...)
		})
	}
}

// The lost unit is given up by the identities of its members. Once the new cluster of one database has replaced the
// old one, the lost member's identity is not in it any more: the command that names both continues with the other
// database, and makes again nothing that exists already.
func TestRestoreThatWasKilledAfterOneDatabaseGoesOnWithTheOtherByTheSameIdentities(t *testing.T) {
	m := labtest.DeployWith(t, 2, lab.Options{JujuVersion: lab.Juju4})
	m.AddSwitch("kept")
	u, lost := m.Deployed[0], m.Deployed[1]
	m.Eventually("the switch is seen", func() bool { return strings.Contains(m.Seen(u), "kept") })
	from := "from=" + m.Act(u, "backup")["backup"]
	give := "give-up=" + m.ServerID(lost, lab.NB)[:8] + "," + m.ServerID(lost, lab.SB)[:8]
	m.Lose(lost)
	require.NoError(t, m.SetLeader(t.Context(), u))
	copiesOf(m, u)
	ended := m.WatchServed()
	var once sync.Once
	u.OnCall(func(call string) {
		if strings.Contains(call, "systemctl start ovn-ovsdb-server-nb") {
			once.Do(func() { assert.NoError(t, u.SignalHook(syscall.SIGKILL)) })
		}
	})
	// The ID may be published by the action, and be there in the next hook only: then that one is killed.
	_, _ = m.RunAction(t.Context(), u, "restore", from, "database=nb", "give-up="+m.ServerID(lost, lab.NB)[:8], "i-really-mean-it=true")
	m.Eventually("the new Northbound cluster has a leader", func() bool {
		s, err := m.RaftStatus(u, lab.NB)
		return m.RunHook(t.Context(), u, "update-status") == nil && err == nil && s.HasLeader()
	})
	u.OnCall(nil)
	require.NoError(t, m.Settle(t.Context()))

	m.Act(u, "restore", from, give, "i-really-mean-it=true")
	require.NoError(t, m.Settle(t.Context())) // the ID of sb is there in the next hook only
	m.Eventually("a member of both", labtest.AllMembers(m, u))
	m.RequireProof(u, u)
	put, live := m.PutAway(u), m.InPlace(u)
	assert.Len(t, put, 2, "nothing was done twice")
	assert.Len(t, live, 2)
	require.NoError(t, lost.PowerOn(t.Context()))
	require.NoError(t, m.Settle(t.Context()))
	m.Tick("the unit that returns joins", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	ended()
	assert.Contains(t, m.Seen(lost), "kept")
}

// Every unit's hooks are killed at calls of them all, from the request to the last join: the
// end is the same, and at no time are two clusters served.
func TestRecoveryGoesOnWhereverItsHooksAreKilled(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju4})
	m.AddSwitch("before")
	u := m.Deployed[1]
	m.Eventually("the switch is seen", func() bool { return m.Seen(u) != "" })
	dir := m.Act(u, "backup")["backup"]
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	m.Hold(true)
	was := map[lab.DB]string{lab.NB: string(*m.Raft(u, lab.NB).Cluster), lab.SB: string(*m.Raft(u, lab.SB).Cluster)}
	restored := func() bool {
		for db, old := range was {
			if s, err := m.RaftStatus(u, db); err != nil || s.Cluster == nil || string(*s.Cluster) == old {
				return false
			}
		}
		return labtest.AllMembers(m, m.Deployed...)()
	}
	m.Act(u, "restore", "from="+dir, "i-really-mean-it=true")
	killed := 0
	for round := 0; !restored(); round++ {
		require.Less(t, round, 40, "there is no end")
		for _, unit := range m.Deployed {
			for range 3 {
				if m.KillHookAt(unit, "update-status", 10+random.IntN(30)) {
					killed++
				}
				m.RequireOneServed()
			}
			for len(m.Pending(unit)) > 0 {
				_, err := m.Deliver(t.Context(), unit)
				require.NoError(t, err)
				m.RequireOneServed()
			}
		}
	}
	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))
	assert.Greater(t, killed, 5, "the premise")
	t.Logf("%d hooks were killed", killed)
	for _, unit := range m.Deployed {
		assert.Contains(t, m.Seen(unit), "before")
		left, live := m.PutAway(unit), m.InPlace(unit)
		assert.Len(t, left, 2, "nothing was done twice")
		assert.Len(t, live, 2)
	}
	m.RequireWritable()
}
