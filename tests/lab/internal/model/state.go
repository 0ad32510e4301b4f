// Package model is what the lab knows as Juju's controller and its unit agents
// would: one application, its units, its relations, and for every unit what its
// agent has done so far. [State.Next] answers what an agent does next, by the
// rules of Juju's uniter.
package model

import (
	"slices"
	"time"
)

// Status is a status word with its message, of a workload or of an agent.
type Status struct {
	Status  string    `json:"status"`
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since"`
}

// State is the whole model. It is data: [Model] guards and stores it.
type State struct {
	App           string        `json:"app"`
	JujuVersion   string        `json:"juju_version"`
	Ways          Ways          `json:"ways"`
	ElectionTimer time.Duration `json:"election_timer"`
	Northd        bool          `json:"northd,omitempty"`
	HookTimeout   time.Duration `json:"hook_timeout"`
	RetryScale    float64       `json:"retry_scale"`

	NextUnit     int `json:"next_unit"`
	NextAction   int `json:"next_action"`
	LastRelation int `json:"last_relation,omitempty"` // IDs aren't used twice

	Leader          string            `json:"leader,omitempty"`
	LeaderSettings  map[string]string `json:"leader_settings"`
	LeaderVersion   int               `json:"leader_version"`
	AppDying        bool              `json:"app_dying,omitempty"`
	WorkloadVersion string            `json:"workload_version,omitempty"`
	Config          map[string]any    `json:"config"`
	ConfigVersion   int               `json:"config_version"`
	// CharmVersion grows when the charm is refreshed.
	CharmVersion int `json:"charm_version,omitempty"`

	Relations []*Relation      `json:"relations"`
	Units     map[string]*Unit `json:"units"`

	clock func() time.Time // nil: time.Now
}

// Relation is who is in a relation and what they said.
type Relation struct {
	ID   int    `json:"id"`
	Name string `json:"name"` // our endpoint
	// Dying is set when the relation is being removed.
	Dying bool            `json:"dying,omitempty"`
	App   Bag             `json:"app"`
	Units map[string]*Bag `json:"units"`
	// Remote is the other application, which tests play. A peer relation has none.
	Remote      string          `json:"remote,omitempty"`
	RemoteApp   Bag             `json:"remote_app"`
	RemoteUnits map[string]*Bag `json:"remote_units,omitempty"`
	Since       time.Time       `json:"since"` // it was related
}

// Bag is the data that one unit, or the application, put on a relation. A
// unit's bag stays when the unit has left: Juju keeps it readable.
type Bag struct {
	Settings map[string]string `json:"settings"`
	// Version grows with every real change; agents compare it with the version
	// of their last -changed hook.
	Version int `json:"version"`
	// InScope is whether the unit is (still) in the relation.
	InScope bool `json:"in_scope,omitempty"`
	// Noted is the newest version that is on its way to the agents, which hear of it
	// at Until, and of Before by then: [Ways].Late.
	Noted  int       `json:"noted,omitempty"`
	Before int       `json:"before,omitempty"`
	Until  time.Time `json:"until,omitzero"`
}

// Unit is one unit of the application, and its machine's addresses.
type Unit struct {
	Name    string `json:"name"`
	Number  int    `json:"number"`
	Address string `json:"address"` // the preferred one
	// Networks has the addresses, and so [Unit.AddressesOf].
	Networks
	Dying    bool     `json:"dying,omitempty"`
	Lost     bool     `json:"lost,omitempty"` // the machine is off
	Workload Status   `json:"workload"`
	Agent    Status   `json:"agent"`
	Ports    []string `json:"ports,omitempty"`
	Uniter   Uniter   `json:"uniter"`
	// GoneAt is when the unit is out of the model; zero: when its hooks have run.
	GoneAt time.Time `json:"gone_at,omitzero"`
	// History names every hook that was run, in order, with how it ended.
	History []string `json:"history,omitempty"`
}

// Uniter is what the unit's agent remembers.
type Uniter struct {
	Installed bool `json:"installed,omitempty"`
	Started   bool `json:"started,omitempty"`
	Stopped   bool `json:"stopped,omitempty"`
	Removed   bool `json:"removed,omitempty"`
	// Leader is whether leader-elected was queued here.
	Leader bool `json:"leader,omitempty"`
	// LeaderVersion is kept in the agent's memory only.
	LeaderVersion  int  `json:"leader_version,omitempty"`
	ConfigVersion  int  `json:"config_version,omitempty"`
	AddressVersion int  `json:"address_version,omitempty"`
	CharmVersion   int  `json:"charm_version,omitempty"`
	StatusSet      bool `json:"status_set,omitempty"`
	// Rebooted is set until start has run on the machine that came back.
	Rebooted bool `json:"rebooted,omitempty"`
	// Queued is a hook that has to run before any other.
	Queued *Hook `json:"queued,omitempty"`
	// Failure is set while Queued failed and waits to be resolved.
	Failure *Failure `json:"failure,omitempty"`
	// Relations has the relations that the agent knows, by their ID.
	Relations map[int]*Membership `json:"relations"`
}

// Failure is how a hook failed.
type Failure struct {
	Hook     string `json:"hook"`
	ExitCode int    `json:"exit_code"`
	// Output is the end of what the charm wrote and logged.
	Output string `json:"output"`
}

// Membership is what an agent knows of one relation.
type Membership struct {
	Created bool `json:"created,omitempty"`
	// Peer is whether the agent knows that this is a peer relation. An agent
	// that restarted doesn't, and so breaks the relation when its unit goes.
	Peer bool `json:"peer,omitempty"`
	// Forgotten is whether the agent restarted, and doesn't know the other
	// application: -broken then doesn't say it.
	Forgotten      bool                         `json:"forgotten,omitempty"`
	ChangedPending string                       `json:"changed_pending,omitempty"`
	Members        map[string]int               `json:"members"`
	AppVersion     int                          `json:"app_version,omitempty"`
	Seen           map[string]map[string]string `json:"seen"` // the agent's cache of members' data
	// Joined is when the last -joined ran, or the unit entered.
	Joined time.Time `json:"joined,omitzero"`
	// Gone are the members of whose end the agent has heard: [Ways].PeersStay.
	Gone map[string]bool `json:"gone,omitempty"`
}

// Relation finds a relation by its number, or returns nil.
func (s *State) Relation(id int) *Relation {
	i := slices.IndexFunc(s.Relations, func(r *Relation) bool { return r.ID == id })
	if i < 0 {
		return nil
	}
	return s.Relations[i]
}

// Ordered is all units by their number.
func (s *State) Ordered() []*Unit {
	units := make([]*Unit, 0, len(s.Units))
	for _, u := range s.Units {
		units = append(units, u)
	}
	slices.SortFunc(units, func(a, b *Unit) int { return a.Number - b.Number })
	return units
}
