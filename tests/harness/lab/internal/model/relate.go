package model

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Relate adds a relation between our endpoint and another application, whose
// units are there at once.
func (s *State) Relate(endpoint, app string, units int) *Relation {
	r := &Relation{
		ID: 1, Since: time.Now(), Name: endpoint, Remote: app, App: newBag(), RemoteApp: newBag(),
		Units: map[string]*Bag{}, RemoteUnits: map[string]*Bag{},
	}
	for _, known := range s.Relations {
		r.ID = max(r.ID, known.ID+1)
	}
	r.ID = max(r.ID, s.LastRelation+1)
	s.LastRelation = r.ID
	for n := range units {
		r.Enter(fmt.Sprintf("%s/%d", app, n))
	}
	s.Relations = append(s.Relations, r)
	return r
}

// Enter makes a unit of the other application a member of the relation, again
// where it was one. Its addresses, which Juju puts there, are of the range that
// is reserved for documentation (RFC 5737).
func (r *Relation) Enter(unit string) {
	bag := r.RemoteUnits[unit]
	if bag == nil {
		fresh := newBag()
		bag = &fresh
		r.RemoteUnits[unit] = bag
	}
	if bag.InScope {
		return
	}
	_, number, _ := strings.Cut(unit, "/")
	bag.InScope = true
	bag.Write(addressSettings("192.0.2.1" + number))
}

// Leave is the departure of a unit of the other application.
func (r *Relation) Leave(unit string) {
	if bag := r.RemoteUnits[unit]; bag != nil {
		bag.InScope = false
	}
}

// Unrelate begins the end of a relation: each unit runs -departed for every
// member, and -broken. The relation is gone when all have.
func (s *State) Unrelate(r *Relation) {
	r.Dying = true
	s.dropRelation(r)
}

// dropRelation forgets a dying relation that no unit is in any more.
func (s *State) dropRelation(r *Relation) {
	for _, bag := range r.Units {
		if bag.InScope {
			return
		}
	}
	if r.Dying {
		s.Relations = slices.DeleteFunc(s.Relations, func(other *Relation) bool { return other == r })
	}
}

// Peer reports whether this is a peer relation.
func (r *Relation) Peer() bool { return r.Remote == "" }

// Other is the application on the other side: of a peer relation, our own.
func (s *State) Other(r *Relation) string {
	if r.Peer() {
		return s.App
	}
	return r.Remote
}

// OtherApp is what the application on the other side has put there.
func (r *Relation) OtherApp() *Bag {
	if r.Peer() {
		return &r.App
	}
	return &r.RemoteApp
}

// Bag finds what a unit of either side has put there; nil where it was never in
// the relation.
func (r *Relation) Bag(unit string) *Bag {
	if bag := r.Units[unit]; bag != nil {
		return bag
	}
	return r.RemoteUnits[unit]
}

// News is the version of what a unit of either side has put there or, if unit
// is empty, the application on the other side; 0 if there is nothing.
func (r *Relation) News(unit string) int {
	bag := r.Bag(unit)
	switch {
	case unit == "":
		return r.OtherApp().Version
	case bag == nil:
		return 0
	}
	return bag.Version
}

func newBag() Bag { return Bag{Settings: map[string]string{}} }
