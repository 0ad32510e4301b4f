package relation

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// statusOf is that of server 0 while these are the members.
func statusOf(members ...int) raft.Status {
	s := raft.Status{Log: raft.Log{Start: 2, End: 12}, Server: serverID(0), State: raft.ClusterMember, Role: raft.Follower, Leader: raft.Ref(serverID(1).Short())}
	for _, i := range members {
		s.Servers = append(s.Servers, raft.Member{Short: serverID(i).Short(), Self: i == 0})
	}
	return s
}

func knows(servers ...int) History {
	h := History{}
	for _, i := range servers {
		h.set(raft.NB, serverID(i), Known{Unit: "ovn-central/" + serverID(i).Short()})
	}
	return h
}

// R8: what a server has had among its members, and has no more, was removed.
func TestR8SeeNotesRemovalsThatTheSameServerSaw(t *testing.T) {
	t.Parallel()
	before := statusOf(0, 1, 2)
	change := func(s raft.Status, f func(*raft.Status)) raft.Status {
		f(&s)
		return s
	}
	tests := map[string]struct {
		now     raft.Status
		removed []int
		// kept says that the status proves nothing, so that the sighting before it
		// stands; noted, that it shows what is not committed.
		kept, noted bool
	}{
		"nothing changed":         {now: statusOf(0, 1, 2)},
		"one is gone":             {now: statusOf(0, 1), removed: []int{2}},
		"all others are gone":     {now: statusOf(0), removed: []int{1, 2}},
		"one came":                {now: statusOf(0, 1, 2, 3)},
		"one went, another came":  {now: statusOf(0, 1, 3), removed: []int{2}},
		"in another order":        {now: statusOf(2, 0, 1)},
		"by another server":       {now: change(statusOf(0, 1), func(s *raft.Status) { s.Server = serverID(1) })},
		"not committed":           {now: change(statusOf(0, 1), func(s *raft.Status) { s.NotCommitted = 1 }), noted: true},
		"no leader":               {now: change(statusOf(0, 1), func(s *raft.Status) { s.Leader = raft.UnknownRef }), kept: true},
		"a candidate":             {now: change(statusOf(0, 1), func(s *raft.Status) { s.Role = raft.Candidate }), kept: true},
		"cut off":                 {now: change(statusOf(0, 1), func(s *raft.Status) { s.State = raft.Disconnected }), kept: true},
		"leaving":                 {now: change(statusOf(0, 1), func(s *raft.Status) { s.State = raft.LeavingCluster }), kept: true},
		"joining":                 {now: change(statusOf(1), func(s *raft.Status) { s.State = raft.JoiningCluster }), kept: true},
		"one came, not committed": {now: change(statusOf(0, 1, 2, 3), func(s *raft.Status) { s.NotCommitted = 1 }), noted: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := knows(0, 1, 2, 3)
			_, first := h.See(raft.NB, Sighting{}, before, monday)
			require.Equal(t, Sighting{Server: serverID(0), Members: []string{"0000", "0001", "0002"}}, first)

			want := knows(0, 1, 2, 3)
			for _, i := range tt.removed {
				want = want.Remove(raft.NB, serverID(i), "", monday)
			}
			got, second := h.See(raft.NB, first, tt.now, monday)
			assert.Equal(t, want, got)
			assert.Equal(t, knows(0, 1, 2, 3), h, "what it was is left alone")
			switch {
			case tt.kept:
				assert.Equal(t, first, second)
			case tt.noted:
				assert.Equal(t, first.Members, second.Members)
				assert.Len(t, second.Changed, 1)
			default:
				assert.Empty(t, second.Changed)
				assert.Equal(t, tt.now.Server, second.Server)
				assert.Len(t, second.Members, len(tt.now.Servers))
			}
		})
	}
}

// R6: under a steady load something is always not committed. A change is, once
// everything is that stood in the log when it was first seen.
func TestR8SeeNotesRemovalsUnderLoad(t *testing.T) {
	t.Parallel()
	at := func(end, notCommitted uint64, members ...int) raft.Status {
		s := statusOf(members...)
		s.Log.End, s.NotCommitted = end, notCommitted
		return s
	}
	all := []string{"0000", "0001", "0002"}
	looks := []struct {
		status  raft.Status
		members []string
		changed map[string]uint64
		removed bool
	}{
		{at(100, 2, 0, 1, 2), nil, map[string]uint64{"0000": 100, "0001": 100, "0002": 100}, false},
		{at(110, 2, 0, 1, 2), all, nil, false},
		{at(120, 2, 0, 1), all, map[string]uint64{"0002": 120}, false},
		{at(121, 2, 0, 1), all, map[string]uint64{"0002": 120}, false},
		{at(119, 2, 0, 1, 2), all, nil, false}, // the next leader has undone it
		{at(130, 5, 0, 1), all, map[string]uint64{"0002": 130}, false},
		{at(126, 2, 0, 1), all, map[string]uint64{"0002": 126}, false}, // the log was cut off
		{at(127, 1, 0, 1, 3), all[:2], map[string]uint64{"0003": 127}, true},
		{at(128, 0, 0, 1, 3), []string{"0000", "0001", "0003"}, nil, true},
	}
	h, seen := knows(0, 1, 2, 3), Sighting{}
	for i, look := range looks {
		h, seen = h.See(raft.NB, seen, look.status, monday)
		require.Equal(t, Sighting{Server: serverID(0), Members: look.members, Changed: look.changed}, seen, "look %d", i)
		require.Equal(t, look.removed, !h[raft.NB][serverID(2)].Removed.IsZero(), "look %d", i)
		require.True(t, h[raft.NB][serverID(3)].Removed.IsZero())
	}
}

