package relation

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// statusOf returns server 0's status with these members.
func statusOf(members ...int) raft.Status {
	s := raft.Status{
		Log: raft.Log{Start: 2, End: 12}, Server: serverID(0), State: raft.ClusterMember, Role: raft.Follower,
		Leader: raft.Ref(serverID(1).Short()),
	}
	for _, i := range members {
		s.Servers = append(s.Servers, raft.Member{Short: serverID(i).Short(), Self: i == 0})
	}
	return s
}

func knows(servers ...int) History {
	h := History{}
	for _, i := range servers {
		h.set(ovndb.NB, serverID(i), ServerRecord{Unit: "ovn-central/" + serverID(i).Short()})
	}
	return h
}

func uncommitted(s *raft.Status) { s.NotCommitted = 1 }

func candidate(s *raft.Status) { s.Role = raft.Candidate }

func leaderless(s *raft.Status) { s.Leader = raft.UnknownRef }

// R8: only the server whose member it was can show that a former member was removed.
func TestR8_observe_removals_by_same_server(t *testing.T) {
	t.Parallel()
	before := statusOf(0, 1, 2)
	in := func(state raft.MemberState) func(*raft.Status) { return func(s *raft.Status) { s.State = state } }
	tests := map[string]struct {
		members []int
		change  func(*raft.Status)
		removed []int
		// kept: the status proves nothing, so the previous configuration is kept. noted: the status shows uncommitted
		// changes.
		kept, noted bool
	}{
		"nothing_changed":        {members: []int{0, 1, 2}},
		"one_removed":            {members: []int{0, 1}, removed: []int{2}},
		"all_others_removed":     {members: []int{0}, removed: []int{1, 2}},
		"one_added":              {members: []int{0, 1, 2, 3}},
		"one_replaced":           {members: []int{0, 1, 3}, removed: []int{2}},
		"another_order":          {members: []int{2, 0, 1}},
		"another_server":         {members: []int{0, 1}, change: func(s *raft.Status) { s.Server = serverID(1) }},
		"no_leader":              {members: []int{0, 1}, change: leaderless, kept: true},
		"candidate":              {members: []int{0, 1}, change: candidate, kept: true},
		"cut_off":                {members: []int{0, 1}, change: in(raft.Disconnected), kept: true},
		"leaving":                {members: []int{0, 1}, change: in(raft.LeavingCluster), kept: true},
		"joining":                {members: []int{1}, change: in(raft.JoiningCluster), kept: true},
		"removal_not_committed":  {members: []int{0, 1}, change: uncommitted, noted: true},
		"addition_not_committed": {members: []int{0, 1, 2, 3}, change: uncommitted, noted: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := knows(0, 1, 2, 3)
			_, first := h.Observe(Configuration{}, Observation{Database: ovndb.NB, Status: before, At: monday})
			require.Equal(t, Configuration{Server: serverID(0), Members: []string{"0000", "0001", "0002"}, Since: 11}, first)

			want := knows(0, 1, 2, 3)
			for _, i := range tt.removed {
				want = want.removed(ovndb.NB, serverID(i), "", monday)
			}
			now := statusOf(tt.members...)
			if tt.change != nil {
				tt.change(&now)
			}
			got, second := h.Observe(first, Observation{Database: ovndb.NB, Status: now, At: monday})
			assert.Equal(t, want, got)
			assert.Equal(t, knows(0, 1, 2, 3), h, "h is unchanged")
			switch {
			case tt.kept:
				assert.Equal(t, first, second)
			case tt.noted:
				assert.Equal(t, first.Members, second.Members)
				assert.Len(t, second.Changed, 1)
			default:
				assert.Empty(t, second.Changed)
				assert.Equal(t, now.Server, second.Server)
				assert.Len(t, second.Members, len(now.Servers))
			}
		})
	}
}

