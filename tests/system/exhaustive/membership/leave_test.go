package membership

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R4: of five, one is off, and two leave, the leader among them: both may. What is
// said while the leader goes sends to no kick, least of all to one of a good member.
func TestTwoOfFiveLeaveAtOnceWithOneOffAndNoKickIsPrintedMeanwhile(t *testing.T) {
	m := labtest.Deploy(t, 5)
	leader := m.MakeOneLeader()
	off, going := m.Followers()[0], []*lab.Unit{leader, m.Followers()[1]}
	stays := m.Followers()[2:]
	m.PowerOff(off)
	m.RequireDown(off)
	ended := make(chan struct{})
	var statuses []string
	var watching sync.WaitGroup
	watching.Go(func() {
		for {
			for _, u := range stays {
				if err := m.RunHook(t.Context(), u, "update-status"); err != nil {
					assert.NoError(t, err)
					return
				}
				statuses = append(statuses, u.Workload().Status+": "+u.Workload().Message)
			}
			select {
			case <-ended:
				return
			default:
			}
		}
	})
	for i, err := range labtest.AtOnce(going, func(u *lab.Unit) error { return m.RemoveUnit(t.Context(), u, lab.RemoveOptions{}) }) {
		if err == nil {
			continue
		}
		said := m.HookFailed(err, "stop")
		assert.NotContains(t, said, "kick", "a refusal while the leader goes")
		assert.Contains(t, said, "wait")
		_, err = m.RetryUntil(t.Context(), going[i])
		require.NoError(t, err)
	}
	close(ended)
	watching.Wait()
	require.NotEmpty(t, statuses)
	for _, line := range statuses {
		assert.NotContains(t, line, "kick")
		assert.NotContains(t, line, "no quorum")
	}
	for _, db := range lab.Databases {
		assert.Len(t, m.MemberIDs(stays[0], db), 3)
	}
	m.RequireWritable()
}
