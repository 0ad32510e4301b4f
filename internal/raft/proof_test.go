package raft

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// look is one status of a remaining member, and the result.
type look struct {
	status         Status
	proved, absent bool
}

// without returns a status whose newest configuration lacks member 2; with returns one that has it.
func without(end, notCommitted uint64) Status { return statusOf(2, end, notCommitted) }
func with(end, notCommitted uint64) Status    { return statusOf(3, end, notCommitted) }

func statusOf(members int, end, notCommitted uint64) Status {
	s := viewOf(1, allUp(members)).Status
	s.Log.End, s.NotCommitted = end, notCommitted
	return s
}

func but(s Status, change func(*Status)) Status {
	change(&s)
	return s
}

// R6: a removal is done once it is committed. TestR6_proof_for_every_log has other orders.
func TestR6_removal_needs_commit(t *testing.T) {
	t.Parallel()
	disconnected := func(s *Status) { s.State = Disconnected }
	leaving := func(s *Status) { s.State = LeavingCluster }
	removing := func(s *Status) {
		s.Removing = []Member{{Short: memberID(2).Short(), Address: memberAddress(2), Phase: RemovingPhase}}
	}
	tests := map[string][]look{
		"at once, nothing else is written": {{without(12, 0), true, true}},
		"not while it is a member":         {{with(11, 0), false, false}, {with(12, 1), false, false}},
		"absent, but not committed": {
			{without(12, 1), false, true}, {without(12, 1), false, true}, {without(12, 0), true, true},
		},
		"it comes back": {
			{without(12, 1), false, true},
			{with(12, 0), false, false},
			{with(13, 0), false, false},
			{without(14, 1), false, true},
			{without(14, 0), true, true},
		},
		"the log is cut off":  {{without(20, 5), false, true}, {without(16, 1), false, true}, {without(18, 2), true, true}},
		"no majority":         {{but(without(12, 0), disconnected), false, true}, {without(13, 0), true, true}},
		"garbage":             {{without(12, math.MaxUint64), false, true}},
		"observer_is_leaving": {{but(without(12, 0), leaving), false, true}},
		"the leader is still removing it": {
			{but(without(12, 1), removing), false, false},
			{but(without(12, 0), removing), false, false},
			{without(12, 0), true, true},
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

// A member is identified by its address and its digits: another member may share one of them.
func TestR6_proof_is_of_one_member(t *testing.T) {
	t.Parallel()
	const stale, next = "89b2", "7f3d"
	both := captureStatus(t, "nb-leader-stale-and-new-same-address")
	gone := captureStatus(t, "nb-leader-after-kick-of-stale-same-address")
	address := rowOf(t, &both, stale).Address
	require.Equal(t, address, rowOf(t, &both, next).Address)
	require.NotContains(t, gone.shortIDs(), stale)
	require.Contains(t, gone.shortIDs(), next)

	tests := map[string]struct {
		proof  RemovalWatcher
		status Status
		want   bool
	}{
		"the stale one before":               {RemovalWatcher{Target: stale, Address: address}, both, false},
		"the stale one after":                {RemovalWatcher{Target: stale, Address: address}, gone, true},
		"the new one after":                  {RemovalWatcher{Target: next, Address: address}, gone, false},
		"its four digits at another address": {RemovalWatcher{Target: next, Address: "tcp:127.77.7.9:6643"}, gone, true},
		"four digits at any address":         {RemovalWatcher{Target: next}, gone, false},
		"four digits of no member":           {RemovalWatcher{Target: stale}, gone, true},
		"a removal under way, by address": {
			RemovalWatcher{Target: "25b7", Address: "tcp:127.77.16.2:6643"},
			captureStatus(t, "nb-leader-two-removals-pending"),
			false,
		},
		"a removal under way, at any address": {
			RemovalWatcher{Target: "25b7"}, captureStatus(t, "nb-leader-two-removals-pending"), false,
		},
		"a removal that waits": {
			RemovalWatcher{Target: "2695"}, captureStatus(t, "nb-leader-two-removals-pending"), false,
		},
		"not committed, seen by a follower": {
			RemovalWatcher{Target: "25b7"}, captureStatus(t, "nb-follower-while-removals-pending"), false,
		},
		"never_committed": {
			RemovalWatcher{Target: "c712"}, captureStatus(t, "nb-leader-kick-no-quorum"), false,
		},
		"from a server that joins": {
			RemovalWatcher{Target: "13fe"}, captureStatus(t, "nb-joining-learned-cid"), false,
		},
		"unknown_server": {
			RemovalWatcher{Target: "13fe"}, captureStatus(t, "nb-kicked-while-down-then-restarted"), false,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tt.want, tt.proof.Observe(tt.status))
		})
	}
}

func shownBy(term, end, notCommitted uint64, servers ...string) Status {
	s := Status{
		State: ClusterMember, Role: Follower, Leader: "aaaa", Term: term, Log: Log{1, end}, NotCommitted: notCommitted,
	}
	for _, short := range servers {
		s.Servers = append(s.Servers, Member{Short: short, Address: "tcp:" + short})
	}
	return s
}

// R6: the rows of a status are those of its newest entry, committed or not.
func TestConfigurationWatcher(t *testing.T) {
	leaderless := shownBy(1, 10, 0, "aaaa", "bbbb")
	leaderless.Leader = UnknownRef
	cut := shownBy(1, 10, 0, "aaaa", "bbbb")
	cut.State = Disconnected
	removing := shownBy(1, 10, 0, "aaaa", "bbbb")
	removing.Removing = []Member{{Short: "cccc"}}
	tests := map[string]struct {
		seen   []Status
		proved bool
	}{
		"all is committed":        {[]Status{shownBy(1, 10, 0, "aaaa", "bbbb")}, true},
		"the newest entry is not": {[]Status{shownBy(1, 10, 1, "aaaa", "bbbb")}, false},
		"it is later": {
			[]Status{shownBy(1, 10, 1, "aaaa", "bbbb"), shownBy(1, 10, 0, "aaaa", "bbbb")}, true,
		},
		"others are on their way by then": {
			[]Status{shownBy(1, 10, 1, "aaaa", "bbbb"), shownBy(1, 14, 3, "aaaa", "bbbb")}, true,
		},
		"no leader":           {[]Status{leaderless, leaderless}, false},
		"cut off":             {[]Status{cut, cut}, false},
		"removal_in_progress": {[]Status{removing}, false},
		"it is undone": {
			[]Status{shownBy(1, 10, 1, "aaaa", "bbbb"), shownBy(2, 10, 0, "aaaa", "bbbb", "cccc")}, false,
		},
		"new_term_restarts": {
			[]Status{shownBy(1, 10, 1, "aaaa", "bbbb"), shownBy(2, 12, 2, "aaaa", "bbbb")}, false,
		},
	}
	for name, test := range tests {
		var p ConfigurationWatcher
		proved := false
		for _, s := range test.seen {
			proved = p.Observe(s)
		}
		assert.Equal(t, test.proved, proved, name)
	}
}

// replica is a small model of one server's log.
type replica struct {
	// member is, for each entry, whether the target is a member after it.
	member    []bool
	committed int
	term      uint64
	led       bool
	// seen is false from the loss of an entry until the log is read again. Meanwhile no unit removes the target again:
	// that unit would need the lock (R5).
	seen bool
}

func (r *replica) status() Status {
	s := viewOf(1, allUp(2)).Status
	if r.isMember() {
		s = viewOf(1, allUp(3)).Status
	}
	if !r.led {
		s.Role, s.Leader = Candidate, UnknownRef
	}
	s.Log = Log{Start: 2, End: 2 + uint64(len(r.member))}
	s.Term = r.term
	s.NotCommitted = uint64(len(r.member) - r.committed)
	return s
}

func (r *replica) isMember() bool { return r.member[len(r.member)-1] }

// R6: a removal that is reported as proved is committed, however the log changes between two observations. A
// committed removal is proved in the end.
func TestR6_proof_for_every_log(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := &replica{member: []bool{true}, committed: 1, led: true, seen: true}
		p := RemovalWatcher{Target: memberID(2).Short(), Address: memberAddress(2)}
		t.Repeat(map[string]func(*rapid.T){
			"a write": func(t *rapid.T) {
				more := rapid.IntRange(1, 4).Draw(t, "entries")
				r.member = append(r.member, slices.Repeat([]bool{r.isMember()}, more)...)
			},
			"the target is removed": func(*rapid.T) {
				if r.isMember() && r.seen && r.led {
					r.member = append(r.member, false)
				}
			},
			"entries are committed": func(t *rapid.T) {
				r.committed = rapid.IntRange(r.committed, len(r.member)).Draw(t, "committed")
			},
			"the leader is lost": func(*rapid.T) { r.led = false },
			"a leader is elected": func(t *rapid.T) {
				kept := rapid.IntRange(r.committed, len(r.member)).Draw(t, "entries that the leader has")
				r.seen = r.seen && kept == len(r.member)
				r.member = append(r.member[:kept], r.member[kept-1]) // a leader's term begins with an entry of its own
				r.led, r.term = true, r.term+1
			},
			"observe": func(t *rapid.T) {
				r.seen = true
				if p.Observe(r.status()) {
					require.False(t, r.member[r.committed-1], "it is still a member by what is committed")
				}
			},
		})
		// In the end there is a leader, and writes continue. Then two observations suffice.
		r.led = true
		removed := !r.isMember()
		p.Observe(r.status())
		r.committed = len(r.member)
		r.member = append(r.member, r.isMember())
		require.Equal(t, removed, p.Observe(r.status()))
	})
}
