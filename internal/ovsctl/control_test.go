//go:build programs

package ovsctl_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// has reports whether the server with id is a member as the status has it.
func has(s raft.Status, id raft.ID) bool {
	return slices.ContainsFunc(s.Servers, func(m raft.Member) bool { return m.Short == id.Short() })
}

// Four members become one: a dead one is kicked, a follower and the leader leave.
func TestMembersAreToldKickedAndLeave(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 4)
	first := members[0].Status(t)
	assert.Equal(t, raft.Leader, first.Role)
	require.NotNil(t, first.Cluster)
	for _, m := range members {
		s := m.Status(t)
		assert.Equal(t, string(ovndb.NB), s.Name)
		assert.Equal(t, m.Address, s.Address)
		assert.Empty(t, s.Unknown, "the parser knows every line of this version")
		assert.Equal(t, first.Cluster, s.Cluster)
		assert.True(t, has(first, s.Server))
	}

	stays, id := members[1], members[3].Status(t).Server
	without := func(id raft.ID) {
		t.Helper()
		stays.Reaches(t, func(s raft.Status) bool { return !has(s, id) && s.HasLeader() }, "it is still a member")
	}
	members[3].Kill(t)
	require.NoError(t, stays.control().Kick(t.Context(), ovndb.NB, string(id)), "from a follower")
	without(id)
	require.ErrorIs(t, stays.control().Kick(t.Context(), ovndb.NB, string(id)), ovsctl.ErrUnknownServer)

	for _, m := range []*server{members[2], members[0]} {
		id := m.Status(t).Server
		require.NoError(t, m.control().Leave(t.Context(), ovndb.NB))
		m.gone(t)
		without(id)
		require.ErrorIs(t, m.control().Leave(t.Context(), ovndb.NB), ovsctl.ErrUnknownCluster)
		require.ErrorIs(t, m.control().Kick(t.Context(), ovndb.NB, string(first.Server)), ovsctl.ErrUnknownCluster)
	}
	s := stays.Status(t)
	assert.Equal(t, raft.Leader, s.Role)
	assert.Equal(t, raft.Self, s.Leader)
	require.Len(t, s.Servers, 1)
	assert.True(t, s.Servers[0].Self)
	polled, err := ovsctl.Control{Paths: stays.Paths}.PollStatus(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, s.Server, polled.Server)
	assert.False(t, polled.CutOff())
}
