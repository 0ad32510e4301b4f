// Package recovery decides how the data of one unit become a new cluster, in which all
// units are again, after a quorum was lost for good or with a backup: what was found out
// goes in, the next step of this unit, or what is waited for or in the way, comes out.
//
// An operator asks for it on one unit, which publishes a [Request]. The application's Juju leader accepts one at a
// time, by an [Acceptance]. Every unit stops its server of the cluster that is given up and publishes how far its copy
// goes. Once none is left that could vote, the unit that was asked makes the new cluster, beside its file, and
// publishes its ID. The Juju leader, which alone can, puts that ID in the place of the old one, if the unit has
// answered it, and its machine answers in that moment: what a unit publishes outlives its machine, and a cluster whose
// only member is gone could not be started by any other. From then on, and not before,
// the new one is started; and a server of the old one is stopped wherever a hook finds it.
package recovery

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Request is what an operator has asked for on one unit.
type Request struct {
	// Cluster is the one that is given up. With any other as the application's, the
	// request is over.
	Cluster raft.ID `json:"cluster"`
	// GivenUp are the units, or the identities of members, that are not waited for: they
	// are lost, and what only they have is lost.
	GivenUp []string `json:"given-up,omitempty"`
	// Force gives units up though they had newer data, or a leader, when they were last
	// heard: they are lost, and what they have published outlives them.
	Force bool `json:"force,omitempty"`
	// Backup is where the data come from instead of this unit's file; then it does not
	// matter which copy is newest, nor that there is a leader.
	Backup string `json:"backup,omitempty"`
	// Asked is when it was asked for, which also tells apart the requests of a unit.
	Asked time.Time `json:"asked"`
	// New is the cluster that was made, once it was.
	New raft.ID `json:"new,omitempty"`
	// Heard is the acceptance that this unit has last seen of the request: its answer to it.
	Heard Acceptance `json:"heard,omitzero"`
}

// Copy is how far a unit's copy of a database goes.
type Copy struct {
	Cluster raft.ID `json:"cluster"`
	// Term and Index are those of the newest entry of its log; another unit's are not known
	// while it has a leader.
	Term  uint64 `json:"term"`
	Index uint64 `json:"index"`
	// Stopped reports whether its server was stopped for a recovery, and stays stopped.
	Stopped bool `json:"stopped,omitempty"`
	// For is the request that was accepted when its unit last saw the server stopped. The server is started again only
	// once its unit no longer sees that request.
	For string `json:"stopped-for,omitempty"`
	// HasRaftLeader reports whether its server runs, and knows a leader of the database.
	HasRaftLeader bool `json:"has-leader,omitempty"`
	// Damage is what its file lacks.
	Damage string `json:"damage,omitempty"`
}

// newer reports whether c has entries that the other lacks, as a Raft server judges a
// candidate (section 5.4.1 of the Raft paper).
func (c Copy) newer(other Copy) bool {
	return c.Term > other.Term || c.Term == other.Term && c.Index > other.Index
}

// Peer is another unit of the model, by what it publishes.
type Peer struct {
	Unit  string
	Dying bool
	// Read reports whether its data could be read.
	Read    bool
	Copy    *Copy
	Request *Request
	// Reached reports whether its machine answers at this moment. It is set only if this unit
	// is Juju's leader and the other unit has made a new cluster.
	Reached bool
}

// Member is a member of the cluster that is given up.
type Member struct {
	ID raft.ID
	// Unit has, or once had, the member; empty if that is not known.
	Unit string
	// Exists reports whether the unit is in the model.
	Exists bool
	// Answers reports whether its server answers clients, with or without a leader.
	Answers bool
}

// State is all that is known of one database.
type State struct {
	Database ovndb.Database
	// Unit is this unit; JujuLeader reports whether Juju calls it the application's leader, Dying
	// whether it is being removed.
	Unit              string
	JujuLeader, Dying bool
	// Now is the time by this unit's clock.
	Now time.Time
	// Accepted is what Juju's leader has published.
	Accepted Acceptance
	// Cluster is the application's.
	Cluster raft.ID
	// Own is this unit's copy; nil if it has none of that cluster. Request is this unit's
	// request; nil if it has none.
	Own     *Copy
	Request *Request
	// Staged is the new cluster whose file is beside this unit's file.
	Staged raft.ID
	// Peers are the other units of the model; Members those of the configuration that
	// this unit's file ends with.
	Peers   []Peer
	Members []Member
	// Serving are the addresses at which a server of the application's cluster reports a
	// connection to a leader.
	Serving []string
	// HeldFor is the unit for whose request this unit's server was stopped; empty if
	// it was not.
	HeldFor string
}

// standing are the requests of this and of other units that are not over, by their units.
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

// peer finds a unit; nil if there is none.
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

// judged are the members, and the units that are not members by this unit's file but publish a copy:
// the server of such a unit may have been added since, or not know that it was removed.
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
	c.Stopped = c.Stopped && c.For == s.request() // else it may have been started since
	return &c
}
