package raft

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

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
			v.Probes = drop(v.Probes, func(a ProbeResult) bool { return a.Address == m.Address })
		case 3:
			v.Status.Connections = drop(v.Status.Connections, func(c Connection) bool { return c.Peer == m.Short })
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

func drop[T any](all []T, unwanted func(T) bool) []T {
	var kept []T
	for _, x := range all {
		if !unwanted(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

func TestHasLeader_captured_states(t *testing.T) {
	t.Parallel()
	without := map[string]bool{
		"nb-2member-other-dead-leaving.txt": true, "nb-candidate-alone.txt": true, "nb-candidate-with-votes.txt": true,
		"nb-ex-leader-no-quorum.txt": true, "nb-follower-leader-unknown-voted-other.txt": true,
		"nb-joining-remote-unreachable.txt": true, "nb-joining-wrong-cid.txt": true,
		"nb-just-restarted-alone.txt": true, "nb-kicked-while-down-then-restarted.txt": true,
		"nb-leader-kick-no-quorum.txt": true, "nb-no-quorum-candidate-survivor.txt": true, "nb-no-quorum-leaving.txt": true,
		"nb-restarted-after-being-removed-while-down.txt": true, "nb-single-after-leave.txt": true, "ovs36-nb-single-leaving.txt": true,
	}
	statuses, _ := captures(t)
	for _, name := range statuses {
		s, err := Parse(capture(t, name))
		require.NoError(t, err)
		assert.Equal(t, !without[name], s.HasLeader(), name)
	}
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

// A leader under load is observed again until all its connected members have stored what was committed before.
func TestLagging(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		leader    int
		change    func(*Status)
		reference uint64
		want      bool
	}{
		"everybody keeps up":   {0, func(*Status) {}, 11, false},
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
