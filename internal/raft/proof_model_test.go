package raft

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// replica is a small model of one server's log: the configuration after each entry, how many are committed, and whether
// there is a leader.
type replica struct {
	// member is, for each entry, whether the target is a member after it.
	member    []bool
	committed int
	term      uint64
	led       bool
	// seen is false from the loss of an entry until the log was read again. Meanwhile no unit removes the target again:
	// that unit would hold the lock (R5).
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

// R6: for any change of the log between two observations, a removal reported as proved is committed; and a committed
// one is proved in the end.
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
			"the target is removed": func(t *rapid.T) {
				if !r.isMember() || !r.seen || !r.led {
					t.Skip("no leader, or nothing to remove")
				}
				r.member = append(r.member, false)
			},
			"entries are committed": func(t *rapid.T) {
				r.committed = rapid.IntRange(r.committed, len(r.member)).Draw(t, "committed")
			},
			"the leader is lost": func(*rapid.T) { r.led = false },
			"a leader is elected": func(t *rapid.T) {
				kept := rapid.IntRange(r.committed, len(r.member)).Draw(t, "entries that the leader has")
				r.seen = r.seen && kept == len(r.member)
				r.member = append(r.member[:kept], r.member[kept-1]) // a leader begins with an entry of its own
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
