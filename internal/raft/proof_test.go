package raft

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// look is one status of a remaining member, and the result.
type look struct {
	status         Status
	proved, absent bool
}

// without is a status whose newest configuration lacks member 2; with has it.
func without(end, notCommitted uint64) Status {
	s := viewOf(1, allUp(2)).Status
	s.Log.End, s.NotCommitted = end, notCommitted
	return s
}

func with(end, notCommitted uint64) Status {
	s := viewOf(1, allUp(3)).Status
	s.Log.End, s.NotCommitted = end, notCommitted
	return s
}

func but(s Status, change func(*Status)) Status {
	change(&s)
	return s
}

// R6: done is proved, never assumed.
func TestR6_removal_needs_commit(t *testing.T) {
	t.Parallel()
	leaderless := func(s *Status) { s.Role, s.Leader = Candidate, UnknownRef }
	disconnected := func(s *Status) { s.State = Disconnected }
	newTerm := func(s *Status) { s.Term++ }
	leaving := func(s *Status) { s.State = LeavingCluster }
	removing := func(s *Status) {
		s.Removing = []Pending{{Short: memberID(2).Short(), Address: memberAddress(2), Phase: RemovingPhase}}
	}
	tests := map[string][]look{
		"at once, nothing else is written": {{without(12, 0), true, true}},
		"not while it is a member":         {{with(11, 0), false, false}, {with(12, 1), false, false}},
		"absent, but not committed":        {{without(12, 1), false, true}, {without(12, 1), false, true}, {without(12, 0), true, true}},
		"under load something is never committed": {
			{with(20, 3), false, false},
			{without(25, 4), false, true},
			{without(27, 3), false, true},
			{without(29, 5), false, true},
			{without(31, 6), true, true},
		},
		"by the entry before the last is not enough": {{without(25, 4), false, true}, {without(30, 6), false, true}, {without(30, 5), true, true}},
		"it comes back": {
			{without(12, 1), false, true},
			{with(12, 0), false, false},
			{with(13, 0), false, false},
			{without(14, 1), false, true},
			{without(14, 0), true, true},
		},
		"it comes back, and is removed at a later place": {
			{without(12, 1), false, true},
			{with(12, 0), false, false},
			{without(15, 2), false, true},
			{without(16, 2), false, true},
			{without(16, 1), true, true},
		},
		"the log is cut off": {{without(20, 5), false, true}, {without(16, 1), false, true}, {without(18, 2), true, true}},
		"the leader is lost after it": {
			{without(12, 1), false, true}, {but(without(12, 0), leaderless), false, true}, {without(12, 0), true, true},
		},
		"the leader is lost, and with it the removal": {
			{without(12, 1), false, true}, {but(with(11, 0), leaderless), false, false}, {with(12, 0), false, false},
		},
		"no majority": {{but(without(12, 0), disconnected), false, true}, {without(13, 0), true, true}},
		"no leader from the beginning": {
			{but(without(12, 1), leaderless), false, true}, {without(12, 1), false, true}, {without(13, 1), true, true},
		},
		"undone and done again between two looks": {
			{without(12, 1), false, true}, {but(without(16, 1), newTerm), false, true}, {but(without(17, 1), newTerm), true, true},
		},
		"garbage":             {{without(12, math.MaxUint64), false, true}},
		"observer_is_leaving": {{but(without(12, 0), leaving), false, true}},
		"the leader is still at it": {
			{but(without(12, 1), removing), false, false}, {but(without(12, 0), removing), false, false}, {without(12, 0), true, true},
		},
	}
	for name, looks := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := RemovalWatcher{Target: memberID(2).Short(), Address: memberAddress(2)}
			for i, l := range looks {
				require.Equal(t, l.proved, p.Observe(l.status), "proved, look %d", i)
				require.Equal(t, l.absent, p.Absent(), "absent, look %d", i)
			}
		})
	}
}

// A stale member and the one that took its address, and two with shared digits, are not confused.
func TestR6ProofIsOfOneMember(t *testing.T) {
	t.Parallel()
	const stale, next = "89b2", "7f3d"
	both := captureStatus(t, "nb-leader-stale-and-new-same-address")
	gone := captureStatus(t, "nb-leader-after-kick-of-stale-same-address")
	address := rowOf(t, &both, stale).Address
	require.Equal(t, address, rowOf(t, &both, next).Address)
	require.NotContains(t, shorts(gone), stale)
	require.Contains(t, shorts(gone), next)

	tests := map[string]struct {
		proof  RemovalWatcher
		status Status
		want   bool
	}{
		"the stale one before":                 {RemovalWatcher{Target: stale, Address: address}, both, false},
		"the stale one after":                  {RemovalWatcher{Target: stale, Address: address}, gone, true},
		"the new one after":                    {RemovalWatcher{Target: next, Address: address}, gone, false},
		"its four digits at another address":   {RemovalWatcher{Target: next, Address: "tcp:127.77.7.9:6643"}, gone, true},
		"four digits, wherever they are":       {RemovalWatcher{Target: next}, gone, false},
		"four digits that are nowhere":         {RemovalWatcher{Target: stale}, gone, true},
		"a removal under way, by address":      {RemovalWatcher{Target: "25b7", Address: "tcp:127.77.16.2:6643"}, captureStatus(t, "nb-leader-two-removals-pending"), false},
		"a removal under way, wherever it was": {RemovalWatcher{Target: "25b7"}, captureStatus(t, "nb-leader-two-removals-pending"), false},
		"a removal that waits for its turn":    {RemovalWatcher{Target: "2695"}, captureStatus(t, "nb-leader-two-removals-pending"), false},
		"not committed, seen by a follower":    {RemovalWatcher{Target: "25b7"}, captureStatus(t, "nb-follower-while-removals-pending"), false},
		"never_committed":                      {RemovalWatcher{Target: "c712"}, captureStatus(t, "nb-leader-kick-no-quorum"), false},
		"from a server that joins":             {RemovalWatcher{Target: "13fe"}, captureStatus(t, "nb-joining-learned-cid"), false},
		"unknown_server":                       {RemovalWatcher{Target: "13fe"}, captureStatus(t, "nb-kicked-while-down-then-restarted"), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, tt.proof.Observe(tt.status))
		})
	}
}
