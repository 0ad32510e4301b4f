// Package model is the lab's version of Juju's controller and unit agents: one application, its units, its relations,
// and what each agent has done. [State.Next] returns what an agent does next, by the rules of Juju's uniter.
package model

import (
	"slices"
	"sync"
	"time"
)

// Status is a status word with its message, of a workload or of an agent.
type Status struct {
	Status  string
	Message string
	Since   time.Time
}

// State is the whole model. It is data: [Model] guards it.
type State struct {
	App         string
	JujuVersion string
	Quirks      Quirks
	RetryScale  float64

	NextUnit     int
	NextAction   int
	LastRelation int // IDs aren't used twice

	Leader          string
	LeaderSettings  map[string]string
	LeaderVersion   int
	AppDying        bool
	WorkloadVersion string
	Config          map[string]any
	ConfigVersion   int
	// CharmVersion grows when the charm is refreshed.
	CharmVersion int

	Relations []*Relation
	Units     map[string]*Unit

	clock func() time.Time // nil: time.Now
}

// Relation has the units of a relation and their data.
type Relation struct {
	ID   int
	Name string // our endpoint
	// Dying reports whether the relation is being removed.
	Dying bool
	App   Bag
	Units map[string]*Bag
	// Remote is the other application, which tests simulate. A peer relation has none.
	Remote      string
	RemoteApp   Bag
	RemoteUnits map[string]*Bag
	Since       time.Time // it was related
}

// Bag is the data of a unit or application on a relation. Juju keeps it readable when the unit has left.
type Bag struct {
	Settings map[string]string
	// Version grows with every real change; agents compare it with the version of their last -changed hook.
	Version int
	// InScope reports whether the unit is (still) in the relation.
	InScope bool
	// Noted is the newest version, of which agents hear at Until; until then they know Before. See [Quirks].Late.
	Noted  int
	Before int
	Until  time.Time
}

// Unit is one unit of the application, and its machine's addresses.
type Unit struct {
	Name   string
	Number int
	// Addresses are the machine's addresses, the preferred one first. Bindings has the addresses in the space of each
	// bound endpoint. AddressVersion grows with every change; then the agent runs config-changed.
	Addresses      []string
	Bindings       map[string][]string
	AddressVersion int

	Dying    bool
	Lost     bool // the machine is off
	Workload Status
	Agent    Status
	Ports    []string
	Uniter   Uniter
	// GoneAt is when the unit leaves the model; zero means after its last hook.
	GoneAt time.Time
	// History has every hook that was run, in order, with its outcome.
	History []string
}

// Uniter is the memory of the unit's agent.
type Uniter struct {
	Installed bool
	Started   bool
	Stopped   bool
	Removed   bool
	// Leader reports whether leader-elected was queued here.
	Leader bool
	// LeaderVersion is kept in the agent's memory only.
	LeaderVersion  int
	ConfigVersion  int
	AddressVersion int
	CharmVersion   int
	MissedCharm    int // the refresh that the agent will never hear of
	StatusSet      bool
	// Rebooted is set until start has run on the machine that came back.
	Rebooted bool
	// Queued is a hook that has to run before any other.
	Queued *Hook
	// Failure is set while Queued failed and waits to be resolved.
	Failure *Failure
	// Relations has the relations that the agent knows, by their ID.
	Relations map[int]*Membership
}

// Failure is how a hook failed.
type Failure struct {
	Hook     string
	ExitCode int
	// Output is what the charm printed and logged.
	Output string
}

// Membership is what an agent knows of one relation.
type Membership struct {
	Created bool
	// Peer reports whether the agent knows that this is a peer relation. After a restart the agent does not know it, and
	// breaks the relation.
	Peer bool
	// Forgotten reports whether the agent has restarted and doesn't know the other application: then -broken doesn't
	// name it.
	Forgotten      bool
	ChangedPending string
	Members        map[string]int
	AppVersion     int
	Seen           map[string]map[string]string // the agent's cache of members' data
	// Joined is when the last -joined ran, or the unit entered.
	Joined time.Time
	// Gone are the members that the agent knows to be gone: [Quirks].PeersStay.
	Gone map[string]bool
}

// Relation finds a relation by its number, or returns nil.
func (s *State) Relation(id int) *Relation {
	i := slices.IndexFunc(s.Relations, func(r *Relation) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return s.Relations[i]
}

// Ordered returns all units by their number.
func (s *State) Ordered() []*Unit {
	units := make([]*Unit, 0, len(s.Units))
	for _, u := range s.Units {
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b *Unit) int { return a.Number - b.Number })
	return units
}

// Model is a [State] that goroutines share.
type Model struct {
	mu    sync.Mutex
	state *State
}

// New makes a model of s.
func New(s *State) *Model { return &Model{state: s} }

// Do runs f with the state. Nothing of it may be kept or changed after f.
func (m *Model) Do(f func(*State)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f(m.state)
}