// R6: under a steady load some entry is always uncommitted. A change is committed once the log is committed up to its
// end at the time when the change was first seen.
func TestR8_observe_removals_under_load(t *testing.T) {
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
		{at(119, 2, 0, 1, 2), all, nil, false}, // the next leader has undone the change
		{at(130, 5, 0, 1), all, map[string]uint64{"0002": 130}, false},
		{at(126, 2, 0, 1), all, map[string]uint64{"0002": 126}, false}, // the log was cut off
		{at(127, 1, 0, 1, 3), all[:2], map[string]uint64{"0003": 127}, true},
		{at(128, 0, 0, 1, 3), []string{"0000", "0001", "0003"}, nil, true},
	}
	h, seen := knows(0, 1, 2, 3), Configuration{}
	for i, look := range looks {
		h, seen = h.Observe(seen, Observation{Database: ovndb.NB, Status: look.status, At: monday})
		since := uint64(107) // the index of the second observation
		if i == 0 {
			since = 0
		}
		require.Equal(t, Configuration{Server: serverID(0), Members: look.members, Changed: look.changed, Since: since}, seen,
			"look %d", i)
		require.Equal(t, look.removed, !h[ovndb.NB][serverID(2)].Removed.IsZero(), "look %d", i)
		require.True(t, h[ovndb.NB][serverID(3)].Removed.IsZero())
	}
}

// The removal of a member is not visible if a remaining member shares its four digits.
func TestR8_observe_shared_digits_are_not_guessed(t *testing.T) {
	t.Parallel()
	twin := serverID(2)[:4] + "ffff-1111-4222-8333-444444444444"
	h := knows(0, 1, 2)
	h.set(ovndb.NB, twin, ServerRecord{Unit: "ovn-central/7"})
	before := Configuration{Server: serverID(0), Members: []string{"0000", "0001", "0002", "0002"}}
	got, after := h.Observe(before, Observation{Database: ovndb.NB, Status: statusOf(0, 1, 2), At: monday})
	assert.Equal(t, h, got)
	assert.Equal(t, []string{"0000", "0001", "0002"}, after.Members)
}

func TestHistory_drops_oldest(t *testing.T) {
	t.Parallel()
	const gone = maxRemoved + 10
	h := knows(0, 1, 2)
	for i := range gone {
		h = h.removed(ovndb.NB, serverID(100+i), "", monday.Add(time.Duration(i)*time.Hour))
	}
	h = h.removed(ovndb.SB, sbServer, "", monday)
	before := Configuration{Server: serverID(0), Members: []string{"0000", "0001", "0002"}}
	got, _ := h.Observe(before, Observation{Database: ovndb.NB, Status: statusOf(0, 1), At: monday.AddDate(1, 0, 0)})

	assert.Len(t, got[ovndb.NB], 2+maxRemoved, "members and maxRemoved removals are kept")
	for i := range gone {
		// The one just removed is counted, too.
		assert.Equal(t, i > gone-maxRemoved, got[ovndb.NB][serverID(100+i)] != ServerRecord{}, "%d", i)
	}
	assert.Contains(t, got[ovndb.NB], serverID(2))
	assert.Equal(t, h[ovndb.SB], got[ovndb.SB])

	// Units that drop records one after the other drop the same ones.
	again, _ := got.Merge(h).Observe(before, Observation{
		Database: ovndb.NB, Status: statusOf(0, 1),
		At: monday.AddDate(1, 0, 0),
	})
	assert.Equal(t, got, again)
}

func TestConfiguration_round_trip(t *testing.T) {
	t.Parallel()
	want := Configuration{Server: nbServer, Members: []string{"0017", "13e4"}, Changed: map[string]uint64{"1e10": 12}}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	assert.JSONEq(t, `{"server":"13e4f3b0-1111-4222-8333-444444444444","members":["0017","13e4"],"changed":{"1e10":12}}`,
		string(text))
	var got Configuration
	require.NoError(t, json.Unmarshal(text, &got))
	assert.Equal(t, want, got)
}

