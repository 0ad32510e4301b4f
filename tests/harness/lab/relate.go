package lab

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Answer simulates the other side of a relation. It gets the data that one of our units has published, and returns
// the data for the first unit of the other application to publish; nil, or equal data, changes nothing. It may not
// use the lab.
type Answer func(unit string, bag map[string]string) map[string]string

type remotes struct {
	mu      sync.Mutex
	answers map[string]Answer
	told    map[string]int // versions of our units' data
	issues  bool           // the answers on certificates are [Lab.RelateCA]'s
}

// RelationData are the data on a relation of our application, and of the units of both.
type RelationData struct {
	Name               string // as the hook tools have it: certificates:2
	App                map[string]string
	Units, RemoteUnits map[string]map[string]string
}

// Relate is `juju integrate`. It relates our endpoint to another application, whose units the caller simulates with
// [Lab.OnRemote] and [Lab.RemoteSet]. It returns the relation's number; the peer relation is 1.
func (l *Lab) Relate(ctx context.Context, endpoint, remoteApp string, remoteUnits int) (int, error) {
	meta := l.spec().Meta()
	_, provides := meta.Provides[endpoint]
	if _, requires := meta.Requires[endpoint]; !provides && !requires {
		return 0, fmt.Errorf("cannot relate: application %q has no %q relation", ApplicationName, endpoint)
	}
	id := 0
	l.model.Do(func(s *model.State) { id = s.Relate(endpoint, remoteApp, remoteUnits).ID })
	return id, l.settleStarted(ctx)
}

// Unrelate is `juju remove-relation`: our units run -departed for each unit of the other application, and -broken.
func (l *Lab) Unrelate(ctx context.Context, relation int) error {
	return l.change(ctx, relation, func(s *model.State, r *model.Relation) error { s.Unrelate(r); return nil })
}

// RemoteSet is relation-set of another application's unit, or of its leader with --app. An empty value deletes.
func (l *Lab) RemoteSet(ctx context.Context, relation int, unit string, bag map[string]string) error {
	return l.change(ctx, relation, func(_ *model.State, r *model.Relation) error {
		switch {
		case unit == r.Remote:
			r.RemoteApp.Write(bag)
		case r.RemoteUnits[unit] == nil:
			return fmt.Errorf("cannot write data of %s: it isn't in relation %d", unit, relation)
		default:
			r.RemoteUnits[unit].Write(bag)
		}
		return nil
	})
}

// RemoteUnits sets which units of the other application are in the relation from now on: new ones join, others
// depart.
func (l *Lab) RemoteUnits(ctx context.Context, relation int, units ...string) error {
	return l.change(ctx, relation, func(_ *model.State, r *model.Relation) error {
		for known := range r.RemoteUnits {
			if !slices.Contains(units, known) {
				r.Leave(known)
			}
		}
		for _, unit := range units {
			r.Enter(unit)
		}
		return nil
	})
}

func (l *Lab) change(ctx context.Context, relation int, do func(*model.State, *model.Relation) error) error {
	err := fmt.Errorf("relation %d not found, or a peer relation", relation)
	l.model.Do(func(s *model.State) {
		if r := s.Relation(relation); r != nil && !r.Peer() {
			err = do(s, r)
		}
	})
	if err != nil {
		return err
	}
	return l.settleStarted(ctx)
}

// OnRemote simulates the other side of all relations of an endpoint. It calls answer with the existing data, and
// again after every hook or action that has changed the data of one of our units.
func (l *Lab) OnRemote(endpoint string, answer Answer) {
	l.remotes.mu.Lock()
	l.remotes.answers[endpoint] = answer
	l.remotes.issues = l.remotes.issues && endpoint != caEndpoint
	maps.DeleteFunc(l.remotes.told, func(key string, _ int) bool { return strings.HasPrefix(key, endpoint+":") })
	l.remotes.mu.Unlock()
	l.tellRemotes()
}

// tellRemotes shows new data to the other applications, and writes their answers.
func (l *Lab) tellRemotes() {
	l.remotes.mu.Lock()
	defer l.remotes.mu.Unlock()
	type news struct {
		relation       int
		endpoint, unit string
		bag            map[string]string
	}
	var all []news
	l.model.Do(func(s *model.State) {
		for _, r := range s.Relations {
			if r.Peer() || l.remotes.answers[r.Name] == nil {
				continue
			}
			for _, unit := range slices.Sorted(maps.Keys(r.Units)) {
				bag, key := r.Units[unit], fmt.Sprintf("%s:%d %s", r.Name, r.ID, unit)
				if bag.InScope && bag.Version != l.remotes.told[key] {
					l.remotes.told[key] = bag.Version
					all = append(all, news{r.ID, r.Name, unit, maps.Clone(bag.Settings)})
				}
			}
		}
	})
	for _, one := range all {
		said := l.remotes.answers[one.endpoint](one.unit, one.bag)
		l.model.Do(func(s *model.State) {
			if r := s.Relation(one.relation); r != nil && len(said) > 0 {
				if bag := r.RemoteUnits[r.Remote+"/0"]; bag != nil {
					bag.Write(said)
				}
			}
		})
	}
}

// RelationData returns the data on a relation, of both sides; nothing if the relation is gone.
func (l *Lab) RelationData(relation int) (data RelationData) {
	bags := func(units map[string]*model.Bag) map[string]map[string]string {
		copied := map[string]map[string]string{}
		for unit, bag := range units {
			if bag.InScope {
				copied[unit] = maps.Clone(bag.Settings)
			}
		}
		return copied
	}
	l.model.Do(func(s *model.State) {
		if r := s.Relation(relation); r != nil {
			data = RelationData{
				Name: fmt.Sprintf("%s:%d", r.Name, r.ID), App: maps.Clone(r.App.Settings),
				Units: bags(r.Units), RemoteUnits: bags(r.RemoteUnits),
			}
		}
	})
	return data
}

// SetLeader gives the leadership to a unit, as the controller does when the lease of the previous leader expires.
// That unit runs leader-elected, and the previous one learns that it no longer leads.
func (l *Lab) SetLeader(ctx context.Context, u *Unit) error {
	if u.Removed() {
		return fmt.Errorf("cannot make %s the leader: it is gone", u.name)
	}
	l.model.Do(func(s *model.State) { s.Leader = u.name })
	return l.settleStarted(ctx)
}

// LeaderSettings returns the settings of leader-set.
func (l *Lab) LeaderSettings() (settings map[string]string) {
	l.model.Do(func(s *model.State) { settings = maps.Clone(s.LeaderSettings) })
	return settings
}

// SetLeaderSettings is leader-set of a leader with an earlier charm; "" deletes. The others run
// leader-settings-changed.
func (l *Lab) SetLeaderSettings(ctx context.Context, settings map[string]string) error {
	l.model.Do(func(s *model.State) { s.WriteLeaderSettings(settings) })
	return l.settleStarted(ctx)
}

// WorkloadVersion returns the last version of application-version-set.
func (l *Lab) WorkloadVersion() (version string) {
	l.model.Do(func(s *model.State) { version = s.WorkloadVersion })
	return version
}
