package functional

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// Three of five are lost under a load, and one of the two that are left has missed the newest
// changes. What a majority of the two had is in the new cluster on every unit, and what only
// the newest copy had is, too; also once the three that were given up have returned.
func TestRecoverKeepsWhatAMajorityOfTheSurvivingCopiesHad(t *testing.T) {
	m := deployWith(t, 5, lab.Options{ElectionTimer: 4 * time.Second}) // no elections but those of the test
	newest, behind, left, lost := m.units[0], m.units[1], m.units[:2], m.units[2:]
	for _, db := range lab.Databases {
		m.makeLeader(lost[0], db)
	}
	ended := m.watchServed()
	w := m.StartWriter(t.Context(), time.Second)
	m.eventually("writes that both have stored", func() bool {
		both := m.storedByMost(left...)
		return len(both[lab.NB]) > 0 && len(both[lab.SB]) > 0
	})
	m.killServers(behind) // one that only hangs has them in its sockets
	m.eventually("writes that one of them has not stored", func() bool {
		both, one := m.storedByMost(left...), m.storedByMost(newest)
		return len(one[lab.NB]) > len(both[lab.NB]) && len(one[lab.SB]) > len(both[lab.SB])
	})
	m.powerOff(lost...)
	for _, db := range lab.Databases {
		require.NoError(t, behind.Start(t.Context(), db))
	}
	m.lose() // none more; those that are left find out
	m.copiesOf(left...)
	before := map[lab.DB]int{lab.NB: w.Acknowledged(lab.NB), lab.SB: w.Acknowledged(lab.SB)}
	most, stored := m.storedByMost(left...), m.storedByMost(newest)
	for _, db := range lab.Databases {
		require.NotEmpty(t, most[db])
		require.Greater(t, len(stored[db]), len(most[db]), "the premise: the copies differ")
		for row := range most[db] {
			require.True(t, stored[db][row], "the newest copy has what a majority has")
		}
	}

	give := "give-up=" + names(lost)
	r, err := m.RunAction(t.Context(), behind, "recover", give, "i-really-mean-it=true")
	require.NoError(t, err)
	require.Equal(t, "failed", r.Status)
	assert.Contains(t, r.Message, newest.Name()+" has newer data")
	m.act(newest, "recover", give, "i-really-mean-it=true")
	m.tick("those that are left are members", allMembers(m, left...), left...)
	for _, u := range lost {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	m.tick("all are members", allMembers(m, m.units...), m.units...)
	ended()
	m.requireKept(w, stored, before)
	m.requireProof(m.act(newest, "recover", give, "i-really-mean-it=true"), m.units...)
}
