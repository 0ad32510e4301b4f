// Package controller is the smallest controller with which Juju's own unit agent can work: one application, its units
// and relations, and the part of the API that the agent calls (the Uniter facade and its watchers). The decisions of
// a real Juju's controller are written again here; those of the agent are Juju's code.
package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/juju/charm/v12"
	"github.com/juju/juju/rpc/params"
)

// Controller holds the model. Its methods may be called at the same time.
type Controller struct {
	mu sync.Mutex
	// changed is closed, and replaced, with every change.
	changed chan struct{}
	dir     string
	state   State
	charm   *charm.CharmDir
	watches map[string]*watch
	ids     int
}

// State is the controller's knowledge of the model.
type State struct {
	App            string
	Leader         string
	LeaderSettings map[string]string
	LeaderVersion  int
	Config         map[string]any
	Charms         []Archive
	Status         params.StatusResult
	Version        string
	Dying          bool
	Relations      []*Relation
	Units          map[string]*Unit
	Gone           map[string]*Unit // units that were removed
	Actions        map[string]*Action
	NextUnit       int
	NextRelation   int
}

// Archive is one version of the charm, packed.
type Archive struct {
	URL, File, SHA256 string
}

// Unit is one unit.
type Unit struct {
	Name        string
	Number      int
	Life        string // alive, dying, dead
	Addresses   []string
	Workload    params.StatusResult
	Agent       params.StatusResult
	Resolved    params.ResolvedMode
	CharmURL    string
	Ports       []params.PortRange
	Kept        params.SetUnitStateArg // state of the charm and of the agent
	UpdateAsked int
	// Hooks are the hooks that were run, with the unit that they were about and their outcome.
	Hooks      []string
	running    string
	updateSeen int
	starting   bool   // its agent is being started
	agent      string // the one that is connected
	leads      bool   // as its agent was last told
	beats      int    // of its agent since the last change
}

// Relation is one relation. A peer relation has no other side.
type Relation struct {
	ID          int
	Endpoint    charm.Relation
	Remote      string
	Life        string
	App         *Bag
	Units       map[string]*Bag
	RemoteApp   *Bag
	RemoteUnits map[string]*Bag
}

// Bag is data on a relation.
type Bag struct {
	Settings map[string]string
	Version  int64
	InScope  bool
}

// Action is one run of an action.
type Action struct {
	Unit    string         `json:"unit"`
	Name    string         `json:"name"`
	Params  map[string]any `json:"params"`
	Status  string         `json:"status"`
	Message string         `json:"message"`
	Results map[string]any `json:"results"`
	Log     []string       `json:"log"`
}

func newBag() *Bag { return &Bag{Settings: map[string]string{}} }

func (b *Bag) write(changes map[string]string) {
	before := maps.Clone(b.Settings)
	maps.Copy(b.Settings, changes)
	maps.DeleteFunc(b.Settings, func(_, value string) bool { return value == "" })
	if !maps.Equal(before, b.Settings) {
		b.Version++
	}
}

func now(status, info string) params.StatusResult {
	t := time.Now()
	return params.StatusResult{Status: status, Info: info, Since: &t, Data: map[string]any{}}
}

func (r *Relation) peer() bool { return r.Remote == "" }

// key returns the relation's name in tags: its endpoints, the requiring one first (state/relation.go, relationKey).
func (r *Relation) key(app string) string {
	ours, theirs := app+":"+r.Endpoint.Name, r.Remote+":"+r.Endpoint.Name
	switch {
	case r.peer():
		return ours
	case r.Endpoint.Role == charm.RoleRequirer:
		return ours + " " + theirs
	}
	return theirs + " " + ours
}

func (r *Relation) other(app string) string {
	if r.peer() {
		return app
	}
	return r.Remote
}

// members returns the units that a unit hears of, with data versions; dying ones have departed (cleanupDyingUnit).
func (s *State) members(unit string, r *Relation) map[string]int64 {
	members := map[string]int64{}
	for name, bag := range r.RemoteUnits {
		if bag.InScope {
			members[name] = bag.Version
		}
	}
	if r.peer() {
		for name, bag := range r.Units {
			if u := s.Units[name]; name != unit && bag.InScope && u != nil && u.Life == "alive" {
				members[name] = bag.Version
			}
		}
	}
	return members
}

// applications returns the applications whose data a unit can see.
func (s *State) applications(r *Relation) map[string]int64 {
	if r.peer() {
		return map[string]int64{s.App: r.App.Version}
	}
	return map[string]int64{r.Remote: r.RemoteApp.Version}
}

func (s *State) relation(id int) *Relation {
	i := slices.IndexFunc(s.Relations, func(r *Relation) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return s.Relations[i]
}

func (s *State) dropRelation(r *Relation) {
	for _, bag := range r.Units {
		if bag.InScope {
			return
		}
	}
	if r.Life == "dying" {
		s.Relations = slices.DeleteFunc(s.Relations, func(other *Relation) bool { return other == r })
	}
}

func (s *State) remove(name string) {
	u := s.Units[name]
	if u == nil {
		return
	}
	u.Life = "dead"
	s.Gone[name] = u
	delete(s.Units, name)
	for _, r := range slices.Clone(s.Relations) {
		if bag := r.Units[name]; bag != nil {
			bag.InScope = false
		}
		s.dropRelation(r)
	}
	if s.Leader == name {
		s.Leader = ""
		for _, other := range s.ordered() {
			if other.Life == "alive" {
				s.Leader = other.Name
				break
			}
		}
	}
}

func (s *State) ordered() []*Unit {
	var units []*Unit
	for _, u := range s.Units {
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b *Unit) int { return a.Number - b.Number })
	return units
}

func (s *State) charmURL() string { return s.Charms[len(s.Charms)-1].URL }

func unitName(tag string) string {
	name := strings.TrimPrefix(tag, "unit-")
	i := strings.LastIndex(name, "-")
	if name == tag || i < 0 {
		return ""
	}
	return name[:i] + "/" + name[i+1:]
}

func unitTag(name string) string { return "unit-" + strings.ReplaceAll(name, "/", "-") }

func machineTag(u *Unit) string { return fmt.Sprintf("machine-%d", u.Number) }