// R8: a server that was removed before this unit saw it as a member is known as removed, since it has published an
// index at which it was a member.
func TestR8_observe_removals_of_unseen_servers(t *testing.T) {
	t.Parallel()
	other := nbCluster[:35] + "0"
	tests := map[string]struct {
		published Identity
		look      func(*raft.Status)
		removed   bool
	}{
		"member_earlier_in_log": {Identity{serverID(2), nbCluster, 9, 0}, nil, true},
		"member_at_end_of_log":  {Identity{serverID(2), nbCluster, 11, 0}, nil, true},
		"maybe_member_later":    {Identity{serverID(2), nbCluster, 12, 0}, nil, false},
		"addition_lost":         {Identity{serverID(2), nbCluster, 0, 11}, nil, true},
		"maybe_added_later":     {Identity{serverID(2), nbCluster, 0, 12}, nil, false},
		"unknown_index":         {Identity{serverID(2), nbCluster, 0, 0}, nil, false},
		"not_joined":            {Identity{serverID(2), "", 9, 0}, nil, false},
		"another_cluster":       {Identity{serverID(2), other, 9, 0}, nil, false},
		"four_digits_only":      {Identity{serverID(2)[:4], nbCluster, 9, 0}, nil, true},
		"uncommitted_removal":   {Identity{serverID(2), nbCluster, 9, 0}, uncommitted, false},
		"uncommitted_addition":  {Identity{serverID(2), nbCluster, 11, 0}, uncommitted, false},
		"no_leader":             {Identity{serverID(2), nbCluster, 9, 0}, leaderless, false},
		"cluster_is_not_known":  {Identity{serverID(2), nbCluster, 9, 0}, func(s *raft.Status) { s.Cluster = "" }, false},
		"member": {Identity{serverID(2), nbCluster, 9, 0}, func(s *raft.Status) {
			s.Servers = append(s.Servers, raft.Member{Short: serverID(2).Short()})
		}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := statusOf(0, 1)
			cluster := nbCluster
			s.Cluster = cluster
			if tt.look != nil {
				tt.look(&s)
			}
			h, seen := knows(0, 1, 2), Configuration{Server: serverID(0), Members: []string{"0000", "0001"}, Since: 3}
			published := UnitIdentities{"ovn-central/2": {ovndb.NB: tt.published}}
			h, seen = h.Observe(seen, Observation{Database: ovndb.NB, Status: s, Published: published, At: monday})
			assert.Equal(t, tt.removed, !h[ovndb.NB][serverID(2)].Removed.IsZero())
			assert.EqualValues(t, 3, seen.Since, "a server doesn't become a member twice")
			for range 2 {
				again, after := h.Observe(seen, Observation{
					Database: ovndb.NB, Status: s, Published: published,
					At: monday.Add(time.Hour),
				})
				assert.Equal(t, h, again)
				assert.Equal(t, seen, after, "nothing new, nothing to write")
			}
		})
	}
}

// For any part of the log that a server has, and any statuses that it missed: a server that is recorded as removed
// was removed in that part, and every former member there, by its published index, is recorded.
func TestR8_observe_every_log(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		const servers = 6
		cluster := nbCluster
		// The configuration at each index, and when each server was added and removed.
		var log [][]int
		var came, went [servers]int
		members := []int{0, 1}
		came[0], came[1] = 1, 1
		log = append(log, nil, members)
		for next := 2; len(log) < 30; log = append(log, members) {
			switch rapid.IntRange(0, 3).Draw(t, "entry") {
			case 0:
				if next < servers {
					members = append(slices.Clone(members), next)
					came[next] = len(log)
					next++
				}
			case 1:
				if len(members) > 1 {
					i := rapid.IntRange(1, len(members)-1).Draw(t, "who")
					went[members[i]] = len(log)
					members = slices.Delete(slices.Clone(members), i, i+1)
				}
			}
		}
		published := UnitIdentities{}
		for i := range servers {
			if came[i] == 0 || !rapid.Bool().Draw(t, "publishes") {
				continue
			}
			last := len(log) - 1
			if went[i] > 0 {
				last = went[i] - 1
			}
			since := rapid.IntRange(came[i], last).Draw(t, "since")
			published[serverID(i).Short()] = Identities{ovndb.NB: {
				Server: serverID(i), Cluster: nbCluster,
				Since: uint64(since),
			}}
		}
		h, seen, committed := knows(0, 1, 2, 3, 4, 5), Configuration{}, 1
		for range rapid.IntRange(1, 6).Draw(t, "looks") {
			committed = rapid.IntRange(committed, len(log)-1).Draw(t, "committed")
			end := rapid.IntRange(committed, len(log)-1).Draw(t, "last")
			s := statusOf(log[end]...)
			s.Cluster, s.Log.End, s.NotCommitted = cluster, uint64(end)+1, uint64(end-committed)
			h, seen = h.Observe(seen, Observation{Database: ovndb.NB, Status: s, Published: published, At: monday})
			for i := range servers {
				noted := !h[ovndb.NB][serverID(i)].Removed.IsZero()
				gone := went[i] > 0 && went[i] <= committed
				require.False(t, noted && !gone, "server %d is noted", i)
				since := published[serverID(i).Short()][ovndb.NB].Since
				require.False(t, gone && end == committed && since > 0 && !noted, "server %d is not noted", i)
			}
		}
	})
}
