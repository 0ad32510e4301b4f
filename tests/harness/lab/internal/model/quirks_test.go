package model

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// at returns a state with the given quirks, and its clock.
func at(w Quirks, units int) (*State, *time.Time) {
	s := newState("3.6.11", units)
	now := time.Unix(1e9, 0)
	s.Quirks, s.RetryScale, s.clock = w, 1, func() time.Time { return now }
	return s, &now
}

func TestUniter_remote_writes_arrive_late(t *testing.T) {
	s, now := at(Quirks{Late: 10 * time.Second}, 2)
	settleAll(t, s)
	assert.NotContains(t, s.Units["ovn-central/1"].Uniter.Relations[1].Members, "ovn-central/0", "its entry is on its way")
	assert.Equal(t, now.Add(10*time.Second), s.Coming("ovn-central/1"))
	*now = now.Add(10 * time.Second)
	settleAll(t, s)
	require.Contains(t, s.Units["ovn-central/1"].Uniter.Relations[1].Members, "ovn-central/0")
	assert.Zero(t, s.Coming("ovn-central/1"))

	bag := s.Relations[0].Units["ovn-central/0"]
	bag.Write(map[string]string{"a": "1"})
	assert.Empty(t, runAll(t, s, "ovn-central/1"))
	*now = now.Add(6 * time.Second)
	bag.Write(map[string]string{"a": "2"})
	s.Relations[0].App.Write(map[string]string{"b": "1"})
	assert.Empty(t, runAll(t, s, "ovn-central/1"))
	*now = now.Add(4 * time.Second)
	assert.Equal(t, []string{"ovsdb-peer-relation-changed ovn-central/0"}, runAll(t, s, "ovn-central/1"), "all that was written meanwhile comes with it")
	*now = now.Add(6 * time.Second)
	assert.Equal(t, []string{"ovsdb-peer-relation-changed"}, runAll(t, s, "ovn-central/1"))
}

func TestUniter_peer_list_grows_step_by_step(t *testing.T) {
	s, now := at(Quirks{JoinsApart: 5 * time.Second}, 3)
	for _, joined := range []string{"", "ovn-central/0", "ovn-central/1", ""} {
		hooks := strings.Join(runAll(t, s, "ovn-central/2"), "\n")
		for _, u := range []string{"ovn-central/0", "ovn-central/1"} {
			runAll(t, s, u)
			assert.Equal(t, u == joined, strings.Contains(hooks, "joined "+u), "%q: %s", joined, hooks)
		}
		*now = now.Add(5 * time.Second)
	}
	assert.Zero(t, s.Coming("ovn-central/2"))
}

func TestUniter_removed_peers_stay_until_agent_restart(t *testing.T) {
	for name, anew := range map[string]func(*State){
		"restart": func(s *State) { s.RestartAgent("ovn-central/1") },
		"refresh": func(s *State) { s.CharmVersion++ },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := at(Quirks{PeersStay: true}, 3)
			settleAll(t, s)
			s.RestartAgent("ovn-central/0") // it leaves its scope before it is gone
			s.Destroy("ovn-central/0")
			runAll(t, s, "ovn-central/0")
			s.Remove("ovn-central/0")
			assert.Equal(t, []string{"leader-elected"}, runAll(t, s, "ovn-central/1"))
			assert.Contains(t, s.Units["ovn-central/1"].Uniter.Relations[1].Members, "ovn-central/0")
			anew(s)
			assert.Contains(t, runAll(t, s, "ovn-central/1"), "ovsdb-peer-relation-departed ovn-central/0")
			assert.NotContains(t, s.Units["ovn-central/1"].Uniter.Relations[1].Members, "ovn-central/0")
			s.AddUnit("127.0.0.1")
			settleAll(t, s)
			assert.NotContains(t, s.Units["ovn-central/3"].Uniter.Relations[1].Members, "ovn-central/0", "a new unit never hears of it")
		})
	}
}

func TestModel_waits_for_stop_of_related_units_only(t *testing.T) {
	tests := map[string]struct {
		restarted, broken bool
		gone              bool
	}{
		"fresh agent":                  {false, true, false},
		"agent that restarted":         {true, true, true},
		"its -broken has failed":       {true, false, false},
		"fresh agent, nothing ran yet": {false, false, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, now := at(Quirks{GoneAfter: 10 * time.Second}, 2)
			settleAll(t, s)
			if test.restarted {
				s.RestartAgent("ovn-central/0")
			}
			s.Destroy("ovn-central/0")
			u := s.Units["ovn-central/0"]
			require.Zero(t, u.GoneAt)
			for {
				h, _ := s.Next(u.Name)
				if h.Kind == Stop {
					break
				}
				if h.Kind == relationBroken && !test.broken {
					s.Fail(u.Name, h, Failure{Hook: h.Name(), ExitCode: 1})
					break
				}
				s.Commit(u.Name, h)
			}
			if test.gone {
				assert.Equal(t, now.Add(10*time.Second), u.GoneAt)
			} else {
				assert.Zero(t, u.GoneAt)
			}
		})
	}
}
