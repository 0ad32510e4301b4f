package functional

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// copiesOf waits until units say how far their copies go, after the quorum was lost.
func (m *model) copiesOf(units ...*lab.Unit) {
	m.t.Helper()
	for _, u := range units {
		require.NoError(m.t, m.RunHook(m.t.Context(), u, "update-status"))
	}
	require.NoError(m.t, m.Settle(m.t.Context()))
}

// Two units are asked in the same instant, by two operators: they agree on one of them.
func TestRecoverOfTwoUnitsThatAreAskedInTheSameInstantMakesOneCluster(t *testing.T) {
	m := deploy(t, 4)
	left, lost := m.units[:2], m.units[2:]
	m.addSwitch("kept")
	for _, u := range left {
		m.eventually("the switch is seen", func() bool { return strings.Contains(m.seen(u), "kept") })
	}
	old, err := m.status(left[0], lab.NB)
	require.NoError(t, err)
	m.lose(lost...)
	require.NoError(t, m.SetLeader(t.Context(), left[1]))
	m.copiesOf(left...)
	ended := m.watchServed()
	results, failures := make([]lab.ActionResult, len(left)), make([]error, len(left))
	var group sync.WaitGroup
	for i, u := range left {
		group.Go(func() {
			results[i], failures[i] = m.RunAction(t.Context(), u, "recover", "give-up="+names(lost), "i-really-mean-it=true")
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
	m.tick("both are members of one new cluster", allMembers(m, left...), left...)
	now, err := m.status(left[0], lab.NB)
	require.NoError(t, err)
	assert.NotEqual(t, *old.Cluster, *now.Cluster)
	for _, u := range left {
		assert.Contains(t, m.seen(u), "kept")
		put, live := leftFiles(t, u)
		assert.Len(t, put, 2, "the old files of %s, and no cluster of its own", u.Name())
		assert.Len(t, live, 2)
	}
	for _, u := range lost {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	m.tick("all are members", allMembers(m, m.units...), m.units...)
	ended()
	m.requireWritable()
}
