package controller

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/juju/charm/v12"
)

// Relate relates an endpoint to another application with units.
func (c *Controller) Relate(endpoint, app string, units int) (id int, err error) {
	found, is := c.charm.Meta().CombinedRelations()[endpoint]
	if !is || found.Role == charm.RolePeer {
		return 0, fmt.Errorf("application %q has no %q relation", c.state.App, endpoint)
	}
	err = c.change(func(s *State) error {
		r := &Relation{
			ID: s.NextRelation, Endpoint: found, Remote: app, Life: "alive",
			App: newBag(), Units: map[string]*Bag{}, RemoteApp: newBag(), RemoteUnits: map[string]*Bag{},
		}
		for n := range units {
			r.enter(app + "/" + strconv.Itoa(n))
		}
		s.NextRelation++
		s.Relations = append(s.Relations, r)
		id = r.ID
		return nil
	})
	return id, err
}

func (r *Relation) enter(unit string) {
	bag := r.RemoteUnits[unit]
	if bag == nil {
		bag = newBag()
		r.RemoteUnits[unit] = bag
	}
	_, number, _ := strings.Cut(unit, "/")
	bag.InScope = true
	bag.write(addressSettings([]string{"192.0.2.1" + number}))
}

func (c *Controller) with(id int, f func(s *State, r *Relation) error) error {
	return c.change(func(s *State) error {
		r := s.relation(id)
		if r == nil {
			return fmt.Errorf("relation %d not found", id)
		}
		return f(s, r)
	})
}

// Unrelate removes a relation.
func (c *Controller) Unrelate(id int) error {
	return c.with(id, func(s *State, r *Relation) error { r.Life = "dying"; s.dropRelation(r); return nil })
}

// RemoteSet writes data of the other side: of a unit, or of the application.
func (c *Controller) RemoteSet(id int, unit string, data map[string]string) error {
	return c.with(id, func(_ *State, r *Relation) error {
		if r.peer() {
			return fmt.Errorf("relation %d is a peer relation", id)
		}
		return r.writeAs(unit, r.Remote, r.RemoteApp, r.RemoteUnits, data)
	})
}

// RemoteUnits sets the units on the other side.
func (c *Controller) RemoteUnits(id int, units ...string) error {
	return c.with(id, func(_ *State, r *Relation) error {
		for name, bag := range r.RemoteUnits {
			bag.InScope = slices.Contains(units, name)
		}
		for _, unit := range units {
			r.enter(unit)
		}
		return nil
	})
}

// SetData writes data of one of our units, or of our application, as a charm before this one had written it.
func (c *Controller) SetData(id int, unit string, data map[string]string) error {
	return c.with(id, func(s *State, r *Relation) error {
		return r.writeAs(unit, s.App, r.App, r.Units, data)
	})
}

func (r *Relation) writeAs(unit, app string, ofApp *Bag, ofUnits map[string]*Bag, data map[string]string) error {
	bag := ofUnits[unit]
	if unit == "" || unit == app {
		bag = ofApp
	}
	if bag == nil {
		return fmt.Errorf("unit %q is not in relation %d", unit, r.ID)
	}
	bag.write(data)
	return nil
}
