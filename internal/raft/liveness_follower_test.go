package raft

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestR0_follower_needs_connection_and_answer(t *testing.T) {
	t.Parallel()
	five := captureStatus(t, "sb-5member-follower-one-dead") // 431d is dead, a00e leads
	rest := []string{"617e", "5bb3", "a00e"}
	// but is the answers of rest, with one of them changed.
	but := func(i int, change func(*ProbeResult)) []ProbeResult {
		all := answers(t, five, rest...)
		change(&all[i])
		return all
	}
	tests := map[string]struct {
		file    string
		edit    func(*Status)
		answers []ProbeResult
		up      []string
	}{
		"one of five is dead": {
			file: "sb-5member-follower-one-dead", answers: answers(t, five, rest...),
			up: []string{"6c29", "617e", "5bb3", "a00e"},
		},
		"one answers, and nothing connects it with this one": {
			file: "sb-5member-follower-one-dead", answers: answers(t, five, append(rest, "431d")...),
			up: []string{"6c29", "617e", "5bb3", "a00e"},
		},
		"hung_member_still_in_Connections": {
			file: "sb-5member-follower-one-dead", answers: answers(t, five, "5bb3", "a00e"),
			up: []string{"6c29", "5bb3", "a00e"},
		},
		"the leader hangs": {
			file: "sb-5member-follower-one-dead", answers: answers(t, five, "5bb3", "617e"),
			up: []string{"6c29", "5bb3", "617e"},
		},
		"it can't connect to this one, and this one can": {
			file: "sb-5member-follower-one-dead",
			edit: func(s *Status) {
				i := slices.Index(s.Connections, Connection{Peer: "617e", Incoming: true, Up: true})
				s.Connections[i].Up = false
			},
			answers: answers(t, five, rest...),
			up:      []string{"6c29", "617e", "5bb3", "a00e"},
		},
		"this server has not learnt its cluster": {
			file:    "nb-3member-follower2",
			edit:    func(s *Status) { s.Cluster = nil },
			answers: answers(t, captureStatus(t, "nb-3member-follower2"), "c14a", "7d80"),
			up:      []string{"6e62"},
		},
		"no_answers": {file: "sb-5member-follower-one-dead", up: []string{"6c29"}},
		"another server answers at the address": {
			file:    "sb-5member-follower-one-dead",
			answers: but(0, func(a *ProbeResult) { a.Server = fullOf("beef") }),
			up:      []string{"6c29", "5bb3", "a00e"},
		},
		"it answers at another address": {
			file:    "sb-5member-follower-one-dead",
			answers: but(0, func(a *ProbeResult) { a.Address = "tcp:127.77.16.9:6644" }),
			up:      []string{"6c29", "5bb3", "a00e"},
		},
		"a server that has no ID yet answers": {
			file:    "sb-5member-follower-one-dead",
			answers: but(0, func(a *ProbeResult) { a.Server = "" }),
			up:      []string{"6c29", "5bb3", "a00e"},
		},
		"it is of another cluster": {
			file:    "sb-5member-follower-one-dead",
			answers: but(1, func(a *ProbeResult) { a.Cluster = someCluster }),
			up:      []string{"6c29", "617e", "a00e"},
		},
		"it has no cluster": {
			file:    "sb-5member-follower-one-dead",
			answers: but(1, func(a *ProbeResult) { a.Cluster = "" }),
			up:      []string{"6c29", "617e", "a00e"},
		},
		"it is out of touch": {
			file:    "sb-5member-follower-one-dead",
			answers: but(2, func(a *ProbeResult) { a.Connected = false }),
			up:      []string{"6c29", "617e", "5bb3"},
		},
		"one of three is dead": {
			file:    "nb-follower-one-of-three-dead",
			answers: answers(t, captureStatus(t, "nb-follower-one-of-three-dead"), "3494"),
			up:      []string{"847c", "3494"},
		},
		"nothing was written for long": {
			file:    "sb-3member-follower-long-idle",
			answers: answers(t, captureStatus(t, "sb-3member-follower-long-idle"), "7ee0", "8631"),
			up:      []string{"4126", "7ee0", "8631"},
		},
		"an address that a stale member shares with this one": {
			file:    "nb-new-member-same-address-as-stale",
			answers: answers(t, captureStatus(t, "nb-new-member-same-address-as-stale"), "7f3d", "697f", "8db1"),
		},
		"a candidate is not up itself": {
			file:    "nb-candidate-with-votes",
			answers: answers(t, captureStatus(t, "nb-candidate-with-votes"), "b72b"),
			up:      []string{"b72b"},
		},
		"just restarted, alone": {file: "nb-just-restarted-alone"},
		"kicked while it was down": {
			file:    "nb-kicked-while-down-then-restarted",
			answers: answers(t, captureStatus(t, "nb-kicked-while-down-then-restarted"), "c712", "8938"),
			up:      []string{"c712", "8938"},
		},
		"it leads no more": {file: "nb-ex-leader-no-quorum"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := captureStatus(t, tt.file)
			if tt.edit != nil {
				tt.edit(&s)
			}
			checkPeers(t, View{Status: s, Probes: tt.answers}, tt.up)
		})
	}
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
