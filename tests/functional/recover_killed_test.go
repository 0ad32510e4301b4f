package functional

import (
	"math/rand/v2"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// killings are how a recovery is interrupted at its calls. The call at which the first run is
// killed differs from one time that the test is run to another, so that in time each was it.
var killings = []struct {
	name string
	// units are as many as are deployed; all but left are lost.
	units, left int
	// stride is how many calls further each run is killed, where no more is explored.
	stride int
	// power says that the machine loses its power in that moment, too, and starts again.
	power bool
}{
	{"the action is killed", 2, 1, 12, false},
	{"its machine loses its power", 2, 1, 24, true},
	{"the action, and the hooks of it and of the unit that publishes, are killed", 4, 2, 24, false},
}

// The action is killed at its calls, one after another, and the same command goes on each
// time, until it has ended.
func TestRecoverIsFinishedByTheSameCommandWhereverItWasKilled(t *testing.T) {
	t.Parallel()
	for _, k := range killings {
		t.Run(k.name, func(t *testing.T) {
			m := deploy(t, k.units)
			m.addSwitch("kept")
			left, lost := m.units[:k.left], m.units[k.left:]
			asked, leads := left[0], left[k.left-1]
			for _, u := range left {
				m.eventually("the switch is seen", func() bool { return strings.Contains(m.seen(u), "kept") })
			}
			old, err := m.status(asked, lab.NB)
			require.NoError(t, err)
			m.lose(lost...)
			require.NoError(t, m.SetLeader(t.Context(), leads))
			m.copiesOf(left...)
			give := "give-up=" + names(lost)
			ended := m.watchServed()
			m.Hold(true)
			m.killedAtCalls(max(1, k.stride/exploretest.Factor(t)), allMembers(m, left...), func(call int) bool {
				killed, err := m.RunActionKilledAt(t.Context(), asked, call, "recover", give, "i-really-mean-it=true")
				require.NoError(t, err)
				if killed.Killed && k.power {
					require.NoError(t, asked.PowerOff())
					require.NoError(t, asked.PowerOn(t.Context()))
				}
				for _, u := range left {
					pending := m.Pending(u) // of what it hears from others
					if len(pending) == 0 || k.power {
						continue
					}
					hook, _, _ := strings.Cut(pending[0], " ")
					ran, err := m.RunHookKilledAt(t.Context(), u, hook, call)
					require.NoError(t, err)
					killed.Killed = killed.Killed || ran.Killed
				}
				return killed.Killed
			})
			m.Hold(false)
			require.NoError(t, m.Settle(t.Context()))
			now, err := m.status(asked, lab.NB)
			require.NoError(t, err)
			assert.NotEqual(t, *old.Cluster, *now.Cluster)
			for _, u := range left {
				put, live := leftFiles(t, u)
				assert.Len(t, put, 2, "nothing was done twice")
				assert.Len(t, live, 2)
			}
			m.requireProof(m.act(asked, "recover", give, "i-really-mean-it=true"), left...)

			for _, u := range lost {
				require.NoError(t, u.PowerOn(t.Context()))
			}
			require.NoError(t, m.Settle(t.Context()))
			m.tick("the units that return join", allMembers(m, m.units...), m.units...)
			ended()
			for _, u := range lost {
				assert.Contains(t, m.seen(u), "kept")
			}
			m.requireProof(m.act(asked, "recover", give, "i-really-mean-it=true"), m.units...)
		})
	}
}

// The lost unit is given up by the identities of its members. Once the new cluster of one database has taken the old
// one's place, its member there is none any more: the command that names both goes on with the other database, and
// makes nothing anew that has come about.
func TestRestoreThatWasKilledAfterOneDatabaseGoesOnWithTheOtherByTheSameIdentities(t *testing.T) {
	m := deploy(t, 2)
	m.addSwitch("kept")
	u, lost := m.units[0], m.units[1]
	m.eventually("the switch is seen", func() bool { return strings.Contains(m.seen(u), "kept") })
	from := "from=" + m.act(u, "backup")["backup"]
	give := "give-up=" + m.id(lost, lab.NB)[:8] + "," + m.id(lost, lab.SB)[:8]
	m.lose(lost)
	require.NoError(t, m.SetLeader(t.Context(), u))
	m.copiesOf(u)
	ended := m.watchServed()
	var once sync.Once
	u.OnCall(func(call string) {
		if strings.Contains(call, "systemctl start ovn-ovsdb-server-nb") {
			once.Do(func() { assert.NoError(t, u.SignalHook(syscall.SIGKILL)) })
		}
	})
	// The ID may be published by the action, and be there in the next hook only: then that one is killed.
	_, _ = m.RunAction(t.Context(), u, "restore", from, "database=nb", "give-up="+m.id(lost, lab.NB)[:8], "i-really-mean-it=true")
	m.eventually("the new Northbound cluster has a leader", func() bool {
		s, err := m.status(u, lab.NB)
		return m.RunHook(t.Context(), u, "update-status") == nil && err == nil && s.HasLeader()
	})
	u.OnCall(nil)
	require.NoError(t, m.Settle(t.Context()))

	shown := m.act(u, "restore", from, give, "i-really-mean-it=true")
	if !strings.Contains(shown["proof"], "sb: "+u.Name()+" is a member") { // its ID is there in the next hook only
		require.NoError(t, m.Settle(t.Context()))
		m.eventually("a member of both", allMembers(m, u))
		shown = m.act(u, "restore", from, give, "i-really-mean-it=true")
	}
	m.requireProof(shown, u)
	put, live := leftFiles(t, u)
	assert.Len(t, put, 2, "nothing was done twice")
	assert.Len(t, live, 2)
	require.NoError(t, lost.PowerOn(t.Context()))
	require.NoError(t, m.Settle(t.Context()))
	m.tick("the unit that returns joins", allMembers(m, m.units...), m.units...)
	ended()
	assert.Contains(t, m.seen(lost), "kept")
}

// killedAtCalls makes runs, of which each is to be killed at a call further on than the one
// before, until the end has come about and a run was not killed. What is run says whether it
// was killed: with fewer calls it has ended, and waits for something.
func (m *model) killedAtCalls(stride int, end func() bool, run func(call int) bool) {
	m.t.Helper()
	call, runs := 1+rand.IntN(stride), 0
	m.t.Logf("the first is killed at call %d", call)
	for {
		killed := run(call)
		m.requireOneServed()
		if runs++; killed {
			call += stride
		} else if end() {
			m.t.Logf("%d runs, killed up to call %d", runs, call)
			return
		}
		require.Less(m.t, runs, 300, "there is no end")
	}
}

// Every unit's hooks are killed at calls of them all, from the request to the last join: the
// end is the same, and at no time are two clusters served.
func TestRecoveryGoesOnWhereverItsHooksAreKilled(t *testing.T) {
	m := deploy(t, 3)
	m.addSwitch("before")
	u := m.units[1]
	m.eventually("the switch is seen", func() bool { return m.seen(u) != "" })
	dir := m.act(u, "backup")["backup"]
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))

	m.Hold(true)
	m.act(u, "restore", "from="+dir, "i-really-mean-it=true")
	killed := 0
	for round := 0; !allMembers(m, m.units...)(); round++ {
		require.Less(t, round, 40, "there is no end")
		for _, unit := range m.units {
			for range 3 {
				k, err := m.RunHookKilledAt(t.Context(), unit, "update-status", 20+random.IntN(60))
				require.NoError(t, err)
				if k.Killed {
					killed++
				}
				m.requireOneServed()
			}
			for len(m.Pending(unit)) > 0 {
				_, err := m.Deliver(t.Context(), unit)
				require.NoError(t, err)
				m.requireOneServed()
			}
		}
	}
	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))
	assert.Greater(t, killed, 5, "the premise")
	t.Logf("%d hooks were killed", killed)
	for _, unit := range m.units {
		assert.Contains(t, m.seen(unit), "before")
		left, live := leftFiles(t, unit)
		assert.Len(t, left, 2, "nothing was done twice")
		assert.Len(t, live, 2)
	}
	m.requireWritable()
}
