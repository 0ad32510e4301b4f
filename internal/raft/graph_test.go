package raft

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The texts are from three servers, with port 6643 of first one and then two of them closed by iptables: 78a0, and
// 3acd, which joined through both others.
func TestGraph_one_direction(t *testing.T) {
	t.Parallel()
	const leader, closed, other = "913c", "78a0", "3acd"
	at := func(host string) string { return "ssl:10.99.0." + host + ":6643" }
	tests := map[string]struct {
		file    string
		reached []string
		links   map[string]Link
		up      []string
		why     map[string]string
		quorum  Quorum
		// leaves are the members that may leave, as judged here.
		leaves []string
	}{
		"one/leader": {
			file: "nb-port-closed-of-one-leader", links: map[string]Link{closed: {From: true}, other: {From: true, To: true}},
			up: []string{leader, other}, why: map[string]string{closed: whyNoWayThere}, quorum: Quorum{Members: 3, Up: 2}, leaves: []string{closed},
		},
		"one/itself": {
			file: "nb-port-closed-of-one-closed", links: map[string]Link{leader: {To: true}, other: {To: true}},
			up: []string{leader, other}, why: map[string]string{closed: whyOneWay}, quorum: Quorum{Members: 3, Up: 2}, leaves: []string{closed},
		},
		"one/other": {
			file: "nb-port-closed-of-one-other", reached: []string{at("10")}, links: map[string]Link{leader: {From: true, To: true}, closed: {From: true}},
			up: []string{leader, other}, why: map[string]string{closed: whyNoWayThere}, quorum: Quorum{Members: 3, Up: 2}, leaves: []string{closed},
		},
		"one/other_without_the_system's_word": {
			file: "nb-port-closed-of-one-other", links: map[string]Link{leader: {From: true}, closed: {From: true}},
			why: map[string]string{leader: whyNoWayThere, closed: whyNoWayThere, other: whyOneWay}, quorum: Quorum{Members: 3, Held: true},
		},
		"two/leader": {
			file: "nb-port-closed-of-two-leader", links: map[string]Link{closed: {From: true}, other: {From: true}},
			why: map[string]string{leader: whyOneWay, closed: whyNoWayThere, other: whyNoWayThere}, quorum: Quorum{Members: 3, Held: true},
		},
		"two/itself": {
			file: "nb-port-closed-of-two-closed", links: map[string]Link{leader: {To: true}, other: {}},
			why: map[string]string{leader: whyNoWayHere, closed: whyOneWay, other: whyNoWay}, quorum: Quorum{Members: 3, Held: true},
		},
		"two/itself_after_a_join": {
			file: "nb-port-closed-of-two-closed2", reached: []string{at("10")}, links: map[string]Link{leader: {To: true}, closed: {}},
			why: map[string]string{leader: whyNoWayHere, closed: whyNoWay, other: whyOneWay}, quorum: Quorum{Members: 3, Held: true},
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
			checkPeers(t, v, tt.up, tt.why)
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
					assert.NotEmpty(t, refusal.Args.OneWay[0].Why)
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