func TestR8SeeKeepsTheTimeThatWasNotedFirst(t *testing.T) {
	t.Parallel()
	h := knows(0, 1).Remove(raft.NB, serverID(2), "ovn-central/2", monday)
	before := Sighting{Server: serverID(0), Members: []string{"0000", "0001", "0002"}}
	got, _ := h.See(raft.NB, before, statusOf(0, 1), monday.AddDate(0, 0, 1))
	assert.Equal(t, h, got)
}

func TestR8SeeTouchesOneDatabaseAndOnlyWhatIsKnown(t *testing.T) {
	t.Parallel()
	h := knows(0, 1, 2)
	h.set(raft.SB, serverID(2), Known{})
	before := Sighting{Server: serverID(0), Members: []string{"0000", "0001", "0002", "0009"}}
	got, _ := h.See(raft.NB, before, statusOf(0, 1), monday)
	assert.True(t, got[raft.SB][serverID(2)].Removed.IsZero())
	assert.False(t, got[raft.NB][serverID(2)].Removed.IsZero())
	assert.NotContains(t, got[raft.NB], serverID(9))
}

// A member that shares its four digits with another one that stays can't be seen
// to go.
func TestR8SeeDoesNotGuessWhoOfTwoWent(t *testing.T) {
	t.Parallel()
	twin := serverID(2)[:4] + "ffff-1111-4222-8333-444444444444"
	h := knows(0, 1, 2)
	h.set(raft.NB, twin, Known{Unit: "ovn-central/7"})
	before := Sighting{Server: serverID(0), Members: []string{"0000", "0001", "0002", "0002"}}
	got, after := h.See(raft.NB, before, statusOf(0, 1, 2), monday)
	assert.Equal(t, h, got)
	assert.Equal(t, []string{"0000", "0001", "0002"}, after.Members)
}

// Whatever the server shows in turn, a member that it shows is never noted as
// removed, unless it was noted before; and a server never comes back.
func TestR8SeeNotesNoMemberAsRemoved(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h, seen := knows(0, 1, 2, 3, 4, 5), Sighting{}
		members := []int{0, 1, 2}
		next := 3
		for range rapid.IntRange(1, 12).Draw(t, "looks") {
			switch {
			case rapid.Bool().Draw(t, "one joins") && next < 6:
				members = append(members, next)
				next++
			case len(members) > 1 && rapid.Bool().Draw(t, "one goes"):
				i := rapid.IntRange(1, len(members)-1).Draw(t, "who")
				members = append(members[:i:i], members[i+1:]...)
			}
			s := statusOf(members...)
			if rapid.Bool().Draw(t, "not committed") {
				s.NotCommitted = 1
			}
			h, seen = h.See(raft.NB, seen, s, monday)
			for _, i := range members {
				require.True(t, h[raft.NB][serverID(i)].Removed.IsZero(), "%d", i)
			}
		}
		// Of those that the last look but one showed, the rest is noted.
		h, last := h.See(raft.NB, seen, statusOf(members...), monday)
		for _, short := range seen.Members {
			i := slices.IndexFunc([]int{0, 1, 2, 3, 4, 5}, func(i int) bool { return serverID(i).Short() == short })
			require.Equal(t, slices.Contains(last.Members, short), h[raft.NB][serverID(i)].Removed.IsZero(), short)
		}
	})
}

func TestHistoryForgetsThoseThatAreLongestGone(t *testing.T) {
	t.Parallel()
	const gone = maxRemoved + 10
	h := knows(0, 1, 2)
	for i := range gone {
		h = h.Remove(raft.NB, serverID(100+i), "", monday.Add(time.Duration(i)*time.Hour))
	}
	h = h.Remove(raft.SB, sbServer, "", monday)
	before := Sighting{Server: serverID(0), Members: []string{"0000", "0001", "0002"}}
	got, _ := h.See(raft.NB, before, statusOf(0, 1), monday.AddDate(1, 0, 0))

	assert.Len(t, got[raft.NB], 2+maxRemoved, "members are kept, and so many that are gone")
	for i := range gone {
		// The one that has just been seen to go takes a place too.
		assert.Equal(t, i > gone-maxRemoved, got[raft.NB][serverID(100+i)] != Known{}, "%d", i)
	}
	assert.Contains(t, got[raft.NB], serverID(2))
	assert.Equal(t, h[raft.SB], got[raft.SB])

	// Units that forget one after the other agree on what to forget.
	again, _ := got.Merge(h).See(raft.NB, before, statusOf(0, 1), monday.AddDate(1, 0, 0))
	assert.Equal(t, got, again)
}

func TestHistoryForgetsTheSameOnesOnEveryUnit(t *testing.T) {
	t.Parallel()
	h := knows(0, 1)
	for i := range maxRemoved + 10 {
		h = h.Remove(raft.NB, serverID(100+i), "", monday) // all at once
	}
	before := Sighting{Server: serverID(0), Members: []string{"0000", "0001"}}
	got, _ := h.See(raft.NB, before, statusOf(0, 1), monday)
	assert.Len(t, got[raft.NB], 2+maxRemoved)
	for i := range maxRemoved + 10 {
		assert.Equal(t, i < maxRemoved, got[raft.NB][serverID(100+i)] != Known{}, "%d", i)
	}
}

func TestSightingsAreKeptOnDiskAsTheyAre(t *testing.T) {
	t.Parallel()
	want := Sighting{Server: nbServer, Members: []string{"0017", "13e4"}, Changed: map[string]uint64{"1e10": 12}}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	assert.JSONEq(t, `{"server":"13e4f3b0-1111-4222-8333-444444444444","members":["0017","13e4"],"changed":{"1e10":12}}`, string(text))
	var got Sighting
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, want, got)
}
