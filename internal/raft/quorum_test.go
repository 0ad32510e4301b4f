package raft

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestQuorum_tolerance(t *testing.T) {
	t.Parallel()
	numbers := regexp.MustCompile(`\d+`)
	for _, tt := range []struct {
		q         Quorum
		majority  int
		holds     bool
		tolerance int
	}{
		{Quorum{Members: 0, Up: 0}, 1, false, -1},
		{Quorum{Members: 1, Up: 0}, 1, false, -1},
		{Quorum{Members: 1, Up: 1}, 1, true, 0},
		{Quorum{Members: 2, Up: 2}, 2, true, 0},
		{Quorum{Members: 3, Up: 1}, 2, false, -1},
		{Quorum{Members: 3, Up: 2}, 2, true, 0},
		{Quorum{Members: 4, Up: 3}, 3, true, 0},
		{Quorum{Members: 5, Up: 2}, 3, false, -1},
		{Quorum{Members: 7, Up: 0}, 4, false, -4},
	} {
		text := tt.q.String()
		assert.Equal(t, tt.holds, tt.q.Holds(), text)
		assert.Equal(t, tt.tolerance, tt.q.Tolerance(), text)
		assert.Equal(t, tt.majority, Majority(tt.q.Members), text)
		shown := fmt.Sprint(numbers.FindAllString(text, -1))
		assert.Equal(t, fmt.Sprint([]int{tt.q.Up, tt.q.Members, tt.majority}), shown)
	}
}

// If no leader answers, no member counts as up.
func TestQuorum_without_leader(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file, answers string
		members       int
	}{
		{"nb-single-after-leave", "", 1},
		{"sb-5member-follower-one-dead", "617e 5bb3", 5}, // the leader hangs
		{"nb-3member-follower2", "", 3},
		{"nb-follower-leader-unknown-voted-other", "c2ed 7206 3253", 4},
		{"nb-candidate-with-votes", "b72b", 3},
		{"nb-ex-leader-no-quorum", "", 3},
		{"nb-kicked-while-down-then-restarted", "c712 8938", 3},
		{"nb-joining-remote-unreachable", "", 0},
		{"nb-joining-learned-cid", "", 3},
	} {
		s := captureStatus(t, tt.file)
		v := View{Status: s, Probes: answers(t, s, strings.Fields(tt.answers)...)}
		assert.False(t, v.LeaderUp(), tt.file)
		assert.Equal(t, Quorum{Members: tt.members}, v.Quorum(), tt.file)
	}
	led := View{Status: captureStatus(t, "nb-leader-with-disk-full-follower")}
	assert.True(t, led.LeaderUp())
	assert.Equal(t, Quorum{Members: 3, Up: 2}, led.Quorum())
}

// If two members share the leader's four digits, both must be up.
func TestLeader_shared_digits(t *testing.T) {
	t.Parallel()
	v, answering, silent := twins(1)
	require.Equal(t, Ref(silent.Short()), v.Status.Leader)
	assert.False(t, v.LeaderUp())
	v.Probes = append(v.Probes, answerOf(v.Status.Servers[2], silent, someCluster))
	assert.True(t, v.LeaderUp())
	v.Probes = v.Probes[1:]
	assert.False(t, v.LeaderUp(), "without %s", answering)
}

func TestQuorumWithout(t *testing.T) {
	const cluster, self, b, c = ID("c1"), ID("aa00"), ID("aa01"), ID("aa02")
	members := map[ID]string{self: "tcp:10.0.0.1:6643", b: "tcp:10.0.0.2:6643", c: "tcp:10.0.0.3:6643"}
	answer := func(id ID, change func(*ProbeResult)) ProbeResult {
		a := ProbeResult{Address: members[id], Server: id, Cluster: cluster, Connected: true}
		change(&a)
		return a
	}
	whole := func(*ProbeResult) {}
	t.Parallel()
	for name, test := range map[string]struct {
		answers []ProbeResult
		up      int
	}{
		"no answers":  {nil, 0},
		"both others": {[]ProbeResult{answer(b, whole), answer(c, whole)}, 2},
		"one is out of touch": {
			[]ProbeResult{answer(b, whole), answer(c, func(a *ProbeResult) { a.Connected = false })}, 1,
		},
		"one is of another cluster": {
			[]ProbeResult{answer(b, whole), answer(c, func(a *ProbeResult) { a.Cluster = "c2" })}, 1,
		},
		"another has taken an address": {
			[]ProbeResult{answer(b, whole), answer(c, func(a *ProbeResult) { a.Server = "aa03" })}, 1,
		},
		"one answers at a former place": {
			[]ProbeResult{answer(b, whole), answer(c, func(a *ProbeResult) { a.Address = "tcp:10.0.0.9:6643" })}, 1,
		},
	} {
		assert.Equal(t, Quorum{Members: 3, Up: test.up}, QuorumWithout(members, cluster, test.answers), name)
	}
}

