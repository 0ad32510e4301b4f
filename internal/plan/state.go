// Package plan decides what a unit does next to become, and stay, a working
// part of the control plane. It is pure: what was found out goes in, a step, or
// what is waited for, comes out. Every hook converges through it, whatever event
// it was run for, so that hooks may come in any order, twice, or not at all.
package plan

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// State is all that a decision is made from.
type State struct {
	Now time.Time
	// Unit is this unit. JujuLeader says that Juju calls it the application's leader,
	// Dying that it is being removed.
	Unit              string
	JujuLeader, Dying bool
	// Integrate is the word by which the Juju that runs relates two applications; empty is
	// that of Juju 3.
	Integrate string
	Settings  Settings
	// Problem is what is wrong with what the Juju leader has published; then nothing is
	// changed.
	Problem string
	// Invalid are the options that can't be used, by their names, each with the line
	// that says why. One stops only what depends on it.
	Invalid map[string]string
	// Address is this unit's on the peer binding, as clients write it, without
	// brackets. Empty while it is not known. Better is the one that a new unit would have in
	// its place, if a unit should not stay with it.
	Address, Better string

	Packages     Packages
	Services     map[ovndb.Service]ServiceState
	Certificates Certificates
	// Clusters are the IDs that the application has agreed on, once it has. Unrelated
	// says that these can't be known yet.
	Clusters  Clusters
	Unrelated bool
	// Claim is the Northbound cluster that this unit has claimed where Juju writes claims
	// late (Juju 4), Blind says that these could not be read in this hook.
	Claim raft.ID
	Blind bool
	// Databases is what this unit has of each.
	Databases map[ovndb.Database]Database
	// Members are the Raft addresses of each database's members, as the unit that
	// leads has last published them.
	Members map[ovndb.Database][]string
	// Recovery is what is known of each database where one was asked for, or may be.
	Recovery map[ovndb.Database]recovery.State
	// Refused is why a recovery that this unit was asked for was withdrawn.
	Refused map[ovndb.Database]string
	// Peers are the other units that exist, in the order of their numbers.
	Peers []Peer
	// Units counts those of the model, this one included.
	Units int

	// Defaults, NorthdParams and Firewall say whether what is on the machine is as
	// wanted.
	Defaults, NorthdParams, Firewall Drift
	// Disk is what is wrong with the databases' disk; empty if nothing is.
	Disk string
	// Paused says that an operator has paused the unit.
	Paused bool
	// NorthdHeld says that an operator keeps this unit's ovn-northd from running.
	NorthdHeld bool
	// Resumed says that this is where an operator ends a pause.
	Resumed bool
	// Pending are the restarts that are due, each with its reason.
	Pending map[ovndb.Service]string
	// Northd is how this unit's ovn-northd is, Northds what is known of those of all units.
	Northd  ovndb.NorthdHealth
	Northds Northd
}

// usable says whether all of the options are.
func (s State) usable(options ...string) bool {
	return !slices.ContainsFunc(options, func(option string) bool { return s.Invalid[option] != "" })
}

// Drift says how something on the machine compares with what it should be.
type Drift string

// The values of Drift. The zero value is one that was not looked at, which is
// left alone.
const (
	InSync  Drift = "as wanted"
	Drifted Drift = "differs"
	// NeedsRestart: what runs must be restarted to follow the change.
	NeedsRestart Drift = "differs, needs a restart"
)

// Packages is what the machine has of the OVN packages.
type Packages struct {
	Installed bool
	// Adopted says that they were there before this charm, put there by another one.
	Adopted bool
	// Source is the source that they were last installed or upgraded from, as
	// configured then.
	Source string
	// Version is the installed one.
	Version ovndb.Version
	// Unavailable says that an upgrade, or the end of one that was cut off, was tried in this hook,
	// and brought nothing.
	Unavailable bool
}

// Interrupted says whether they were once installed, and an upgrade of them was cut off since.
func (p Packages) Interrupted() bool {
	return !p.Installed && p.Source != "" && p.Version.OVN != ""
}

// ServiceState is what systemd says of a service.
type ServiceState struct {
	Active, Enabled bool
	// Invocation is another one each time that it is started; empty where that is not known.
	Invocation string
	// Installed says that its program is the one that is installed, and not one that was
	// replaced since it was started.
	Installed bool
}

// Clusters are the clusters that the application has agreed on.
type Clusters struct {
	// IDs are empty until the Juju leader has published them, and then both there.
	IDs map[ovndb.Database]raft.ID
	// Superseded are those in whose place others were put, by a recovery or a restore.
	Superseded map[ovndb.Database][]raft.ID
	// CreatedBy is the unit that created them; empty where that is not known.
	CreatedBy string
}

// known says whether both IDs are.
func (c Clusters) known() bool { return c.IDs[ovndb.NB] != "" && c.IDs[ovndb.SB] != "" }

