package raft

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// R0: a member needs a connection and an answer. In the capture 431d is dead, and a00e leads.
func TestR0_follower_needs_connection_and_answer(t *testing.T) {
	t.Parallel()
	five := captureStatus(t, "sb-5member-follower-one-dead")
	rest := []string{"617e", "5bb3", "a00e"}
	// but returns the answers in rest, with one changed.
	but := func(i int, change func(*ProbeResult)) []ProbeResult {
		all := answers(t, five, rest...)
		change(&all[i])
		return all
	}
	for name, tt := range map[string]struct {
		answers []ProbeResult
		up      string
	}{
		"one is dead":              {answers(t, five, rest...), "6c29 617e 5bb3 a00e"},
		"no connection":            {answers(t, five, append(rest, "431d")...), "6c29 617e 5bb3 a00e"},
		"hung, and in Connections": {answers(t, five, "5bb3", "a00e"), "6c29 5bb3 a00e"},
		"hung leader":              {answers(t, five, "5bb3", "617e"), "6c29 5bb3 617e"},
		"no answers":               {nil, "6c29"},
		"another server answers":   {but(0, func(a *ProbeResult) { a.Server = fullOf("beef") }), "6c29 5bb3 a00e"},
		"another address":          {but(0, func(a *ProbeResult) { a.Address = "tcp:127.77.16.9:6644" }), "6c29 5bb3 a00e"},
		"no ID yet":                {but(0, func(a *ProbeResult) { a.Server = "" }), "6c29 5bb3 a00e"},
		"another cluster":          {but(1, func(a *ProbeResult) { a.Cluster = someCluster }), "6c29 617e a00e"},
		"no cluster":               {but(1, func(a *ProbeResult) { a.Cluster = "" }), "6c29 617e a00e"},
		"disconnected":             {but(2, func(a *ProbeResult) { a.Connected = false }), "6c29 617e 5bb3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkPeers(t, View{Status: five, Probes: tt.answers}, strings.Fields(tt.up))
		})
	}
	for _, tt := range []struct{ file, answers, up string }{
		{"nb-follower-one-of-three-dead", "3494", "847c 3494"},
		{"sb-3member-follower-long-idle", "7ee0 8631", "4126 7ee0 8631"},
		{"nb-new-member-same-address-as-stale", "7f3d 697f 8db1", ""},
		{"nb-candidate-with-votes", "b72b", "b72b"},
		{"nb-just-restarted-alone", "", ""},
		{"nb-kicked-while-down-then-restarted", "c712 8938", "c712 8938"},
		{"nb-ex-leader-no-quorum", "", ""},
	} {
		t.Run(tt.file, func(t *testing.T) {
			t.Parallel()
			s := captureStatus(t, tt.file)
			checkPeers(t, View{Status: s, Probes: answers(t, s, strings.Fields(tt.answers)...)}, strings.Fields(tt.up))
		})
	}
}

func TestR0_follower_without_cluster(t *testing.T) {
	t.Parallel()
	s := captureStatus(t, "nb-3member-follower2")
	v := View{Status: s, Probes: answers(t, s, "c14a", "7d80")}
	v.Status.Cluster = ""
	checkPeers(t, v, []string{"6e62"})
}

func TestHearsLeader(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		edit  func(*Status)
		heard bool
	}{
		"as captured": {func(*Status) {}, true},
		"its last message is an election timer old": {func(s *Status) {
			for i := range s.Servers {
				s.Servers[i].LastMsg = &s.ElectionTimer
			}
		}, false},
		"its connection is gone":   {func(s *Status) { s.Connections = nil }, false},
		"this server has given up": {func(s *Status) { s.Role = Candidate }, false},
		"it leads itself":          {func(s *Status) { s.Leader, s.Role = Self, Leader }, true},
	} {
		t.Run(name, func(t *testing.T) {
			status := captureStatus(t, "sb-5member-follower-one-dead")
			test.edit(&status)
			assert.Equal(t, test.heard, status.HearsLeader())
		})
	}
}

func TestCutOff(t *testing.T) {
	t.Parallel()
	silent := func(n int) func(*Status) {
		return func(s *Status) {
			for i := range s.Servers {
				if !s.Servers[i].Self && n > 0 {
					s.Servers[i].LastMsg = &s.ElectionTimer
					n--
				}
			}
		}
	}
	for name, test := range map[string]struct {
		captured string
		edit     func(*Status)
		cutOff   bool
	}{
		"a follower": {"nb-3member-follower2", silent(0), false},
		"a follower that has not yet missed its leader": {"nb-3member-follower2", silent(2), false},
		"candidate_unheard":                             {"nb-candidate-with-votes", silent(9), true},
		"candidate_heard": {
			"nb-candidate-with-votes",
			func(s *Status) { now := time.Duration(0); s.Servers[0].LastMsg, s.Servers[1].LastMsg = &now, &now }, false,
		},
		"voted_for_other":                   {"nb-follower-leader-unknown-voted-other", silent(0), false},
		"voted_for_other_then_silence":      {"nb-follower-leader-unknown-voted-other", silent(9), true},
		"a leader":                          {"nb-3member-leader", silent(0), false},
		"a leader of three that hears one":  {"nb-3member-leader", silent(1), false},
		"a leader of three that hears none": {"nb-3member-leader", silent(2), true},
		"a leader of three that has never heard any": {
			"nb-3member-leader",
			func(s *Status) { s.Servers[0].LastMsg, s.Servers[1].LastMsg, s.Servers[2].LastMsg = nil, nil, nil }, true,
		},
		"a leader of itself": {
			"nb-3member-leader", func(s *Status) { self, _ := s.self(); s.Servers = []Member{self} }, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			status := captureStatus(t, test.captured)
			test.edit(&status)
			assert.Equal(t, test.cutOff, status.CutOff())
		})
	}
}

func TestLeaderSilent(t *testing.T) {
	t.Parallel()
	s := captureStatus(t, "nb-3member-follower2")
	assert.False(t, s.LeaderSilent())
	rowOf(t, &s, string(s.Leader)).LastMsg = &s.ElectionTimer
	assert.True(t, s.LeaderSilent())
	rowOf(t, &s, string(s.Leader)).LastMsg = nil
	assert.False(t, s.LeaderSilent(), "not known")
	assert.False(t, captureStatus(t, "nb-3member-leader").LeaderSilent(), "it leads itself")
	assert.False(t, captureStatus(t, "nb-candidate-alone").LeaderSilent(), "it has none")
}

func TestResponding(t *testing.T) {
	t.Parallel()
	v := View{Status: captureStatus(t, "sb-5member-follower-one-dead")}
	v.Probes = answers(t, v.Status, "617e", "5bb3", "a00e")
	v.Probes[0].Connected = false
	v.Probes[1].Cluster = "77eb6ddc-6910-403b-b8da-ce3d90815183"
	answering, connected := v.Responding()
	assert.Equal(t, []int{2, 1}, []int{answering, connected}, "one of the three is of another cluster")
}
