// Package recovery decides how a new cluster is made of one unit's data, after a quorum was lost for good, or of a
// backup. Its input is the [State] of a database, its output this unit's next [Step].
//
// An operator asks for a recovery on one unit, which publishes a [Request]. Juju's leader accepts one request at a time
// by an [Acceptance]. Every unit then stops its server of the old cluster and publishes how far its copy goes. Once no
// server can vote, the unit with the request makes the new cluster beside its file, and publishes its ID. Juju's leader
// replaces the old ID by that one, if the unit has answered its acceptance and the unit's machine answers right then:
// published data outlive a machine, and no other unit could start a cluster whose only member is gone. Only then is the
// new cluster started, and each unit stops its server of the old one.
package recovery

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Request is an operator's request for a recovery or a restore on one unit.
type Request struct {
	// Cluster is the old cluster. The request is over once the application has another one.
	Cluster raft.ID `json:"cluster"`
	// GivenUp are the lost units, or identities of lost members. They are not waited for, and data that only they have
	// are lost.
	GivenUp []string `json:"given-up,omitempty"`
	// Force gives units up even if they last published newer data, or a leader.
	Force bool `json:"force,omitempty"`
	// Backup is the backup to restore; empty for a recovery from this unit's file. A restore neither compares copies nor
	// minds a leader.
	Backup string `json:"backup,omitempty"`
	// Asked is the time of the request, which also distinguishes the requests of a unit.
	Asked time.Time `json:"asked"`
	// New is the new cluster, once it is made.
	New raft.ID `json:"new,omitempty"`
	// Heard is this unit's answer to Juju's leader: the acceptance of this request that it last saw.
	Heard Acceptance `json:"heard,omitzero"`
}

// Copy is how far a unit's copy of a database goes.
type Copy struct {
	Cluster raft.ID `json:"cluster"`
	// Term and Index are those of the newest entry of its log; unknown for another unit's copy that has a leader.
	Term  uint64 `json:"term"`
	Index uint64 `json:"index"`
	// Stopped reports whether its server was stopped for a recovery, and stays stopped.
	Stopped bool `json:"stopped,omitempty"`
	// For is the accepted request for which the server is stopped, as its unit last saw it. The unit starts the server
	// again only once it no longer sees that request.
	For string `json:"stopped-for,omitempty"`
	// HasRaftLeader reports whether its server runs and knows a leader of the database.
	HasRaftLeader bool `json:"has-leader,omitempty"`
	// Damage describes the entries that its file lacks.
	Damage string `json:"damage,omitempty"`
}

// newer reports whether c is newer than other, as a Raft server judges a candidate (section 5.4.1 of the Raft paper).
func (c Copy) newer(other Copy) bool {
	return c.Term > other.Term || c.Term == other.Term && c.Index > other.Index
}

// Peer is another unit of the model, as published.
type Peer struct {
	Unit  string
	Dying bool
	// Read reports whether its data could be read.
	Read    bool
	Copy    *Copy
	Request *Request
	// Reached reports whether its machine answers now. It is known only on Juju's leader, for a unit with a new cluster.
	Reached bool
}

// Member is a member of the old cluster.
type Member struct {
	ID raft.ID
	// Unit is the unit that has, or once had, the member; empty if unknown.
	Unit string
	// Exists reports whether the unit is in the model.
	Exists bool
	// Answers reports whether its server answers clients, with or without a leader.
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
	// Cluster is the application's.
	Cluster raft.ID
	// Own is this unit's copy of that cluster, Request this unit's request; each is nil if there is none.
	Own     *Copy
	Request *Request
	// Staged is the new cluster whose file is beside this unit's file; empty if there is none.
	Staged raft.ID
	// Peers are the other units of the model. Members are the members by this unit's file.
	Peers   []Peer
	Members []Member
	// Serving are the addresses of servers of the application's cluster that report a connection to a leader.
	Serving []string
	// HeldFor is the unit for whose request this unit's server was stopped; empty if it was not.
	HeldFor string
}

// standing returns the requests that are not over, by unit.
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

// judged returns the members, and the units that publish a copy but are no members by this unit's file: their servers
// may have joined later, or may not know that they were removed.
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
	c.Stopped = c.Stopped && c.For == s.request() // otherwise it may have been started since
	return &c
}
