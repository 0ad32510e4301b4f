package hooktool

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// readSettings reads a bag as Juju's agent and controller do: our own, an application's, or a unit's.
func (c *call) readSettings(r *relation, whose string, app bool) (map[string]string, error) {
	switch {
	case whose == c.Unit:
		return c.own(r).now, nil
	case app && whose == c.app && c.isLeader():
		return c.ownApp(r).now, nil
	case app && whose != r.remote:
		return nil, errPermission
	case app:
		return c.remoteApp(r, whose), nil
	}
	return c.remote(r, whose)
}

func (c *call) remoteApp(r *relation, app string) map[string]string {
	if r.apps[app] == nil {
		c.Model.Do(func(s *model.State) {
			r.apps[app] = maps.Clone(s.Relation(r.id).OtherApp().Settings)
		})
	}
	return r.apps[app]
}

// remote reads another unit's data. They are cached: those of members until their next hook, others until this hook's
// end.
func (c *call) remote(r *relation, unit string) (settings map[string]string, err error) {
	app, _, _ := strings.Cut(unit, "/")
	if app != c.app && app != r.remote {
		return nil, errPermission
	}
	member := slices.Contains(r.members, unit)
	c.Model.Do(func(s *model.State) {
		seen := r.others
		if m := s.Units[c.Unit].Uniter.Relations[r.id]; member && m != nil {
			seen = m.Seen
		}
		if seen[unit] == nil {
			bag := s.Relation(r.id).Bag(unit)
			if bag == nil {
				err = fmt.Errorf("cannot read settings for unit %q in relation %q: unit %q: settings not found", unit, c.key(r), unit)
				return
			}
			seen[unit] = maps.Clone(bag.Settings)
		}
		settings = maps.Clone(seen[unit])
	})
	return settings, err
}

// key returns the controller's name for a relation: its endpoints, the requiring one first, assumed to be equal.
func (c *call) key(r *relation) string {
	ours, theirs := c.app+":"+r.name, r.remote+":"+r.name
	switch {
	case r.peer:
		return ours
	case slices.Contains(c.Charm.Requires, r.name):
		return ours + " " + theirs
	}
	return theirs + " " + ours
}

func (c *call) own(r *relation) *pending {
	if r.unit == nil {
		c.Model.Do(func(s *model.State) {
			r.unit = &pending{maps.Clone(s.Relation(r.id).Units[c.Unit].Settings), map[string]string{}}
		})
	}
	return r.unit
}

func (c *call) ownApp(r *relation) *pending {
	if r.bag == nil {
		c.Model.Do(func(s *model.State) {
			r.bag = &pending{maps.Clone(s.Relation(r.id).App.Settings), map[string]string{}}
		})
	}
	return r.bag
}
