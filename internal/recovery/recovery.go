// Package recovery decides how to make a new cluster from one unit's data, after a quorum was lost for good, or from
// a backup. Its input is the [State] of a database, its output this unit's next [Step].
//
// An operator requests a recovery on one unit, which publishes a [Request]. Juju's leader accepts one request at a
// time with an [Acceptance]. Every unit then stops its server of the old cluster and publishes how far its copy goes.
// Once no server can vote, the unit with the request makes the new cluster beside its file, and publishes its ID.
// Juju's leader replaces the old ID with the new one, if the unit has answered the acceptance and the unit's machine
// answers at that moment: published data outlives a machine, and no other unit could start a cluster whose only
// member is gone. Only then is the new cluster started; a unit that still runs a server of the old one stops it.
package recovery

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Request is an operator's request for a recovery or a restore on one unit.
type Request struct {
	// Cluster is the old cluster. The request ends once the application has another one.
	Cluster raft.ID `json:"cluster"`
	// GivenUp are the lost units, or identities of lost members. No unit waits for them, and data that only they have is
	// lost.
	GivenUp []string `json:"given-up,omitempty"`
	// Force gives units up even if they last published newer data, or a leader.
	Force bool `json:"force,omitempty"`
	// Backup is the backup to restore; empty for a recovery from this unit's file. A restore does not compare copies,
	// and replaces even a cluster with a leader.
	Backup string `json:"backup,omitempty"`
	// Asked is the time of the request. It also distinguishes the requests of a unit.
	Asked time.Time `json:"asked"`
	// New is the new cluster, once it is made.
	New raft.ID `json:"new,omitempty"`
	// Heard is this unit's answer to Juju's leader: the last acceptance of this request that the unit saw.
	Heard Acceptance `json:"heard,omitzero"`
}

// Copy is how far a unit's copy of a database goes.
type Copy struct {
	Cluster raft.ID `json:"cluster"`
	// Term and Index belong to the newest entry of the copy's log; unknown for another unit's copy that has a leader.
	Term  uint64 `json:"term"`
	Index uint64 `json:"index"`
	// Stopped reports whether the unit's server was stopped for a recovery, and stays stopped.
	Stopped bool `json:"stopped,omitempty"`
	// For is the accepted request for which the server is stopped, as the server's unit last saw it. The unit starts the
	// server again only once it no longer sees that request.
	For string `json:"stopped-for,omitempty"`
	// HasRaftLeader reports whether the unit's server runs and knows a leader of the database.
	HasRaftLeader bool `json:"has-leader,omitempty"`
	// Damage describes the entries that the file lacks.
	Damage string `json:"damage,omitempty"`
}

// newer reports whether c is newer than other, as a Raft server judges a candidate (section 5.4.1 of the Raft paper).
func (c Copy) newer(other Copy) bool {
	return c.Term > other.Term || c.Term == other.Term && c.Index > other.Index
}

// Peer is the published state of another unit of the model.
type Peer struct {
	Unit  string
	Dying bool
	// Read reports whether the unit's data could be read.
	Read    bool
	Copy    *Copy
	Request *Request
	// Reached reports whether the unit's machine answers now. Only Juju's leader knows it, and only for a unit with a
	// new cluster.
	Reached bool
}

// Member is a member of the old cluster.
type Member struct {
	ID raft.ID
	// Unit is the unit that has, or once had, the member; empty if unknown.
	Unit string
	// Exists reports whether the unit is in the model.
	Exists bool
	// Answers reports whether the member's server answers clients, with or without a leader.
	Answers bool
}

// State is the state of one database, as this unit knows it.
type State struct {
	Database ovndb.Database
	// Unit is this unit. JujuLeader reports whether it is Juju's leader, Dying whether it is being removed.
	Unit              string
	JujuLeader, Dying bool
	// Now is the time by this unit's clock.
	Now time.Time
	// Accepted is the acceptance that Juju's leader has published.
	Accepted Acceptance
	// Cluster is the application's cluster.
	Cluster raft.ID
	// Own is this unit's copy of that cluster, Request this unit's request; each is nil if there is none.
	Own     *Copy
	Request *Request
	// Staged is the new cluster whose file is beside this unit's file; empty if there is none.
	Staged raft.ID
	// Peers are the other units of the model. Members are the members listed in this unit's file.
	Peers   []Peer
	Members []Member
	// Serving are the addresses of servers of the application's cluster that report a connection to a leader.
	Serving []string
	// HeldFor is the unit for whose request this unit's server was stopped; empty if it was not.
	HeldFor string
}

// standing returns the requests that have not ended, by unit.
func (s State) standing() map[string]Request {
	all := map[string]Request{}
	if s.Request != nil && s.Request.Cluster == s.Cluster {
		all[s.Unit] = *s.Request
	}
	for _, p := range s.Peers {
		if p.Request != nil && p.Request.Cluster == s.Cluster && !p.Dying {
			all[p.Unit] = *p.Request
		}
	}
	return all
}

func (s State) peer(unit string) *Peer {
	for i := range s.Peers {
		if s.Peers[i].Unit == unit {
			return &s.Peers[i]
		}
	}
	return nil
}

func (s State) dying(unit string) bool {
	p := s.peer(unit)
	return p == nil || p.Dying
}

// judged returns the members, and the units that publish a copy but are not members according to this unit's file:
// their servers may have joined later, or may not know that they were removed.
func (s State) judged() []Member {
	all := slices.Clone(s.Members)
	for _, p := range s.Peers {
		member := slices.ContainsFunc(s.Members, func(m Member) bool { return m.Unit == p.Unit })
		if !member && !p.Dying && s.copyOf(p.Unit) != nil {
			all = append(all, Member{Unit: p.Unit, Exists: true})
		}
	}
	return all
}

