package model

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newState(version string, units int) *State {
	s := &State{
		App: "ovn-central", JujuVersion: version, Quirks: QuirksOf(version), LeaderVersion: 1, ConfigVersion: 1,
		LeaderSettings: map[string]string{}, Config: map[string]any{}, Units: map[string]*Unit{},
		Relations: []*Relation{{ID: 1, Name: "ovsdb-peer", App: Bag{Settings: map[string]string{}}, Units: map[string]*Bag{}}},
	}
	for range units {
		s.AddUnit("127.0.0.1")
	}
	return s
}

func runAll(t *testing.T, s *State, unit string) []string {
	t.Helper()
	hooks := []string{}
	for range 100 {
		h, ok := s.Next(unit)
		if !ok {
			return hooks
		}
		s.Begin(unit, h)
		s.Commit(unit, h)
		hooks = append(hooks, h.String())
	}
	require.Fail(t, "the agent never comes to rest")
	return nil
}

func settleAll(t *testing.T, s *State) {
	t.Helper()
	for range 3 {
		for _, u := range s.Ordered() {
			runAll(t, s, u.Name)
		}
	}
}

// The removal under Juju 3 is in the recorded stories.
func TestUniter_Juju4_removal_runs_no_hooks_of_peers(t *testing.T) {
	s := newState("4.0.14", 3)
	settleAll(t, s)
	s.Destroy("ovn-central/0")
	assert.Empty(t, runAll(t, s, "ovn-central/1"))
	assert.Equal(t, []string{
		"ovsdb-peer-relation-departed ovn-central/1", "ovsdb-peer-relation-departed ovn-central/2", "stop", "remove",
	}, runAll(t, s, "ovn-central/0"))
	s.Remove("ovn-central/0")
	assert.Equal(t, []string{"leader-elected"}, runAll(t, s, "ovn-central/1"))
	assert.NotContains(t, s.Units, "ovn-central/0")
}

func TestUniter_restart_between_tries_of_stop_breaks_relation_later(t *testing.T) {
	for _, version := range []string{"2.9.42", "3.6.11", "4.0.15"} {
		t.Run(version, func(t *testing.T) {
			s := newState(version, 2)
			settleAll(t, s)
			s.Destroy("ovn-central/0")
			h, _ := s.Next("ovn-central/0")
			s.Commit("ovn-central/0", h)
			s.Fail("ovn-central/0", Hook{Kind: Stop}, Failure{Hook: "stop", ExitCode: 1})
			s.RestartAgent("ovn-central/0")
			assert.Equal(t, []string{"stop", "ovsdb-peer-relation-broken", "remove"}, runAll(t, s, "ovn-central/0"))
		})
	}
}

func TestLeadership_moves_to_living_unit(t *testing.T) {
	tests := map[string]struct {
		change func(*State)
		leader string
	}{
		"dying leader keeps it":       {func(s *State) { s.Destroy("ovn-central/0") }, "ovn-central/0"},
		"removed leader":              {func(s *State) { s.Remove("ovn-central/0") }, "ovn-central/1"},
		"removed, the next one dying": {func(s *State) { s.Destroy("ovn-central/1"); s.Remove("ovn-central/0") }, "ovn-central/2"},
		"machine off":                 {func(s *State) { s.Lose("ovn-central/0", true) }, "ovn-central/1"},
		"all others dying":            {func(s *State) { s.Destroy("ovn-central/1"); s.Destroy("ovn-central/2"); s.Remove("ovn-central/0") }, "ovn-central/1"},
		"no unit is left":             {func(s *State) { s.Remove("ovn-central/2"); s.Remove("ovn-central/1"); s.Remove("ovn-central/0") }, ""},
		"a unit that is off can't have it": {func(s *State) {
			s.Lose("ovn-central/1",
				true)
			s.Remove("ovn-central/0")
		}, "ovn-central/2"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newState("3.6.11", 3)
			settleAll(t, s)
			test.change(s)
			assert.Equal(t, test.leader, s.Leader)
		})
	}
}

func TestUniter_peers_are_left_last_since_3_6(t *testing.T) {
	for version, last := range map[string]bool{"3.5.0": false, "3.6.11": true} {
		t.Run(version, func(t *testing.T) {
			s := newState(version, 2)
			s.Relate("ovsdb", "neutron", 1)
			settleAll(t, s)
			s.Destroy("ovn-central/1")
			peer := Hook{
				Kind: "relation-departed", RelationID: 1, Relation: "ovsdb-peer", RemoteUnit: "ovn-central/0", RemoteApp: "ovn-central",
				Departing: "ovn-central/1", Version: 1,
			}
			assert.Equal(t, !last, slices.Contains(s.Choices("ovn-central/1"), peer))
		})
	}
}

func TestUniter_any_event_may_be_first(t *testing.T) {
	s := newState("3.6.11", 3)
	settleAll(t, s)
	s.Relate("certificates", "vault", 1)
	s.Configure(map[string]any{"a": 1})
	s.Configure(map[string]any{"a": 1})
	s.CharmVersion++
	s.WriteLeaderSettings(map[string]string{"k": "v"})
	s.Relations[0].App.Write(map[string]string{"k": "v"})
	names := func() (names []string) {
		for _, h := range s.Choices("ovn-central/1") {
			names = append(names, h.String())
		}
		return names
	}
	assert.Equal(t, []string{
		"certificates-relation-created", "leader-settings-changed", "upgrade-charm", "config-changed", "ovsdb-peer-relation-changed",
	}, names())
	s.Leader = "ovn-central/1"
	assert.Equal(t, "leader-elected", names()[1])
	s.Fail("ovn-central/1", Hook{Kind: ConfigChanged}, Failure{Hook: "config-changed"})
	assert.Equal(t, []string{"config-changed"}, names())
}

func TestUniter_reboot_runs_start_after_pending_hook(t *testing.T) {
	s := newState("3.6.11", 1)
	settleAll(t, s)
	s.Fail("ovn-central/0", Hook{Kind: UpdateStatus}, Failure{Hook: "update-status"})
	s.Reboot("ovn-central/0")
	assert.Equal(t, []string{"update-status", "start"}, runAll(t, s, "ovn-central/0"))
	s.Destroy("ovn-central/0")
	s.Reboot("ovn-central/0")
	assert.Equal(t, []string{"start", "ovsdb-peer-relation-broken", "stop", "remove"}, runAll(t, s, "ovn-central/0"))
}
