package raft

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// R0: the members that are up in captured states.
func TestR0_leader_needs_message_and_log(t *testing.T) {
	t.Parallel()
	for file, up := range map[string]string{
		"nb-3member-leader": "c14a 7d80 6e62", "sb-3member-leader-long-idle": "4126 7ee0 8631",
		"nb-ipv6-leader": "all", "ovs36-nb-leader": "all", "nb-leader-after-transfer": "all",
		"nb-peer-while-other-is-leaving": "6afe 3b64 43a8", "nb-single-server": "3d68",
		"nb-leader-adding-committing": "5e39 26c4 05be d2c5", "nb-leader-two-removals-pending": "2695 0c7b 3680 e880",
		"nb-leader-one-of-three-dead": "3494 847c", "sb-5member-leader-one-dead": "6c29 617e 5bb3 a00e",
		"nb-leader-stale-and-new-same-address": "7f3d 697f 8db1", "nb-leader-with-disk-full-follower": "42d4 e1f0",
	} {
		s := captureStatus(t, file)
		if up == "all" {
			up = strings.Join(s.shortIDs(), " ")
		}
		checkPeers(t, View{Status: s}, strings.Fields(up))
	}
	const three, full = "nb-3member-leader", "nb-leader-with-disk-full-follower"
	for name, tt := range map[string]struct {
		file, member string
		edit         func(*Status, *Member)
		reference    uint64
		up           string
	}{
		"full disk, messages continue": {full, "c3c1", func(_ *Status, m *Member) { m.LastMsg = new(ms(5)) }, 0, "42d4 e1f0"},
		"not behind a reference": {
			full, "c3c1", func(_ *Status, m *Member) { m.LastMsg = new(ms(5)) }, 5, "c3c1 42d4 e1f0",
		},
		"one entry behind": {full, "c3c1", func(_ *Status, m *Member) { m.LastMsg = new(ms(5)) }, 6, "42d4 e1f0"},
		"killed a moment ago": {
			"nb-leader-one-of-three-dead", "ca3c",
			func(s *Status, m *Member) { s.ElectionTimer, m.Match = 16*time.Second, new(uint64(11)) }, 0, "3494 847c",
		},
		"no index":        {three, "c14a", func(_ *Status, m *Member) { m.Match = nil }, 0, "7d80 6e62"},
		"no message":      {three, "c14a", func(_ *Status, m *Member) { m.LastMsg = nil }, 0, "7d80 6e62"},
		"message too old": {three, "c14a", func(_ *Status, m *Member) { m.LastMsg = new(ms(1000)) }, 0, "7d80 6e62"},
		"message in time": {three, "c14a", func(_ *Status, m *Member) { m.LastMsg = new(ms(999)) }, 0, "7d80 6e62 c14a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := captureStatus(t, tt.file)
			tt.edit(&s, rowOf(t, &s, tt.member))
			checkPeers(t, View{Status: s, CommitIndexFloor: tt.reference}, strings.Fields(tt.up))
		})
	}
}

// checkPeers checks that only these members are up, and that all others have a reason.
func checkPeers(t *testing.T, v View, up []string) {
	t.Helper()
	peers := v.Peers()
	require.Len(t, peers, len(v.Status.Servers))
	var got []string
	for _, p := range peers {
		assert.Equal(t, p.Up, p.Why.IsZero(), p.Short)
		if p.Up {
			got = append(got, p.Short)
		}
	}
	assert.ElementsMatch(t, up, got)
}

func TestPeers_reasons(t *testing.T) {
	t.Parallel()
	seen := func(file string, edit func(*Status, *View)) (v View) {
		v.Status = captureStatus(t, file)
		edit(&v.Status, &v)
		return v
	}
	as := func(file string) View { return seen(file, func(*Status, *View) {}) }
	full := seen("nb-leader-with-disk-full-follower",
		func(s *Status, _ *View) { rowOf(t, s, "c3c1").LastMsg = new(ms(5)) })
	fuller := full
	fuller.CommitIndexFloor = 6
	five := seen("sb-5member-follower-one-dead", func(s *Status, v *View) {
		v.Probes = answers(t, *s, "617e", "5bb3")
		v.Probes[0].Connected, v.Probes[1].Cluster = false, someCluster
	})
	closed := seen("nb-port-closed-of-two-closed", func(s *Status, v *View) {
		v.Probes = answers(t, *s, "913c", "3acd")
	})
	only := func(code finding.ReasonCode) finding.Reason { return finding.Reason{Code: code} }
	for _, tt := range []struct {
		view  View
		short string
		why   finding.Reason
	}{
		{
			as("nb-leader-one-of-three-dead"), "ca3c",
			finding.Reason{Code: finding.MemberSilent, Age: ms(3053), Limit: time.Second},
		},
		{full, "c3c1", finding.Reason{Code: finding.MemberBehind, Count: 2}},
		{fuller, "c3c1", finding.Reason{Code: finding.MemberBehind, Count: 1}},
		{
			seen("nb-leader-one-of-three-dead", func(s *Status, _ *View) { s.ElectionTimer = time.Minute }), "ca3c",
			only(finding.MemberDisconnected),
		},
		{
			seen("nb-3member-leader", func(s *Status, _ *View) { rowOf(t, s, "c14a").LastMsg = nil }), "c14a",
			only(finding.MemberUnheard),
		},
		{as("nb-just-restarted-alone"), "b72b", only(finding.MemberLeaderless)},
		{five, "431d", only(finding.MemberUnconnected)},
		{five, "a00e", only(finding.MemberUnanswering)},
		{five, "617e", only(finding.MemberCutOff)},
		{five, "5bb3", only(finding.MemberElsewhere)},
		{as("nb-port-closed-of-one-leader"), "78a0", only(finding.MemberUnreached)},
		{as("nb-port-closed-of-two-leader"), "913c", only(finding.MemberApart)},
		{closed, "3acd", only(finding.MemberUnlinked)},
		{closed, "913c", only(finding.MemberUnreaching)},
	} {
		i := slices.IndexFunc(tt.view.Status.Servers, func(m Member) bool { return m.Short == tt.short })
		assert.Equal(t, tt.why, tt.view.Peers()[i].Why)
	}
}

