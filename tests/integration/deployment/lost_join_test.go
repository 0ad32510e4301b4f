package deployment

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// A join that goes on for ever on Open vSwitch before 2.17.10, 3.1.5, 3.2.3 and 3.3.1: the leader was none
// for a moment, and has lost the answer of the server that it was adding; it waits for that
// answer, and calls each new try one that is in progress (ovn-org/ovn, issue 235). The unit sees that its
// server comes no further, and has another one join in its place. The minutes are played.
func TestUnitWhoseJoinItsLeaderHasLostJoinsByAnotherServer(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 2, lab.Options{Charm: charmWithClock(t)})
	leader, err := c.RaftLeader(t.Context(), lab.SB)
	require.NoError(t, err)
	fill(t, leader, 4) // it takes the leader a moment to send that, and the one that joins to store it
	other := units[0]
	if other == leader {
		other = units[1]
	}
	u, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
	require.NoError(t, err)
	// It reaches that leader alone: the other would add it.
	_, err = u.Exec(t.Context(), "ip", "route", "add", "blackhole", other.Address())
	require.NoError(t, err)
	lost := make(chan error, 1)
	go func() { lost <- loseJoin(t, leader, other, u) }()
	require.NoError(t, c.Settle(t.Context()))
	require.NoError(t, <-lost)
	_, err = u.Exec(t.Context(), "ip", "route", "del", "blackhole", other.Address())
	require.NoError(t, err)

	before, err := serverStatus(t.Context(), u, lab.SB)
	require.NoError(t, err)
	says(t, u, "waiting", "sb: joining the cluster")
	c.updateStatus(t, u)
	says(t, u, "waiting", "sb: joining the cluster")
	assert.Empty(t, archived(t, u, lab.SB), "it is waited for")
	after, err := serverStatus(t.Context(), u, lab.SB)
	require.NoError(t, err)
	require.Equal(t, raft.JoiningCluster, after.State, "the servers were repaired: this test is of a defect")
	require.Equal(t, before.Server, after.Server)

	require.NoError(t, u.SetClock(10*time.Minute))
	c.updateStatus(t, u)
	c.tick(t, "it is a member", func() bool { return isMember(t.Context(), u) })
	assert.Len(t, archived(t, u, lab.SB), 1)
	assert.Empty(t, archived(t, u, lab.NB))
	c.tick(t, "all are active", c.allActive)
	c.requireOneCluster(t, append(units, u)...)
}

// loseJoin has another unit lead as soon as the leader adds the server of the unit, which does not answer
// meanwhile, and the leader again once that one has answered.
func loseJoin(t *testing.T, leader, other, joiner *lab.Unit) error {
	t.Helper()
	ctx := within(t, patience)
	await := func(condition func() bool) error {
		for !condition() {
			if err := poll.Wait(ctx, time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}
	is := func(u *lab.Unit, so func(raft.Status) bool) func() bool {
		return func() bool {
			s, err := serverStatus(ctx, u, lab.SB)
			return err == nil && so(s)
		}
	}
	leads := func(s raft.Status) bool { return s.Role == raft.Leader }
	give := func(from, to *lab.Unit) error {
		_, err := from.Appctl(ctx, lab.SB, "cluster/failure-test", "transfer-leadership")
		return errors.Join(err, await(is(to, leads)))
	}
	added := regexp.MustCompile("starting to add server .* at ssl:" + regexp.QuoteMeta(joiner.Address()) + ":6644")
	if err := await(func() bool {
		text, err := os.ReadFile(filepath.Join(leader.LogDir(), "ovsdb-server-sb.log"))
		return err == nil && added.Match(text)
	}); err != nil {
		return err
	}
	return errors.Join(
		joiner.Hang(lab.SB), give(leader, other),
		joiner.Resume(lab.SB), await(is(joiner, raft.Status.HasLeader)), give(other, leader),
	)
}
