//go:build programs

package ovsctl_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// slower has a member that leads continue to do so for 16 seconds without the others.
func (s *server) slower(t *testing.T) *server {
	t.Helper()
	for _, timer := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second} {
		require.NoError(t, s.control().ChangeElectionTimer(t.Context(), s.Database, timer))
		s.Reaches(t, func(s raft.Status) bool { return s.ElectionTimer == timer && s.ChangingTo == 0 }, "the timer does not change")
	}
	return s
}

func TestElectionTimerGoesUpTwofoldAndDownAtOnce(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3) // 1 s
	leader := members[0]
	change := func(to time.Duration) error { return leader.control().ChangeElectionTimer(t.Context(), ovndb.NB, to) }
	becomes := func(wanted time.Duration) {
		t.Helper()
		for _, m := range members {
			m.Reaches(t, func(s raft.Status) bool { return s.ElectionTimer == wanted && s.ChangingTo == 0 }, "the timer does not change")
		}
	}
	require.ErrorIs(t, change(2001*time.Millisecond), ovsctl.ErrTimerRange)
	require.NoError(t, change(2*time.Second))
	becomes(2 * time.Second)
	require.NoError(t, change(4*time.Second))
	becomes(4 * time.Second)
	require.NoError(t, change(time.Second))
	becomes(time.Second)
	require.NoError(t, change(time.Second), "it is so already")
}

func TestElectionTimerHasBounds(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.SB, 1)[0]
	for _, timer := range []time.Duration{0, 99 * time.Millisecond, -time.Second, 11 * time.Minute} {
		require.ErrorIs(t, s.control().ChangeElectionTimer(t.Context(), ovndb.SB, timer), ovsctl.ErrTimerRange, "%s", timer)
	}
	assert.Equal(t, time.Second, s.Status(t).ElectionTimer)
}

func TestElectionTimerIsTheLeadersBusiness(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.SB, 2)
	err := members[1].control().ChangeElectionTimer(t.Context(), ovndb.SB, 2*time.Second)
	require.ErrorIs(t, err, ovsctl.ErrNotLeader)
	assert.EqualError(t, err, "cannot ask OVN_Southbound's server for cluster/change-election-timer: server is not the leader")
}

func TestElectionTimerWaitsForTheEarlierChange(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 2)
	leader := members[0].slower(t).control()
	members[1].Kill(t) // nothing is committed any more
	require.NoError(t, leader.ChangeElectionTimer(t.Context(), ovndb.NB, 32*time.Second))
	assert.Equal(t, 32*time.Second, members[0].Status(t).ChangingTo)
	require.ErrorIs(t, leader.ChangeElectionTimer(t.Context(), ovndb.NB, 20*time.Second), ovsctl.ErrTimerPending)
}
