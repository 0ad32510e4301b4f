package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMajorityIsMoreThanHalf(t *testing.T) {
	t.Parallel()
	for n := range 10 {
		m := Majority(n)
		assert.Greater(t, 2*m, n, "%d of %d", m, n)
		assert.LessOrEqual(t, 2*(m-1), n, "one less than %d of %d", m, n)
	}
}

func TestQuorum_tolerance(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		q         Quorum
		holds     bool
		tolerance int
	}{
		"0 of 0 up, 1 needed": {Quorum{Members: 0, Up: 0}, false, -1},
		"0 of 1 up, 1 needed": {Quorum{Members: 1, Up: 0}, false, -1},
		"1 of 1 up, 1 needed": {Quorum{Members: 1, Up: 1}, true, 0},
		"1 of 2 up, 2 needed": {Quorum{Members: 2, Up: 1}, false, -1},
		"2 of 2 up, 2 needed": {Quorum{Members: 2, Up: 2}, true, 0},
		"1 of 3 up, 2 needed": {Quorum{Members: 3, Up: 1}, false, -1},
		"2 of 3 up, 2 needed": {Quorum{Members: 3, Up: 2}, true, 0},
		"3 of 3 up, 2 needed": {Quorum{Members: 3, Up: 3}, true, 1},
		"3 of 4 up, 3 needed": {Quorum{Members: 4, Up: 3}, true, 0},
		"4 of 4 up, 3 needed": {Quorum{Members: 4, Up: 4}, true, 1},
		"2 of 5 up, 3 needed": {Quorum{Members: 5, Up: 2}, false, -1},
		"5 of 5 up, 3 needed": {Quorum{Members: 5, Up: 5}, true, 2},
		"7 of 7 up, 4 needed": {Quorum{Members: 7, Up: 7}, true, 3},
		"0 of 7 up, 4 needed": {Quorum{Members: 7, Up: 0}, false, -4},
	}
	for text, tt := range tests {
		assert.Equal(t, tt.holds, tt.q.Holds(), text)
		assert.Equal(t, tt.tolerance, tt.q.Tolerance(), text)
		assert.Equal(t, text, tt.q.String())
	}
}

func TestQuorumOfCapturedStates(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		file     string
		answers  []string
		leaderUp bool
		want     Quorum
	}{
		"a leader":                          {"nb-3member-leader", nil, true, Quorum{Members: 3, Up: 3}},
		"a leader with one dead":            {"nb-leader-one-of-three-dead", nil, true, Quorum{Members: 3, Up: 2}},
		"a leader with a full disk beside":  {"nb-leader-with-disk-full-follower", nil, true, Quorum{Members: 3, Up: 2}},
		"a leader of five with one dead":    {"sb-5member-leader-one-dead", nil, true, Quorum{Members: 5, Up: 4}},
		"the only member":                   {"nb-single-server", nil, true, Quorum{Members: 1, Up: 1}},
		"the only member, which is leaving": {"nb-single-after-leave", nil, false, Quorum{Members: 1, Up: 0}},
		"a follower":                        {"nb-3member-follower2", []string{"c14a", "7d80"}, true, Quorum{Members: 3, Up: 3}},
		"a follower of five with one dead":  {"sb-5member-follower-one-dead", []string{"617e", "5bb3", "a00e"}, true, Quorum{Members: 5, Up: 4}},
		"follower_of_hung_leader":           {"sb-5member-follower-one-dead", []string{"617e", "5bb3"}, false, Quorum{Members: 5, Up: 0}},
		"follower_without_answers":          {"nb-3member-follower2", nil, false, Quorum{Members: 3, Up: 0}},
		"a follower that knows no leader":   {"nb-follower-leader-unknown-voted-other", []string{"c2ed", "7206", "3253"}, false, Quorum{Members: 4, Up: 0}},
		"a candidate whom others answer":    {"nb-candidate-with-votes", []string{"b72b"}, false, Quorum{Members: 3, Up: 0}},
		"a leader that lost the majority":   {"nb-ex-leader-no-quorum", nil, false, Quorum{Members: 3, Up: 0}},
		"removed_while_down":                {"nb-kicked-while-down-then-restarted", []string{"c712", "8938"}, false, Quorum{Members: 3, Up: 0}},
		"joining":                           {"nb-joining-remote-unreachable", nil, false, Quorum{Members: 0, Up: 0}},
		"joining_with_leader":               {"nb-joining-learned-cid", nil, false, Quorum{Members: 3, Up: 0}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := captureStatus(t, tt.file)
			v := View{Status: s, Probes: answers(t, s, tt.answers...)}
			assert.Equal(t, tt.leaderUp, v.LeaderUp())
			assert.Equal(t, tt.want, v.Quorum())
		})
	}
}

// Two members share the leader's four digits: which of them leads is unknown, so both must be up.
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

// Without a leader that is up, nothing can be committed.
func TestLeaderUp_down_leader(t *testing.T) {
	t.Parallel()
	for n := 2; n <= 7; n++ {
		v := viewOf(1, allUp(n, 1))
		assert.False(t, v.LeaderUp())
		assert.Equal(t, Quorum{Members: n, Up: 0}, v.Quorum())

		v = viewOf(1, allUp(n))
		assert.True(t, v.LeaderUp())
		assert.Equal(t, Quorum{Members: n, Up: n}, v.Quorum())
	}
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
		"no answers":                    {nil, 0},
		"both others":                   {[]ProbeResult{answer(b, whole), answer(c, whole)}, 2},
		"one is out of touch":           {[]ProbeResult{answer(b, whole), answer(c, func(a *ProbeResult) { a.Connected = false })}, 1},
		"one is of another cluster":     {[]ProbeResult{answer(b, whole), answer(c, func(a *ProbeResult) { a.Cluster = "c2" })}, 1},
		"another has taken an address":  {[]ProbeResult{answer(b, whole), answer(c, func(a *ProbeResult) { a.Server = "aa03" })}, 1},
		"one answers at a former place": {[]ProbeResult{answer(b, whole), answer(c, func(a *ProbeResult) { a.Address = "tcp:10.0.0.9:6643" })}, 1},
	} {
		assert.Equal(t, Quorum{Members: 3, Up: test.up}, QuorumWithout(members, cluster, test.answers), name)
	}
}
