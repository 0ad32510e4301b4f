// Package raft parses one member's status of an OVN database's Raft cluster, and decides which changes of the
// membership are safe. It is pure: it reads no clock, no file and no network, so every decision can be replayed in a
// test.
//
// The status is the text of `ovs-appctl cluster/status`, which raft_unixctl_status() in ovsdb/raft.c of Open vSwitch
// writes. Its form is the same from OVS 2.16 to 3.6.
package raft

import "time"

// Status is one server's output of `cluster/status DB`. It is that server's own view: the rows of Servers are those of
// the newest entry of its log, committed or not.
type Status struct {
	// Text is the whole output, which has more values than the fields.
	Text string
	// Name is the database's name, OVN_Northbound or OVN_Southbound.
	Name string
	// Cluster is the cluster's ID; empty while a joining server has not learned it ("not yet known").
	Cluster ID
	// Server is the ID of the server that printed the status.
	Server ID
	// Address is the server's own Raft address, PROTO:HOST:PORT.
	Address string
	// State is the value of the line "Status:".
	State MemberState
	// Remotes are the addresses that a joining server tries, in order.
	Remotes []string
	// Removing are the members that a leader is removing.
	Removing []Member
	Role     Role
	Term     uint64
	// Leader and Vote are "self", "unknown" or the four digits of a server.
	Leader, Vote Ref
	// ElectionTimer is the base of all timeouts; ChangingTo is the value that a leader is about to commit, 0 if none.
	ElectionTimer, ChangingTo time.Duration
	// Log is the range of entries that the server holds; End is exclusive.
	Log Log
	// NotCommitted and NotApplied count entries at the end of the log.
	NotCommitted, NotApplied uint64
	Connections              []Connection
	Servers                  []Member
	// Unknown has the lines that this parser does not know. A newer OVS may print some.
	Unknown []string
}

// ID is a full server or cluster ID: 36 characters, lower case.
type ID string

// Short returns the identity: the first four hex digits. cluster/status prints no more of other members' IDs (SID_FMT
// in ovsdb/raft-private.h).
func (id ID) Short() string {
	if len(id) < 4 {
		return string(id)
	}
	return string(id[:4])
}

// briefDigits is enough digits to distinguish the IDs of one application.
const briefDigits = 8

// Brief returns the ID's first eight digits, for short lines.
func (id ID) Brief() string { return string(id[:min(len(id), briefDigits)]) }

// MemberState is the value of "Status:" as printed.
type MemberState string

// The states that raft_unixctl_status() can print. LeftCluster is never visible: the process drops the database at
// once. Failed is the state of a leader that could not write a client's entry; after other failures the process drops
// the database at once, too.
const (
	ClusterMember  MemberState = "cluster member"
	JoiningCluster MemberState = "joining cluster"
	LeavingCluster MemberState = "leaving cluster"
	LeftCluster    MemberState = "left cluster"
	Failed         MemberState = "failed"
	Disconnected   MemberState = "disconnected from the cluster (election timeout)"
)

// Role is the value of "Role:".
type Role string

// The three roles of Raft.
const (
	Leader    Role = "leader"
	Candidate Role = "candidate"
	Follower  Role = "follower"
)

// Ref is a server as "Leader:" and "Vote:" name it.
type Ref string

// The two values of a Ref that are not four hex digits.
const (
	Self       Ref = "self"
	UnknownRef Ref = "unknown"
)

// Phase is a pending change of a member (raft_server_phase_to_string() in ovsdb/raft-private.c), or empty.
type Phase string

// The phases of members with a vote; a server that only catches up has none yet.
const (
	AddingCommitting Phase = "adding: committing"
	RemovingPhase    Phase = "removing"
)

// Log is the line "Log: [START, END]"; End is exclusive.
type Log struct{ Start, End uint64 }

// Connection is one item of the line "Connections:". Peer is "0000" on the connection through which the server
// joined: the server never learns that peer's ID.
type Connection struct {
	Peer     string
	Incoming bool
	// Up is false for an item in parentheses.
	Up bool
}

// Member is one row of "Servers:", or the member in a line "Removing server".
type Member struct {
	// Short is the first four hex digits of the member's ID; the text prints them twice.
	Short, Address string
	Self           bool
	Phase          Phase
	// Match is the newest entry that the leader knows to be stored by the member; nil on other members.
	Match *uint64
	// LastMsg is the time since the member's last message. A leader prints it for all members, a follower only for the
	// leader.
	LastMsg *time.Duration
	// Extra is the unknown rest of the row.
	Extra string
}
