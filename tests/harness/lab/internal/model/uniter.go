package model

import (
	"strings"
	"time"
)

// Kinds of hooks that the lab runs by itself.
const (
	Install               = "install"
	LeaderElected         = "leader-elected"
	LeaderSettingsChanged = "leader-settings-changed"
	UpgradeCharm          = "upgrade-charm"
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

// Hook is a hook to run, with the context of its relation if it has one.
type Hook struct {
	Kind       string
	RelationID int
	Relation   string
	RemoteUnit string
	RemoteApp  string
	Departing  string
	// Version is the version of the hook's subject: the remote data, the leader's settings, or the configuration.
	Version        int
	AddressVersion int // with config-changed
}

// Name is the hook's name as the charm sees it.
func (h Hook) Name() string {
	if h.Relation == "" {
		return h.Kind
	}
	return h.Relation + "-" + h.Kind
}

// String returns the name of the hook and the unit that it is about.
func (h Hook) String() string {
	return strings.TrimSpace(h.Name() + " " + h.RemoteUnit)
}

// Next returns the unit's next hook, if any. The caller decides whether a failed hook (Failure) is run again.
func (s *State) Next(name string) (Hook, bool) {
	if all := s.Choices(name); len(all) > 0 {
		return all[0], true
	}
	return Hook{}, false
}

// Choices returns the hooks that the unit's agent may run next, by Juju's resolvers (worker/uniter/resolver.go and
// relation/resolver.go): first a queued hook, then -created, then leadership; then for a dying unit relations, stop
// and remove, and for a living one install, upgrade-charm, config-changed and relations. An agent that knows of all
// changes runs the first hook. The others are legal too: each watcher may be late, and the order among relations is
// that of a Go map. No hook runs when a unit enters a relation or loses the leadership.
func (s *State) Choices(name string) []Hook {
	u := s.Units[name]
	if u == nil || u.Uniter.Removed {
		return nil
	}
	agent := &u.Uniter
	if agent.Leader && (s.Leader != name || u.Dying) {
		agent.Leader = false
	}
	switch {
	case agent.Queued != nil && agent.Queued.Kind == LeaderElected && s.Leader != name:
		agent.Queued, agent.Failure = nil, nil
		u.Agent = Status{"idle", "", time.Now()}
		return s.Choices(name)
	case agent.Queued != nil && agent.Queued.Kind == Install && agent.Failure == nil && u.Dying:
		return s.dying(u) // what is going isn't installed
	case agent.Queued != nil:
		return []Hook{*agent.Queued}
	case agent.Rebooted:
		return []Hook{{Kind: Start}}
	case u.Dying:
		return s.dying(u)
	case !agent.Installed:
		return []Hook{{Kind: Install}}
	}
	return s.living(u)
}

func (s *State) dying(u *Unit) []Hook {
	if hooks := s.relationHooks(u); len(hooks) > 0 {
		return hooks
	}
	switch {
	case u.Uniter.Started && !u.Uniter.Stopped:
		return []Hook{{Kind: Stop}}
	case u.Uniter.Installed:
		return []Hook{{Kind: Remove}}
	}
	return nil
}

// living returns the hooks of a unit that stays.
func (s *State) living(u *Unit) []Hook {
	agent := &u.Uniter
	s.enterScopes(u)
	hooks := s.createdHooks(u)
	if s.Leader == u.Name && !agent.Leader {
		hooks = append(hooks, Hook{Kind: LeaderElected})
	}
	if !agent.Leader && s.Leader != u.Name && !s.Quirks.NoLeaderSettings && agent.LeaderVersion != s.LeaderVersion {
		hooks = append(hooks, Hook{Kind: LeaderSettingsChanged, Version: s.LeaderVersion})
	}
	if agent.CharmVersion != s.CharmVersion && agent.MissedCharm != s.CharmVersion {
		hooks = append(hooks, Hook{Kind: UpgradeCharm, Version: s.CharmVersion})
	}
	if agent.ConfigVersion != s.ConfigVersion || agent.AddressVersion != u.AddressVersion {
		hooks = append(hooks, Hook{Kind: ConfigChanged, Version: s.ConfigVersion, AddressVersion: u.AddressVersion})
	}
	if !agent.Started && len(hooks) > 0 {
		return hooks[:1] // one snapshot of everything comes before an agent's first hook
	}
	return append(hooks, s.relationHooks(u)...)
}