func TestPeers_full_disk_is_down(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"nb-3member-leader", "nb-3member-follower2"} {
		v := View{Status: captureStatus(t, file)}
		before := v.Quorum()
		v.Full = true
		self := v.Peers()[slices.IndexFunc(v.Status.Servers, func(m Member) bool { return m.Self })]
		assert.Equal(t, []any{false, true, finding.MemberDiskFull}, []any{self.Up, self.Noted, self.Why.Code})
		if v.Status.Role == Leader {
			assert.Equal(t, Quorum{Members: before.Members, Up: before.Up - 1}, v.Quorum())
		}
	}
}

func TestStored_leader_that_cannot_store(t *testing.T) {
	t.Parallel()
	for file, stored := range map[string]uint64{"nb-single-fsync-failed": 3, "nb-single-server": 3} {
		s := captureStatus(t, file)
		entry, known := s.Stored()
		assert.True(t, known, file)
		assert.Equal(t, stored, entry, file)
		assert.Equal(t, file == "nb-single-server", entry == s.Log.End-1, "the last of those that it has: %s", file)
	}
	_, known := captureStatus(t, "nb-3member-follower2").Stored()
	assert.False(t, known, "a follower has no such row")
}

func TestSameMembers_any_order(t *testing.T) {
	of := func(short ...string) (s Status) {
		for _, id := range short {
			s.Servers = append(s.Servers, Member{Short: id})
		}
		return s
	}
	assert.True(t, of("aa00", "aa01").SameMembers(of("aa01", "aa00")))
	assert.False(t, of("aa00", "aa01").SameMembers(of("aa00")))
	assert.False(t, of("aa00", "aa01").SameMembers(of("aa00", "aa02")))
}

// R0: a member that has lost entries acknowledges them, so it counts as down for all.
func TestR0_lost_entries_is_down(t *testing.T) {
	t.Parallel()
	up := []bool{true, true, true}
	for name, leader := range map[string]int{
		"on the leader": 0, "on a follower": 1, "on a follower of the member itself": 2,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := viewOf(leader, up)
			v.Lost = []ID{memberID(2)}
			p := v.Peers()[2]
			assert.False(t, p.Up)
			assert.Equal(t, finding.MemberLostEntries, p.Why.Code)
			assert.Equal(t, Quorum{Members: 3, Up: 2}, v.Quorum(), "there is still a leader")
			assert.Zero(t, v.Quorum().Tolerance())

			// No other member may leave or stop; this one may.
			require.NotNil(t, PlanLeave(Change{View: v, Target: string(memberID(1))}).Refusal)
			restart := PlanRestart(Change{View: v})
			require.NotNil(t, restart.Refusal)
			assert.Equal(t, finding.QuorumWouldBeLost, restart.Refusal.Code)
			kick := PlanKick(Change{View: v, Target: string(memberID(2))})
			require.NotNil(t, kick.Refusal)
			assert.Equal(t, finding.MemberIsLive, kick.Refusal.Code, "others may still count on it")
			assert.Nil(t, PlanKick(Change{View: v, Target: string(memberID(2)), Permit: PermitForce}).Refusal)
		})
	}
	own := viewOf(1, up)
	own.Lost = []ID{memberID(0)}
	assert.Equal(t, Quorum{Members: 3, Up: 2}, own.Quorum(), "its own unit says the same")
	assert.Nil(t, PlanLeave(Change{View: own, Target: string(memberID(0))}).Refusal)
	assert.Equal(t, Quorum{Members: 3, Up: 2}, PlanRestart(Change{View: own}).After, "it is not taken down twice")

	dead := viewOf(0, []bool{true, true, false})
	dead.Lost = []ID{memberID(2)}
	assert.Nil(t, PlanKick(Change{View: dead, Target: string(memberID(2))}).Refusal,
		"a dead member needs no force")
}

