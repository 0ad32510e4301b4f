package recovery

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// copiesOf waits until units say how far their copies go, after the quorum was lost.
func copiesOf(m *labtest.Model, units ...*lab.Unit) {
	m.T.Helper()
	for _, u := range units {
		require.NoError(m.T, m.RunHook(m.T.Context(), u, "update-status"))
	}
	require.NoError(m.T, m.Settle(m.T.Context()))
}

// Two units are asked in the same instant, by two operators: they agree on one of them.
func TestRecoverOfTwoUnitsThatAreAskedInTheSameInstantMakesOneCluster(t *testing.T) {
	m := labtest.Deploy(t, 4)
	left, lost := m.Deployed[:2], m.Deployed[2:]
	m.AddSwitch("kept")
	for _, u := range left {
		m.Eventually("the switch is seen", func() bool { return strings.Contains(m.Seen(u), "kept") })
	}
	old := m.Raft(left[0], lab.NB)
	m.Lose(lost...)
	require.NoError(t, m.SetLeader(t.Context(), left[1]))
	copiesOf(m, left...)
	ended := m.WatchServed()
	results, failures := make([]lab.ActionResult, len(left)), make([]error, len(left))
	var group sync.WaitGroup
	for i, u := range left {
		group.Go(func() {
			results[i], failures[i] = m.RunAction(t.Context(), u, "recover", "give-up="+labtest.Names(lost), "i-really-mean-it=true")
		})
	}
	group.Wait()
	begun := 0
	for i, u := range left {
		require.NoError(t, failures[i])
		t.Logf("%s: %s %s %v", u.Name(), results[i].Status, results[i].Message, results[i].Results)
		if results[i].Status == "completed" {
			begun++
		}
	}
	require.NotZero(t, begun)
	m.Tick("both are members of one new cluster", labtest.AllMembers(m, left...), left...)
	now := m.Raft(left[0], lab.NB)
	assert.NotEqual(t, *old.Cluster, *now.Cluster)
	for _, u := range left {
		assert.Contains(t, m.Seen(u), "kept")
		put, live := m.PutAway(u), m.InPlace(u)
		assert.Len(t, put, 2, "the old files of %s, and no cluster of its own", u.Name())
		assert.Len(t, live, 2)
	}
	for _, u := range lost {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	m.Tick("all are members", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	ended()
	m.RequireWritable()
}
