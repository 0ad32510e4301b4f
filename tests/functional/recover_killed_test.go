package functional

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// The action is killed at its calls, one after another, and the same command goes on each
// time, until it has ended.
func TestRecoverIsFinishedByTheSameCommandWhereverItWasKilled(t *testing.T) {
	m := deploy(t, 2)
	m.addSwitch("kept")
	left, lost := m.units[0], m.units[1]
	m.eventually("the switch is seen", func() bool { return strings.Contains(m.seen(left), "kept") })
	old, err := m.status(left, lab.NB)
	require.NoError(t, err)
	m.lose(lost)
	require.NoError(t, m.SetLeader(t.Context(), left))
	give := "give-up=" + lost.Name()
	killed, stride := 0, 7
	first := 1 + rand.IntN(stride)
	t.Logf("the first is killed at call %d", first)
	for call := first; ; call += stride {
		k, err := m.RunActionKilledAt(t.Context(), left, call, "recover", give, "i-really-mean-it=true")
		require.NoError(t, err)
		m.requireOneServed()
		if !k.Killed && allMembers(m, left)() {
			break
		}
		if killed++; !k.Killed {
			call -= stride // it has ended before, and waits for something
		}
		require.Less(t, killed, 100, "there is no end")
	}
	t.Logf("%d runs were killed", killed)
	now, err := m.status(left, lab.NB)
	require.NoError(t, err)
	assert.NotEqual(t, *old.Cluster, *now.Cluster)
	put, live := leftFiles(t, left)
	assert.Len(t, put, 2, "nothing was done twice")
	assert.Len(t, live, 2)
	m.requireProof(m.act(left, "recover", give, "i-really-mean-it=true"), left)

	require.NoError(t, lost.PowerOn(t.Context()))
	require.NoError(t, m.Settle(t.Context()))
	m.tick("the unit that returns joins", allMembers(m, m.units...), m.units...)
	assert.Contains(t, m.seen(lost), "kept")
	m.requireProof(m.act(left, "recover", give, "i-really-mean-it=true"), m.units...)
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
