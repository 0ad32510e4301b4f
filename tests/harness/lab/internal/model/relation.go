package model

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// enterScopes makes the unit a member of its relations with its addresses: Juju does so before -created runs.
func (s *State) enterScopes(u *Unit) {
	for _, r := range s.Relations {
		if u.Uniter.Relations[r.ID] != nil {
			continue
		}
		if r.Dying {
			continue
		}
		u.Uniter.Relations[r.ID] = &Membership{
			Peer: r.Peer(), Members: map[string]int{}, Seen: map[string]map[string]string{}, Joined: s.time(),
		}
		r.Units[u.Name] = &Bag{InScope: true, Version: 1, Settings: addressSettings(u.AddressesOf(r.Name)...)}
	}
}

func (s *State) createdHooks(u *Unit) (hooks []Hook) {
	for _, r := range s.ordered() {
		if m := u.Uniter.Relations[r.ID]; m != nil && !m.Created && !r.Dying {
			hooks = append(hooks, Hook{Kind: relationCreated, RelationID: r.ID, Relation: r.Name, RemoteApp: s.Other(r)})
		}
	}
	return hooks
}

// relationHooks returns the next hook of each relation. A unit that is being removed leaves its peers last.
func (s *State) relationHooks(u *Unit) (hooks []Hook) {
	for _, r := range s.ordered() {
		if r.Peer() && u.Dying && len(hooks) > 0 && s.Since(3, 6) { // juju/juju pull request 18073
			break
		}
		if m := u.Uniter.Relations[r.ID]; m != nil && !m.Created && !u.Dying && !r.Dying {
			continue
		}
		if h, ok := s.nextRelation(u, r); ok {
			hooks = append(hooks, h)
		}
	}
	return hooks
}

// ordered returns the relations in the agent's order, peer relations last.
func (s *State) ordered() []*Relation {
	relations := slices.Clone(s.Relations)
	slices.SortStableFunc(relations, func(a, b *Relation) int {
		switch {
		case a.Peer() == b.Peer():
			return 0
		case b.Peer():
			return -1
		}
		return 1
	})
	return relations
}

// Since reports whether the model's Juju has this version or a later one.
func (s *State) Since(major, minor int) bool {
	first, rest, _ := strings.Cut(s.JujuVersion, ".")
	second, _, _ := strings.Cut(rest, ".")
	m, _ := strconv.Atoi(first)
	n, _ := strconv.Atoi(second)
	return m > major || m == major && n >= minor
}

// members returns the units that u's agent knows, with the versions of their data. If u is dying, there are none.
func (s *State) members(u *Unit, r *Relation) map[string]int {
	members := map[string]int{}
	if u.Dying || r.Dying {
		return members
	}
	for name, bag := range r.RemoteUnits {
		if version := s.heard(bag); bag.InScope && version > 0 {
			members[name] = version
		}
	}
	local := u.Uniter.Relations[r.ID]
	if !r.Peer() || local == nil {
		return members
	}
	for name, bag := range r.Units {
		other := s.Units[name]
		version := s.heard(bag)
		switch {
		case name == u.Name || version == 0:
		case bag.InScope && other != nil && (s.Quirks.PeersStay || !other.Dying), s.stays(local, name):
			members[name] = version
		}
	}
	return members
}

func (s *State) nextRelation(u *Unit, r *Relation) (Hook, bool) {
	local := u.Uniter.Relations[r.ID]
	if local == nil {
		return Hook{}, false
	}
	hook := func(kind, unit string, version int) (Hook, bool) {
		return Hook{Kind: kind, RelationID: r.ID, Relation: r.Name, RemoteUnit: unit, RemoteApp: s.Other(r), Version: version}, true
	}
	remote := s.members(u, r)
	if unit := local.ChangedPending; unit != "" {
		return hook(relationChanged, unit, remote[unit])
	}
	known := slices.Sorted(maps.Keys(local.Members))
	for _, unit := range known {
		if _, there := remote[unit]; !there {
			h, ok := hook(relationDeparted, unit, local.Members[unit])
			h.Departing = unit
			if u.Dying || s.AppDying {
				h.Departing = u.Name
			}
			return h, ok
		}
	}
	if u.Dying || r.Dying {
		if local.Peer {
			return Hook{}, false
		}
		h, ok := hook(relationBroken, "", 0)
		if local.Forgotten {
			h.RemoteApp = ""
		}
		return h, ok
	}
	if theirs := s.heard(r.OtherApp()); local.AppVersion != theirs {
		return hook(relationChanged, "", theirs)
	}
	there := slices.Sorted(maps.Keys(remote))
	for _, unit := range there {
		if _, joined := local.Members[unit]; !joined && !s.time().Before(s.joinsAt(local)) {
			return hook(relationJoined, unit, remote[unit])
		}
	}
	for _, unit := range there {
		if version, joined := local.Members[unit]; joined && version != remote[unit] {
			return hook(relationChanged, unit, remote[unit])
		}
	}
	return Hook{}, false
}