// Database is what this unit has of one database.
type Database struct {
	Condition ovndb.Condition
	// Status is set where Condition is Serving.
	Status raft.Status
	// Cluster is the one that the server belongs to, by its status or else by its file; empty
	// while that is not known, as of one that joins.
	Cluster raft.ID
	// Text is for people: what is the matter where Condition is not Serving.
	Text string
	// Cause is why a server that is down did not start; empty if that is not known.
	Cause string
	// Starting says of one that is Unreadable that its server may not have read its file yet.
	Starting bool
	// File is set where the server could not be asked.
	File File
	// FileUnknown says that there may be a file, but it can't be read.
	FileUnknown bool
	// Staged is a cluster that was created beside the database's place, and not put
	// there yet; empty if there is none.
	Staged raft.ID
	// Rival is where a cluster is still served in whose place the staged one was put;
	// empty where none answers.
	Rival string
	// Former is the unit that was on this machine before, whose server it is; empty if it is this unit's.
	Former string
	// Removed says that the members that remain have removed this unit's server: it
	// is recorded by them. A server that was down then can't know it itself.
	Removed bool
	// Damage is what the file of a server that runs lacks of its log, since a write has
	// failed: no server could be started on it, so this one must not be stopped.
	// Unmended is why the server could not write it anew in this hook.
	Damage, Unmended string
	// Inconsistent is why the data of a server that runs are not the cluster's: it could not apply an
	// entry of its log, left it out and went on. No start of it mends that.
	Inconsistent string
	// JoinLost says of a server that joins that the leader it knows has stopped adding it.
	JoinLost bool
	// Rejoin is the command that has a new server join in the place of this unit's, which can't
	// be started any more or has other data; the zero value if none can.
	Rejoin command.Command
	// WithoutTLS are the listeners among those rows that other machines reach without TLS.
	WithoutTLS []Listener
	// Listeners compares the rows of Connections with those wanted; only looked at
	// on the database's Raft leader.
	Listeners Drift
	// Superseded compares what the database says of clusters that were replaced with what the application
	// knows; only looked at on the database's Raft leader.
	Superseded Drift
	// Schema compares the database's with that of the packages.
	Schema Drift
	// SchemaFile is where the packages' is, and Socket the server's for local clients.
	SchemaFile, Socket string
	// Size is that of the file in bytes; 0 where it is not known.
	Size int64
	// Runs is the version of Open vSwitch that the server runs, and Tried the election timer
	// at which any unit has last begun to convert the database to the schema of these
	// packages; both are only looked at where that is this server's to do.
	Runs  string
	Tried time.Duration
	// FreeDisk is the space on the database's disk and FreeMemory what programs can have, in
	// bytes; 0 where it is not known. Both are only looked at where the schema has drifted.
	FreeDisk, FreeMemory int64
	// TooNew says that the server, as far as its log tells, ended on a file that is of
	// a newer Open vSwitch than the one that is installed.
	TooNew bool
	// Unrestricted says that chassis have every right on this unit's server, though
	// the listener's row has a role: before OVS 3.3.0 a server that set the role
	// after it had opened the listener doesn't keep it until it is restarted.
	Unrestricted bool
	// ClientsServed says that the client ports answer here.
	ClientsServed bool
}

// File is what a database's file says of itself.
type File struct {
	// Path is where it is, or would be.
	Path string
	// Damage is why no server can be started on it: it lacks entries.
	Damage string
	// Outside says that its own configuration lacks its server, which was killed
	// while it joined, or while it was removed: no server can start on it.
	Outside bool
	// WasMember says that this unit has seen the file's server as a member of the cluster.
	WasMember bool
	// Sole says that its configuration has its own server alone.
	Sole bool
	// Address is the Raft address that is written in it, PROTO:HOST:PORT.
	Address string
}

// MemberWithLeader says whether the unit's server answers and is a plain member that knows a
// leader ([raft.Status.MemberWithLeader]).
func (x Database) MemberWithLeader() bool {
	return x.Condition == ovndb.Serving && x.Status.MemberWithLeader()
}

// IsRaftLeader says whether the server leads the database, as it says itself.
func (x Database) IsRaftLeader() bool { return x.MemberWithLeader() && x.Status.Role == raft.Leader }

// Reading is what came of reading what a peer publishes.
type Reading string

// The values of Reading.
const (
	Published Reading = ""
	// NothingPublished: it was read, and the unit has published nothing yet.
	NothingPublished Reading = "nothing published"
	// Unread: nothing is known of it but what is remembered.
	Unread Reading = "not read"
)

// Peer is another unit, as it publishes itself.
type Peer struct {
	Unit string
	Data Reading
	// Address is empty until it has published one.
	Address string
	Dying   bool
	// Servers are those of its members, or of its servers that join; Clusters those
	// of its members alone.
	Servers, Clusters map[ovndb.Database]raft.ID
	// Source is the package source that it has applied; empty where it says none.
	Source string
	// Running are the versions that its services run, each once; none where it
	// doesn't say.
	Running []ovndb.Version
	// Trusts are the CAs that it trusts, Issuer the one that its certificate is
	// from; empty where it says none.
	Trusts []string
	Issuer string
	// Requests and Copies are those of a recovery, as it publishes them.
	Requests map[ovndb.Database]recovery.Request
	Copies   map[ovndb.Database]recovery.Copy
	// Asks is when it, as the Juju leader, has asked whether units are there.
	Asks map[ovndb.Database]time.Time
	// Rejoin are its servers that it asks others to remove.
	Rejoin map[ovndb.Database]raft.ID
	// Claim is the Northbound cluster that it has claimed and not put away since, where
	// Juju writes claims late.
	Claim raft.ID
	// NoRoom are the databases whose conversion its machine has no room for.
	NoRoom map[ovndb.Database]bool
}

func (p Peer) trusts(ca string) bool { return slices.Contains(p.Trusts, ca) }

// joined counts the units that have servers in both clusters.
func (s State) joined() finding.Args {
	n := 0
	if s.members() {
		n++
	}
	for _, p := range s.Peers {
		if p.Clusters[ovndb.NB] != "" && p.Clusters[ovndb.SB] != "" {
			n++
		}
	}
	return finding.Args{Count: n, Total: max(s.Units, n)}
}