func (s State) copyOf(unit string) *Copy {
	if unit == s.Unit {
		return s.Own
	}
	p := s.peer(unit)
	if p == nil || p.Copy == nil || p.Copy.Cluster != s.Cluster {
		return nil
	}
	c := *p.Copy
	c.Stopped = c.Stopped && c.For == s.request() // otherwise the server may have been started since
	return &c
}

// Stage is the stage of this unit's last recovery or restore of a database.
type Stage string

// The stages.
const (
	// Idle means that none was requested, or that the lost quorum has returned.
	Idle Stage = ""
	// Requested means that an operator has requested it, and Juju's leader has yet to accept it.
	Requested Stage = "requested"
	// Accepted means that Juju's leader has accepted it, and all units stop their servers.
	Accepted Stage = "accepted"
	// Made means that the new cluster is made, but not published.
	Made Stage = "made"
	// Withdrawn means that it has ended, and the old cluster stays.
	Withdrawn Stage = "withdrawn"
	// Placed means that the new cluster has replaced the old one, and has no leader here.
	Placed Stage = "placed"
	// Served means that the new cluster has a leader here, or that this unit has no copy of it yet.
	Served Stage = "served"
	// Overtaken means that the application has another cluster than the new one.
	Overtaken Stage = "overtaken"
)

// transition maps a stage to the next one. A stage without an entry stays.
type transition map[Stage]Stage

// The transitions. The methods of [Attempt] explain them.
var (
	onAsk = transition{
		Idle: Requested, Requested: Requested, Accepted: Requested, Made: Made, Withdrawn: Requested, Placed: Requested,
		Served: Requested, Overtaken: Requested,
	}
	onAccept   = transition{Requested: Accepted}
	onMake     = transition{Accepted: Made, Made: Made}
	onWithdraw = transition{Requested: Withdrawn, Accepted: Withdrawn, Made: Withdrawn}
	onTakeBack = transition{Requested: Idle, Accepted: Idle, Made: Idle}
	onPlace    = transition{Requested: Placed, Accepted: Placed, Made: Placed}
	onOvertake = transition{
		Requested: Overtaken, Accepted: Overtaken, Made: Overtaken, Placed: Overtaken, Served: Overtaken,
	}
	onLead   = transition{Placed: Served, Withdrawn: Idle}
	onUnlead = transition{Served: Placed}
	onForget = transition{Placed: Idle, Served: Idle, Overtaken: Idle}
)

// Attempt is this unit's last recovery or restore of a database, and its outcome.
type Attempt struct {
	Stage Stage `json:"stage,omitempty"`
	// Request is the operator's request. Its New is the cluster that was made for it. After a recovery, New is the cluster
	// that has replaced the old one: another unit may have made it.
	Request Request `json:"request,omitzero"`
	// Why explains why the request was withdrawn.
	Why finding.Finding `json:"why,omitzero"`
}

func (a Attempt) on(what transition) Attempt {
	next, is := what[a.Stage]
	switch {
	case !is:
		return a
	case next == Idle:
		return Attempt{}
	}
	a.Stage = next
	return a
}

// Pending reports whether the request is neither carried out nor withdrawn.
func (a Attempt) Pending() bool {
	return a.Stage == Requested || a.Stage == Accepted || a.Stage == Made
}

// Replaced reports whether the old cluster was replaced after the request.
func (a Attempt) Replaced() bool {
	return a.Stage == Placed || a.Stage == Served || a.Stage == Overtaken
}

// Of returns the stage if the old cluster was replaced after a request for the same data; otherwise Idle.
func (a Attempt) Of(backup string) Stage {
	if a.Replaced() && a.Request.Backup == backup {
		return a.Stage
	}
	return Idle
}

// AskFor returns the attempt after an operator's request.
func (a Attempt) AskFor(r Request) Attempt {
	a = a.on(onAsk)
	a.Request, a.Why = r, finding.Finding{}
	return a
}

// Accept returns the attempt after Juju's leader has accepted it.
func (a Attempt) Accept() Attempt { return a.on(onAccept) }

// TakeBack returns the attempt after an operator has withdrawn it.
func (a Attempt) TakeBack() Attempt { return a.on(onTakeBack) }

// Forget returns the attempt after an operator has permitted replacing its cluster once more.
func (a Attempt) Forget() Attempt { return a.on(onForget) }

// Makes returns the attempt after its new cluster was made.
func (a Attempt) Makes(cluster raft.ID) Attempt {
	a = a.on(onMake)
	a.Request.New = cluster
	return a
}

// Withdraws returns the attempt after it was withdrawn, because it can't be carried out or another one is accepted.
// Its new cluster stays beside the file: Juju's leader may be publishing its ID right now. The next cluster that is
// made, or published, replaces it.
func (a Attempt) Withdraws(why finding.Finding) Attempt {
	a = a.on(onWithdraw)
	a.Why = why
	return a
}

// Seen returns the attempt given the application's cluster, empty if unknown.
func (a Attempt) Seen(cluster raft.ID) Attempt {
	switch {
	case cluster == "" || cluster == a.Request.Cluster:
		return a
	case a.Pending() && a.Request.Backup == "":
		a.Request.New = cluster
	}
	if cluster == a.Request.New {
		return a.on(onPlace)
	}
	return a.on(onOvertake)
}

// Led returns the attempt given whether the server here has a leader of the application's cluster.
func (a Attempt) Led(led bool) Attempt {
	if led {
		return a.on(onLead)
	}
	return a.on(onUnlead)
}
