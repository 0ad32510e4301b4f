package model

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"
)

// AddUnit puts the next unit into the model, with its machine's addresses, the preferred one first. The first one becomes leader.
func (s *State) AddUnit(addresses ...string) *Unit {
	u := &Unit{
		Name: fmt.Sprintf("%s/%d", s.App, s.NextUnit), Number: s.NextUnit, Addresses: addresses, Bindings: map[string][]string{},
		Workload: Status{Status: "waiting", Message: "agent initialising", Since: time.Now()},
		Agent:    Status{Status: "allocating", Since: time.Now()},
		Uniter:   Uniter{Relations: map[int]*Membership{}, CharmVersion: s.CharmVersion},
	}
	s.NextUnit++
	s.Units[u.Name] = u
	s.elect()
	return u
}

// Destroy makes a unit dying: its peers see it leave their relations, and it stays in goal-state until its removal.
func (s *State) Destroy(name string) {
	if u := s.Units[name]; u != nil {
		u.Dying = true
		s.doom(u)
	}
}

// Remove removes a unit from the model. Its data on relations stay readable.
func (s *State) Remove(name string) {
	for _, r := range slices.Clone(s.Relations) {
		if bag := r.Units[name]; bag != nil {
			bag.InScope = false
		}
		s.dropRelation(r)
	}
	delete(s.Units, name)
	if s.Leader == name {
		s.Leader = ""
	}
	s.elect()
}

// elect gives a vacant leadership to the oldest unit that is on. A dying unit gets it only if no other unit can.
func (s *State) elect() {
	if s.Leader != "" {
		return
	}
	for _, u := range s.Ordered() {
		switch {
		case u.Lost:
		case !u.Dying:
			s.Leader = u.Name
			return
		case s.Leader == "":
			s.Leader = u.Name
		}
	}
}

// Lose records that a unit's machine is off, or on again, as the controller notices it: the unit's lease of the
// leadership expires.
func (s *State) Lose(name string, lost bool) {
	u := s.Units[name]
	if u == nil {
		return
	}
	u.Lost = lost
	if lost && s.Leader == name {
		s.Leader = ""
		s.elect()
		if s.Leader == "" {
			s.Leader = name
		}
	}
}

// Configure changes options. Agents watch a hash of all options, so equal values are no change.
func (s *State) Configure(settings map[string]any) {
	before := maps.Clone(s.Config)
	maps.Copy(s.Config, settings)
	if !reflect.DeepEqual(before, s.Config) {
		s.ConfigVersion++
	}
}

// WriteLeaderSettings stores the settings of a leader's leader-set, at once. An empty value deletes its key.
func (s *State) WriteLeaderSettings(changes map[string]string) {
	settings := Bag{Settings: s.LeaderSettings}
	if settings.Write(changes) {
		s.LeaderVersion++
	}
}

// RestartAgent restarts the unit's agent, which forgets what it had in memory. So it runs leader-settings-changed, and
// forgets which relations are peer relations (Juju's relation state tracker doesn't load that: juju/juju issue 20713).
func (s *State) RestartAgent(name string) {
	u := s.Units[name]
	if u == nil {
		return
	}
	u.Uniter.LeaderVersion = 0
	s.hearOfGone(u)
	for _, m := range u.Uniter.Relations {
		m.Peer, m.Forgotten = false, true
		m.Seen = map[string]map[string]string{}
	}
}

// Write stores settings ("" deletes a key) and reports whether any has changed: only then other units run -changed.
func (b *Bag) Write(changes map[string]string) bool {
	before := maps.Clone(b.Settings)
	maps.Copy(b.Settings, changes)
	maps.DeleteFunc(b.Settings, func(_, value string) bool { return value == "" })
	if maps.Equal(before, b.Settings) {
		return false
	}
	b.Version++
	return true
}

// VisibleStatus returns the unit's status as `juju status` and goal-state show it: a failed hook hides the charm's
// status.
func (u *Unit) VisibleStatus() Status {
	if u.Agent.Status == "error" {
		return u.Agent
	}
	return u.Workload
}

// Reboot restarts the unit's machine, and so its agent. The agent runs start again, before anything else.
func (s *State) Reboot(name string) {
	s.RestartAgent(name)
	if u := s.Units[name]; u != nil {
		u.Uniter.Rebooted = u.Uniter.Started
	}
}
