//go:build programs

package ovn_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// has says whether the server with id is a member as the status has it.
func has(s raft.Status, id raft.ID) bool {
	return slices.ContainsFunc(s.Servers, func(m raft.Member) bool { return m.Short == id.Short() })
}

func TestMembersTellTheSameCluster(t *testing.T) {
	t.Parallel()
	for _, d := range ovndb.Databases() {
		t.Run(d.Short(), func(t *testing.T) {
			t.Parallel()
			members := cluster(t, d, 3)
			first := members[0].Status(t)
			assert.Equal(t, raft.Leader, first.Role)
			require.NotNil(t, first.Cluster)
			for _, m := range members {
				s := m.Status(t)
				assert.Equal(t, string(d), s.Name)
				assert.Equal(t, m.Address, s.Address)
				assert.Empty(t, s.Unknown, "the parser knows every line of this version")
				assert.Equal(t, first.Cluster, s.Cluster)
				assert.True(t, has(first, s.Server))
			}
		})
	}
}

func TestSoleMemberLeadsItself(t *testing.T) {
	t.Parallel()
	sole := cluster(t, ovndb.SB, 1)[0]
	s := sole.Status(t)
	assert.Equal(t, raft.Leader, s.Role)
	assert.Equal(t, raft.Self, s.Leader)
	require.Len(t, s.Servers, 1)
	assert.True(t, s.Servers[0].Self)
	polled, err := ovn.Control{Paths: sole.Paths}.PollStatus(t.Context(), ovndb.SB)
	require.NoError(t, err)
	assert.Equal(t, s.Server, polled.Server)
	assert.False(t, polled.CutOff())
}

func TestFollowerAndLeaderLeave(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	for _, m := range []*server{members[2], members[0]} { // a follower, then the leader
		id := m.Status(t).Server
		require.NoError(t, m.control().Leave(t.Context(), ovndb.NB))
		m.gone(t)
		members[1].Reaches(t, func(s raft.Status) bool { return !has(s, id) && s.HasLeader() }, "the others keep the one that left")
	}
	assert.Len(t, members[1].Status(t).Servers, 1)
}

func TestServerThatHasLeftKnowsItsClusterNoMore(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 2)
	left, other := members[1], members[0]
	c := left.control()
	require.NoError(t, c.Leave(t.Context(), ovndb.NB))
	left.gone(t)

	id := other.Status(t).Server
	for command, err := range map[string]error{
		"leave": c.Leave(t.Context(), ovndb.NB),
		"kick":  c.Kick(t.Context(), ovndb.NB, string(id)),
	} {
		assert.ErrorIs(t, err, ovn.ErrUnknownCluster, command)
	}
}

func TestKickFromLeaderAndFollowerRemovesTheDead(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]int{"leader": 0, "follower": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			members := cluster(t, ovndb.SB, 3)
			id := members[2].Status(t).Server
			members[2].Kill(t)
			require.NoError(t, members[from].control().Kick(t.Context(), ovndb.SB, string(id)))
			for _, m := range members[:2] {
				m.Reaches(t, func(s raft.Status) bool { return !has(s, id) && s.HasLeader() }, "the dead member stays")
			}
			require.ErrorIs(t, members[from].control().Kick(t.Context(), ovndb.SB, string(id)), ovn.ErrUnknownServer,
				"it is gone")
		})
	}
}
