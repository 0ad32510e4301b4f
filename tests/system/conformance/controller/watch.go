package controller

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/juju/juju/rpc/params"
)

// watch is one watcher of an agent. poll, with the model locked, returns the changes; first the initial event.
type watch struct {
	poll    func() (changes any, changed bool)
	stopped chan struct{}
	agent   string
	waiting bool // its agent has seen everything
	last    bool // is what an agent begins to watch last
}

var watchMethods = map[string]method{
	"Uniter.Watch": each(watchEntity),
	"Uniter.WatchForModelConfigChanges": plain(func(s session, _ any) (any, error) {
		result := s.notifyWatch(nothing)
		s.watches[result.NotifyWatcherId].last = true // worker/uniter/remotestate/watcher.go, loop
		return result, nil
	}),
	"Uniter.WatchLeadershipSettings": each(func(s session, _ string) (any, error) {
		return s.notifyWatch(func() any { return s.state.LeaderVersion }), nil
	}),
	"Uniter.WatchUpgradeSeriesNotifications": each(func(s session, _ string) (any, error) { return s.notifyWatch(nothing), nil }),
	"Uniter.WatchInstanceData":               each(func(s session, _ string) (any, error) { return s.notifyWatch(nothing), nil }),
	"Uniter.WatchConfigSettingsHash":         each(func(s session, _ string) (any, error) { return s.hashWatch(s.configHash), nil }),
	"Uniter.WatchTrustConfigSettingsHash":    each(func(s session, _ string) (any, error) { return s.hashWatch(func() string { return "trust" }), nil }),
	"Uniter.WatchUnitAddressesHash":          each(func(s session, _ string) (any, error) { return s.hashWatch(s.addressesHash), nil }),
	"Uniter.WatchUnitStorageAttachments":     each(func(s session, _ string) (any, error) { return s.stringsWatch(func() []string { return nil }), nil }),
	"Uniter.WatchActionNotifications":        each(func(s session, _ string) (any, error) { return s.stringsWatch(s.newActions()), nil }),
	"Uniter.WatchUnitRelations":              each(func(s session, _ string) (any, error) { return s.stringsWatch(s.changedRelations()), nil }),
	"Uniter.WatchRelationUnits":              eachRelation(watchRelationUnits),
}

func nothing() any { return 0 }

func (s session) register(poll func() (any, bool)) string {
	s.ids++
	id := strconv.Itoa(s.ids)
	s.watches[id] = &watch{poll: poll, stopped: make(chan struct{}), agent: s.agent}
	return id
}

// watcher is Next and Stop of a watcher.
func (c *Controller) watcher(ctx context.Context, r Request) (any, error) {
	c.mu.Lock()
	w := c.watches[r.ID]
	if r.Request == "Stop" {
		delete(c.watches, r.ID)
	}
	c.mu.Unlock()
	switch {
	case w == nil:
		return nil, errNotFound
	case r.Request == "Stop":
		close(w.stopped)
		return struct{}{}, nil
	}
	for {
		c.mu.Lock()
		next := c.changed
		changes, changed := w.poll()
		w.waiting = !changed
		c.mu.Unlock()
		if changed {
			return changes, nil
		}
		select {
		case <-next:
		case <-w.stopped:
			return nil, fault{params.CodeStopped, "watcher was stopped"}
		case <-ctx.Done():
			return nil, fault{params.CodeStopped, "the agent is gone"}
		}
	}
}

func (s session) notifyWatch(value func() any) params.NotifyWatchResult {
	seen := value()
	return params.NotifyWatchResult{NotifyWatcherId: s.register(func() (any, bool) {
		old := seen
		seen = value()
		return struct{}{}, !reflect.DeepEqual(old, seen)
	})}
}

// stringsWatch sends the result of changes, if that is not empty.
func (s session) stringsWatch(changes func() []string) params.StringsWatchResult {
	initial := changes()
	return params.StringsWatchResult{Changes: initial, StringsWatcherId: s.register(func() (any, bool) {
		some := changes()
		return params.StringsWatchResult{Changes: some}, len(some) > 0
	})}
}

func (s session) hashWatch(hash func() string) params.StringsWatchResult {
	seen := ""
	return s.stringsWatch(func() []string {
		old := seen
		if seen = hash(); seen == old {
			return nil
		}
		return []string{seen}
	})
}

func watchEntity(s session, tag string) (any, error) {
	if unitName(tag) == s.unit.Name {
		return s.notifyWatch(func() any { return []any{s.unit.Life, s.unit.Resolved} }), nil
	}
	return s.notifyWatch(func() any { return []any{s.state.Dying, len(s.state.Charms)} }), nil
}

func (s session) configHash() string { return fmt.Sprint(s.unit.CharmURL, s.state.Config) }

func (s session) addressesHash() string { return fmt.Sprint(s.unit.Addresses) }

// newActions returns the pending actions that weren't sent yet.
func (s session) newActions() func() []string {
	sent := map[string]bool{}
	return func() (ids []string) {
		for _, id := range slices.Sorted(maps.Keys(s.state.Actions)) {
			a := s.state.Actions[id]
			if a.Unit == s.unit.Name && (a.Status == "pending" || a.Status == "running") && !sent[id] {
				sent[id] = true
				ids = append(ids, id)
			}
		}
		return ids
	}
}

func (s session) changedRelations() func() []string {
	seen := map[string]string{}
	return func() (keys []string) {
		there := map[string]string{}
		for _, r := range s.state.Relations {
			there[r.key(s.state.App)] = fmt.Sprint(r.ID, r.Life)
		}
		for key, life := range there {
			if seen[key] != life {
				keys = append(keys, key)
			}
		}
		for key := range seen {
			if there[key] == "" {
				keys = append(keys, key)
			}
		}
		seen = there
		slices.Sort(keys)
		return keys
	}
}

func watchRelationUnits(s session, r *Relation, _ params.RelationUnit) (any, error) {
	units, apps := map[string]int64{}, map[string]int64{}
	poll := func() (any, bool) {
		change := params.RelationUnitsChange{Changed: map[string]params.UnitSettings{}, AppChanged: map[string]int64{}}
		members, applications := s.state.members(s.unit.Name, r), s.state.applications(r)
		for name, version := range members {
			if old, had := units[name]; !had || old != version {
				change.Changed[name] = params.UnitSettings{Version: version}
			}
		}
		for name := range units {
			if _, there := members[name]; !there {
				change.Departed = append(change.Departed, name)
			}
		}
		for name, version := range applications {
			if old, had := apps[name]; !had || old != version {
				change.AppChanged[name] = version
			}
		}
		units, apps = members, applications
		slices.Sort(change.Departed)
		result := params.RelationUnitsWatchResult{Changes: change}
		return result, len(change.Changed)+len(change.AppChanged)+len(change.Departed) > 0
	}
	initial, _ := poll()
	result := initial.(params.RelationUnitsWatchResult)
	result.RelationUnitsWatcherId = s.register(poll)
	return result, nil
}
