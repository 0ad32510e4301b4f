//go:build programs

package membership

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// R1 holds for now: sb is judged before nb is kicked and proved, which takes up to
// 10 s and three election timers, and is not judged again just before its own kick.
// Here a member of sb dies in between; the kick of a live one then loses its quorum.
func TestR1SecondDatabaseIsJudgedJustBeforeItsKick(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB, ovndb.SB)
	m := model(units[0], units...)
	units[0].Progress = func(_ context.Context, text string) {
		if strings.HasPrefix(text, "nb: kicking") {
			units[1].kill(ovndb.SB)
			units[0].until(ovndb.SB, func(s raft.Status) bool { return len((raft.View{Status: s}).Peers()) == 3 && s.HasLeader() })
		}
	}
	results, err := units[0].Kick(t.Context(), m, KickRequest{Confirmed: true, Permit: raft.PermitForce, IDs: map[ovndb.Database]raft.IDArgument{
		ovndb.NB: {Text: string(units[2].id(ovndb.NB))}, ovndb.SB: {Text: string(units[2].id(ovndb.SB))},
	}})
	require.NoError(t, err)
	require.Len(t, results, 2)
	t.Log(results[0], results[1])
	assert.Equal(t, Removed, results[0].Outcome)
	assert.Equal(t, Refused, results[1].Outcome)
	s, err := units[0].Control.Status(t.Context(), ovndb.SB)
	require.NoError(t, err)
	assert.Len(t, s.Servers, 3)
	assert.True(t, s.HasLeader(), "sb still has its quorum: two of three are up")
}