// R0: unknown counts as down. Less knowledge never makes a member count as up, or adds a majority.
func TestR0_unknown_is_down(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 7).Draw(t, "members")
		leader := rapid.IntRange(noLeader, n-1).Draw(t, "leader")
		v := viewOf(leader, pattern(rapid.IntRange(0, 1<<n-1).Draw(t, "up")|1, n))
		more := v.Peers()
		before := v.Quorum()

		i := rapid.IntRange(0, n-1).Draw(t, "member")
		m := &v.Status.Servers[i]
		switch rapid.IntRange(0, 5).Draw(t, "what is not known") {
		case 0:
			m.LastMsg = nil
		case 1:
			m.Match = nil
		case 2:
			v.Probes = slices.DeleteFunc(v.Probes, func(a ProbeResult) bool { return a.Address == m.Address })
		case 3:
			v.Status.Connections = slices.DeleteFunc(v.Status.Connections, func(c Connection) bool { return c.Peer == m.Short })
		case 4:
			v.Status.Leader = UnknownRef
		case 5:
			for j := range v.Probes {
				if v.Probes[j].Address == m.Address {
					v.Probes[j].Connected, v.Probes[j].Cluster = false, ""
				}
			}
		}
		for j, p := range v.Peers() {
			require.False(t, p.Up && !more[j].Up, "%s came up", p.Short)
		}
		require.LessOrEqual(t, v.Quorum().Up, before.Up)
	})
}

func TestHasLeader_needs_more_than_name(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		change func(*Status)
		want   bool
	}{
		"a follower of a leader":            {func(*Status) {}, true},
		"no name":                           {func(s *Status) { s.Leader = "" }, false},
		"unknown":                           {func(s *Status) { s.Leader = UnknownRef }, false},
		"a candidate that still names one":  {func(s *Status) { s.Role = Candidate }, false},
		"disconnected, and still names one": {func(s *Status) { s.State = Disconnected }, false},
	}
	for name, tt := range tests {
		s := viewOf(1, allUp(3)).Status
		tt.change(&s)
		assert.Equal(t, tt.want, s.HasLeader(), name)
	}
}

func TestCommitted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		log          Log
		notCommitted uint64
		want         uint64
	}{
		"all of them":         {Log{2, 12}, 0, 11},
		"all but one":         {Log{2, 12}, 1, 10},
		"none":                {Log{1, 1}, 0, 0},
		"fewer than none":     {Log{2, 4}, 4, 0},
		"an empty log":        {Log{0, 0}, 0, 0},
		"more than there are": {Log{2, 12}, math.MaxUint64, 0},
		"up to the snapshot":  {Log{1000, 1003}, 3, 999},
	}
	for name, tt := range tests {
		assert.Equal(t, tt.want, Status{Log: tt.log, NotCommitted: tt.notCommitted}.Committed(), name)
	}
}

// A leader under load is observed again until all its connected members have stored the entries that were committed
// before.
func TestLagging(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		leader    int
		change    func(*Status)
		reference uint64
		want      bool
	}{
		"all keep up":          {0, func(*Status) {}, 11, false},
		"one is behind":        {0, func(s *Status) { s.Servers[1].Match = new(uint64(10)) }, 11, true},
		"behind_later_entries": {0, func(s *Status) { s.Servers[1].Match = new(uint64(10)) }, 10, false},
		"one has no index":     {0, func(s *Status) { s.Servers[2].Match = nil }, 11, true},
		"the one behind is not heard": {0, func(s *Status) {
			s.Servers[1].Match, s.Servers[1].LastMsg = new(uint64(1)), new(time.Minute)
		}, 11, false},
		"the leader's own index":      {0, func(s *Status) { s.Servers[0].Match = new(uint64(1)) }, 11, false},
		"a follower knows no indexes": {1, func(*Status) {}, 11, false},
	}
	for name, tt := range tests {
		s := viewOf(tt.leader, allUp(3)).Status
		tt.change(&s)
		assert.Equal(t, tt.want, s.Lagging(tt.reference), name)
	}
}

// A joining server still asks to be added; a leaving one, and one that has left, is no member by its own log.
func TestStatus_lists_itself_without_leader(t *testing.T) {
	t.Parallel()
	for state, want := range map[MemberState]bool{
		ClusterMember: true, Disconnected: true, JoiningCluster: false, LeavingCluster: false, LeftCluster: false,
	} {
		assert.Equal(t, want, Status{State: state, Leader: UnknownRef, Role: Follower}.ListsItself(), state)
	}
	assert.False(t, Status{State: ClusterMember, Leader: "aa01", Role: Follower}.ListsItself())
}
