package model

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Kinds of hooks that the lab runs by itself.
const (
	Install               = "install"
	LeaderElected         = "leader-elected"
	LeaderSettingsChanged = "leader-settings-changed"
	ConfigChanged         = "config-changed"
	Start                 = "start"
	Stop                  = "stop"
	Remove                = "remove"
	UpdateStatus          = "update-status"
	relationCreated       = "relation-created"
	relationJoined        = "relation-joined"
	relationChanged       = "relation-changed"
	relationDeparted      = "relation-departed"
	relationBroken        = "relation-broken"
)

// Hook is one hook to run, with its relation's context where it has one.
type Hook struct {
	Kind       string `json:"kind"`
	RelationID int    `json:"relation_id,omitempty"`
	Relation   string `json:"relation,omitempty"`
	RemoteUnit string `json:"remote_unit,omitempty"`
	RemoteApp  string `json:"remote_app,omitempty"`
	Departing  string `json:"departing,omitempty"`
	Version    int    `json:"version,omitempty"` // of the remote data that the hook is about
}

// Name is the hook's name as the charm sees it.
func (h Hook) Name() string {
	if h.Relation == "" {
		return h.Kind
	}
	return h.Relation + "-" + h.Kind
}

// String is the name, and whom the hook is about.
func (h Hook) String() string {
	return strings.TrimSpace(h.Name() + " " + h.RemoteUnit)
}

// Next is the hook that the unit's agent runs next, and whether there is one.
// It decides as Juju 3.6's resolvers do (internal/worker/uniter/resolver.go and
// relation/resolver.go, nextOp and nextHookForRelation): a queued hook first,
// then -created, leadership, and for a dying unit relations, stop and remove,
// for a living one install, config-changed and relations. Entering a relation,
// and giving up leadership, happen on the way. It doesn't look at Failure: who
// calls decides whether a failed hook is run again.
func (s *State) Next(name string) (Hook, bool) {
	u := s.Units[name]
	if u == nil || u.Uniter.Removed {
		return Hook{}, false
	}
	agent := &u.Uniter
	if agent.Leader && (s.Leader != name || u.Dying) {
		agent.Leader = false
	}
	if agent.Queued != nil {
		if agent.Queued.Kind == LeaderElected && s.Leader != name {
			agent.Queued, agent.Failure = nil, nil
			u.Agent = Status{"idle", "", time.Now()}
			return s.Next(name)
		}
		return *agent.Queued, true
	}
	if u.Dying {
		return s.nextDying(u)
	}
	if !agent.Installed {
		return Hook{Kind: Install}, true
	}
	s.enterScopes(u)
	for _, r := range s.Relations {
		if m := agent.Relations[r.ID]; m != nil && !m.Created {
			return Hook{Kind: relationCreated, RelationID: r.ID, Relation: r.Name, RemoteApp: s.App}, true
		}
	}
	if s.Leader == name && !agent.Leader {
		return Hook{Kind: LeaderElected}, true
	}
	if !agent.Leader && agent.LeaderVersion != s.LeaderVersion {
		return Hook{Kind: LeaderSettingsChanged}, true
	}
	if agent.ConfigVersion != s.ConfigVersion {
		return Hook{Kind: ConfigChanged}, true
	}
	for _, r := range s.Relations {
		if h, ok := s.nextRelation(u, r); ok {
			return h, true
		}
	}
	return Hook{}, false
}

func (s *State) nextDying(u *Unit) (Hook, bool) {
	for _, r := range s.Relations {
		if h, ok := s.nextRelation(u, r); ok {
			return h, true
		}
	}
	switch {
	case u.Uniter.Started && !u.Uniter.Stopped:
		return Hook{Kind: Stop}, true
	case u.Uniter.Installed:
		return Hook{Kind: Remove}, true
	}
	return Hook{}, false
}

// enterScopes makes the unit a member of its relations: Juju does so before
// -created runs, and puts the unit's addresses there itself.
func (s *State) enterScopes(u *Unit) {
	for _, r := range s.Relations {
		if u.Uniter.Relations[r.ID] != nil {
			continue
		}
		u.Uniter.Relations[r.ID] = &Membership{Peer: true, Members: map[string]int{}, Seen: map[string]map[string]string{}}
		r.Units[u.Name] = &Bag{InScope: true, Version: 1, Settings: map[string]string{
			"egress-subnets": u.Address + "/32", "ingress-address": u.Address, "private-address": u.Address,
		}}
	}
}

// members are the units that u's agent is told of, with the versions of their
// data. To a dying unit all of them are gone.
func (s *State) members(u *Unit, r *Relation) map[string]int {
	members := map[string]int{}
	if u.Dying {
		return members
	}
	for name, bag := range r.Units {
		other := s.Units[name]
		if name != u.Name && bag.InScope && (s.peersStay() || other != nil && !other.Dying) {
			members[name] = bag.Version
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
		return Hook{Kind: kind, RelationID: r.ID, Relation: r.Name, RemoteUnit: unit, RemoteApp: s.App, Version: version}, true
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
	if u.Dying {
		if local.Peer {
			return Hook{}, false
		}
		return hook(relationBroken, "", 0)
	}
	if local.AppVersion != r.App.Version {
		return hook(relationChanged, "", r.App.Version)
	}
	there := slices.Sorted(maps.Keys(remote))
	for _, unit := range there {
		if _, joined := local.Members[unit]; !joined {
			return hook(relationJoined, unit, remote[unit])
		}
	}
	for _, unit := range there {
		if local.Members[unit] != remote[unit] {
			return hook(relationChanged, unit, remote[unit])
		}
	}
	return Hook{}, false
}
