//go:build programs

package membership

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// watched shows each command before it runs.
type watched struct {
	services
	see func(run.Command)
}

func (s watched) Run(ctx context.Context, c run.Command) ([]byte, error) {
	s.see(c)
	return s.services.Run(ctx, c)
}

// R6, R8: the quorum is lost just before a kick is sent, so that its entry stays in
// one log. The second try finds the member absent, and no proof: it is pending still,
// and the other database is not touched.
func TestR6KickThatIsNotCommittedIsPendingAtTheSecondTryToo(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB, ovndb.SB)
	u, other, gone := units[0], units[1], units[2]
	m := model(u, units...)
	delete(m.Goal, gone.Env.Unit)
	delete(m.Published, gone.Env.Unit)
	for _, d := range ovndb.Databases() {
		gone.kill(d)
		u.until(d, func(s raft.Status) bool { return s.HasLeader() && !s.Hears(m.ServersOf(d, gone.Env.Unit)[0].Short()) })
	}
	begun := time.Now()
	u.Now = func() time.Time { return begun.Add(5 * time.Since(begun)) }
	u.Control.Runner = watched{see: func(c run.Command) {
		if slices.Contains(c.Args, "cluster/kick") && slices.Contains(c.Args, string(ovndb.NB)) {
			other.kill(ovndb.NB)
		}
	}}
	request := KickRequest{Unit: gone.Env.Unit, Confirmed: true}
	for _, try := range []string{"first", "second"} {
		results, err := u.Kick(t.Context(), m, request)
		require.NoError(t, err)
		require.Len(t, results, 2)
		assert.Equal(t, Pending, results[0].Outcome, "%s try: %s", try, results[0])
		assert.Equal(t, Untouched, results[1].Outcome, "%s try: %s", try, results[1])
		nb, err := u.Control.Status(t.Context(), ovndb.NB)
		require.NoError(t, err)
		require.Len(t, nb.Servers, 2, "the premise: it is absent from the rows")
		sb, err := u.Control.Status(t.Context(), ovndb.SB)
		require.NoError(t, err)
		assert.Len(t, sb.Servers, 3)
	}

	other.again(ovndb.NB)
	u.Control.Runner = services{}
	require.Eventually(t, func() bool {
		results, err := u.Kick(t.Context(), m, request)
		require.NoError(t, err)
		return results[0].Done() && results[1].Done()
	}, 30*time.Second, 100*time.Millisecond)
	for _, d := range ovndb.Databases() {
		u.until(d, func(s raft.Status) bool { return s.HasLeader() && len(s.Servers) == 2 && s.NotCommitted == 0 })
	}
}
