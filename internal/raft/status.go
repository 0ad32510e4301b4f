// Package raft knows what one member of an OVN database's Raft cluster says of
// itself and of the others, and decides from it what may be done to the
// membership. It is pure: text and values in, values out. It reads no clock,
// no file and no network, so every decision can be replayed in a test.
//
// The text is that of `ovs-appctl cluster/status`, which raft_unixctl_status()
// in ovsdb/raft.c of Open vSwitch writes; the form has been the same from OVS
// 2.16 to 3.6.
package raft

import "time"

// Status is what `cluster/status DB` of one server says. It is that server's
// own view: the rows of Servers are those of the newest entry of its log,
// committed or not.
type Status struct {
	// Nick is the first line: the first four hex digits of the server's ID.
	Nick string
	// Name is the database's name, OVN_Northbound or OVN_Southbound.
	Name string
	// Cluster is the cluster's ID; nil while a server that joins has not yet
	// learnt it ("not yet known").
	Cluster *ID
	// Server is the ID of the server that was asked.
	Server ID
	// Address is the server's own Raft address, PROTO:HOST:PORT.
	Address string
	// State is the value of the line "Status:".
	State State
	// Remotes are the addresses that a joining server tries, in order.
	Remotes []string
	// Adding and Removing are the changes that a leader has under way.
	Adding, Removing []Pending
	Role             Role
	Term             uint64
	// Leader and Vote are "self", "unknown" or the four digits of a server.
	Leader, Vote Ref
	// Election is the newest election that this server has started, Won the
	// time since it last won one. A former leader keeps both.
	Election *Election
	Won      *time.Duration
	// ElectionTimer is the base of all time-outs; ChangingTo is the value that
	// a leader is about to commit, 0 where none is.
	ElectionTimer, ChangingTo time.Duration
	// Log is the range of entries that the server holds; End is exclusive.
	Log Log
	// NotCommitted and NotApplied count entries at the end of the log.
	NotCommitted, NotApplied uint64
	Connections              []Connection
	// Disconnections counts lost connections since the server started; nil on
	// OVS before 2.15, which does not print it.
	Disconnections *uint64
	Servers        []Member
	// Unknown holds lines that this parser has no meaning for, so that nothing
	// that a newer OVS says is lost in silence.
	Unknown []Unknown
}

// ID is a full server or cluster ID: 36 characters, lower case.
type ID string

// Short is the identity: the first four hex digits, which is all that
// cluster/status prints of other members (SID_FMT in ovsdb/raft-private.h).
func (id ID) Short() string {
	if len(id) < 4 {
		return string(id)
	}
	return string(id[:4])
}

// briefDigits are no other ID's among those that one application sees.
const briefDigits = 8

// Brief is the ID's first eight digits, for a line that has no room for all of it.
func (id ID) Brief() string { return string(id[:min(len(id), briefDigits)]) }

// State is the value of "Status:" as printed.
type State string

// The states that raft_unixctl_status() can print. LeftCluster is never seen from
// outside: the database leaves the process in the same turn. Failed is that of a
// leader which could not write an entry of a client; one that fails otherwise leaves
// the process in the same turn, too.
const (
	ClusterMember  State = "cluster member"
	JoiningCluster State = "joining cluster"
	LeavingCluster State = "leaving cluster"
	LeftCluster    State = "left cluster"
	Failed         State = "failed"
	Disconnected   State = "disconnected from the cluster (election timeout)"
)

// Role is the value of "Role:".
type Role string

// The three roles of Raft.
const (
	Leader    Role = "leader"
	Candidate Role = "candidate"
	Follower  Role = "follower"
)

// Ref names a server the way "Leader:" and "Vote:" do.
type Ref string

// The two values of a Ref that are not four hex digits.
const (
	Self       Ref = "self"
	UnknownRef Ref = "unknown"
)

// Phase is what a member's row or a pending change says of its progress
// (raft_server_phase_to_string() in ovsdb/raft-private.c); empty when stable.
type Phase string

// The phases that ovsdb-server prints.
const (
	AddingCatchup    Phase = "adding: catchup"
	AddingCaughtUp   Phase = "adding: caught up"
	AddingCommitting Phase = "adding: committing"
	RemovingPhase    Phase = "removing"
)

// Pending is a line "Adding server …" or "Removing server …" of a leader.
type Pending struct {
	Short, Address string
	Phase          Phase
	// Extra is the rest of the line, where it could not be understood.
	Extra string
}

// Election is the line "Last Election started …".
type Election struct {
	Ago    time.Duration
	Reason string
}

// Log is the line "Log: [START, END]"; End is exclusive.
type Log struct{ Start, End uint64 }

// Connection is one item of the line "Connections:". Peer is "0000" on the
// connection that a server joined through, which never learns its peer's ID.
type Connection struct {
	Peer     string
	Incoming bool
	// Up is false for an item in parentheses.
	Up bool
}

// Member is one row of "Servers:".
type Member struct {
	// Short are the first four hex digits of the member's ID; the text prints them twice.
	Short, Address string
	Self           bool
	Phase          Phase
	// VotedFor is the member that this one voted for, as a candidate sees it; empty if
	// not printed.
	VotedFor string
	// Next and Match are the leader's view of the member's log; nil elsewhere.
	Next, Match *uint64
	// LastMsg is the time since the last message from it. Only on the leader,
	// and on a follower for the leader's row, does it mean anything.
	LastMsg *time.Duration
	// Extra is the rest of the row, where it could not be understood.
	Extra string
}

// Unknown is a line that the parser does not know, with its number from 1.
type Unknown struct {
	Line int
	Text string
}