// The texts are those of three servers. iptables has closed port 6643 of 78a0, and then also of 3acd, which joined
// through both others.
func TestGraph_one_direction(t *testing.T) {
	t.Parallel()
	const leader, closed, other = "913c", "78a0", "3acd"
	at := func(host string) string { return "ssl:10.99.0." + host + ":6643" }
	tests := map[string]struct {
		file    string
		reached []string
		links   map[string]Link
		up      []string
		quorum  Quorum
		// leaves are the members that may leave, by this status.
		leaves []string
	}{
		"one/leader": {
			file: "nb-port-closed-of-one-leader", links: map[string]Link{closed: {From: true}, other: {From: true, To: true}},
			up: []string{leader, other}, quorum: Quorum{Members: 3, Up: 2}, leaves: []string{closed},
		},
		"one/itself": {
			file: "nb-port-closed-of-one-closed", links: map[string]Link{leader: {To: true}, other: {To: true}},
			up: []string{leader, other}, quorum: Quorum{Members: 3, Up: 2}, leaves: []string{closed},
		},
		"one/other": {
			file: "nb-port-closed-of-one-other", reached: []string{at("10")}, links: map[string]Link{
				leader: {From: true, To: true}, closed: {From: true},
			},
			up: []string{leader, other}, quorum: Quorum{Members: 3, Up: 2}, leaves: []string{closed},
		},
		"one/other_without_the_system's_word": {
			file: "nb-port-closed-of-one-other", links: map[string]Link{leader: {From: true}, closed: {From: true}},
			quorum: Quorum{Members: 3, Held: true},
		},
		"two/leader": {
			file: "nb-port-closed-of-two-leader", links: map[string]Link{closed: {From: true}, other: {From: true}},
			quorum: Quorum{Members: 3, Held: true},
		},
		"two/itself": {
			file: "nb-port-closed-of-two-closed", links: map[string]Link{leader: {To: true}, other: {}},
			quorum: Quorum{Members: 3, Held: true},
		},
		"two/itself_after_a_join": {
			file: "nb-port-closed-of-two-closed2", reached: []string{at("10")}, links: map[string]Link{
				leader: {To: true}, closed: {},
			},
			quorum: Quorum{Members: 3, Held: true},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := captureStatus(t, tt.file)
			v := View{Status: s, Reached: tt.reached}
			for _, m := range s.Servers {
				if s.Role != Leader && !m.Self {
					v.Probes = append(v.Probes, answers(t, s, m.Short)...)
				}
			}
			for i, m := range s.Servers {
				assert.Equal(t, tt.links[m.Short], s.Graph(tt.reached).Links[i], m.Short)
			}
			checkPeers(t, v, tt.up)
			assert.Equal(t, tt.quorum, v.Quorum())
			assert.Equal(t, 0, v.Quorum().Tolerance())
			assert.True(t, v.LeaderUp())
			assert.True(t, s.HearsLeader())
			var leaves []string
			for _, m := range s.Servers {
				if refusal := PlanLeave(Change{Database: ovndb.NB, View: v, Target: m.Short}).Refusal; refusal == nil {
					leaves = append(leaves, m.Short)
				} else {
					assert.Equal(t, finding.QuorumWouldBeLost, refusal.Code)
					assert.Empty(t, refusal.Args.Down)
					require.NotEmpty(t, refusal.Args.OneWay, m.Short)
					assert.False(t, refusal.Args.OneWay[0].Reason.IsZero())
				}
				if !m.Self {
					kick := PlanKick(Change{Database: ovndb.NB, View: v, Target: m.Short}).Refusal
					require.NotNil(t, kick, m.Short)
					assert.Equal(t, finding.MemberIsLive, kick.Code)
				}
			}
			assert.Equal(t, tt.leaves, leaves)
		})
	}
}

func TestWithMajority(t *testing.T) {
	t.Parallel()
	both, from, to := Link{From: true, To: true}, Link{From: true}, Link{To: true}
	tests := map[string]struct {
		links  []Link
		serves string
		want   string
	}{
		"all_connected":                     {[]Link{{}, both, both}, "yyy", "yyy"},
		"one_down":                          {[]Link{{}, both, {}}, "yyn", "yyn"},
		"majority_down":                     {[]Link{{}, {}, {}}, "ynn", "ynn"},
		"two_members/one_closed":            {[]Link{{}, from}, "yy", "nn"},
		"three_members/one_closed":          {[]Link{{}, from, both}, "yyy", "yny"},
		"three_members/itself_closed":       {[]Link{{}, to, to}, "yyy", "nyy"},
		"three_members/one_closed_one_down": {[]Link{{}, from, {}}, "yyn", "nnn"},
		"five_members/two_closed":           {[]Link{{}, from, from, both, both}, "yyyyy", "ynnyy"},
		"five_members/itself_and_one_down":  {[]Link{{}, to, to, to, {}}, "yyyyn", "nyyyn"},
		"five_members/three_closed":         {[]Link{{}, from, from, from, both}, "yyyyy", "nnnnn"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serves, got := make([]bool, len(tt.serves)), ""
			for i, c := range tt.serves {
				serves[i] = c == 'y'
			}
			for _, with := range (Graph{Links: tt.links}).withMajority(serves) {
				got += map[bool]string{true: "y", false: "n"}[with]
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestPatience_covers_measurements(t *testing.T) {
	const mib = 1 << 20
	tests := map[string]struct {
		base       time.Duration
		size       int64
		least, max time.Duration
	}{
		"small":                     {10 * time.Second, mib, 10 * time.Second, 10 * time.Second},
		"unknown":                   {10 * time.Second, 0, 10 * time.Second, 10 * time.Second},
		"nonsense":                  {10 * time.Second, -1, 10 * time.Second, 10 * time.Second},
		"a compaction at 160 MiB":   {5 * time.Second, 160 * mib, 30 * time.Second, time.Minute},
		"an exit at 350 MiB":        {10 * time.Second, 350 * mib, 20 * time.Second, 2 * time.Minute},
		"a join at 450 MiB":         {30 * time.Second, 450 * mib, time.Minute, 3 * time.Minute},
		"no size makes it for ever": {time.Second, math.MaxInt64, 3 * time.Minute, 4 * time.Minute},
	}
	for name, test := range tests {
		got := Patience(test.base, test.size)
		assert.GreaterOrEqual(t, got, test.least, name)
		assert.LessOrEqual(t, got, test.max, name)
	}
}
