// Package plan decides the next step that a unit needs to become, and stay, a working part of the control plane. It
// is pure: its input is an observation, its output a step, or a reason to wait. Every hook uses it, for any event, so
// hooks may run in any order, twice, or not at all.
package plan

import (
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// State is the whole input of a decision.
type State struct {
	Now time.Time
	// Unit is this unit. JujuLeader reports whether it is the application's Juju leader, Dying whether it is being
	// removed.
	Unit              string
	JujuLeader, Dying bool
	// Integrate is the command of the running Juju that relates two applications; empty means that of Juju 3.
	Integrate string
	Settings  Settings
	// Problem describes what is wrong with the Juju leader's published data; if it is set, nothing is changed.
	Problem finding.Reason
	// Invalid has the value of each invalid option and what the option takes. An invalid option stops only what depends
	// on it.
	Invalid map[string]finding.Args
	// Address is this unit's address on the peer binding, as clients write it, without brackets; empty while unknown.
	// Better is the address that a new unit would use in its place, if this unit should be replaced.
	Address, Better string

	Packages     Packages
	Services     map[ovndb.Service]ServiceState
	Certificates Certificates
	// Clusters are the IDs that the application has agreed on, if it has. Unrelated reports whether they can't be known
	// yet.
	Clusters  relation.Clusters
	Unrelated bool
	// Claim is the Northbound cluster that this unit has claimed, if Juju writes claims late (Juju 4). ClaimsUnread
	// reports whether claims could not be read in this hook.
	Claim        raft.ID
	ClaimsUnread bool
	// Databases is the state of each database on this unit.
	Databases map[ovndb.Database]Database
	// Members are the Raft addresses of each database's members, as the leader last published them.
	Members map[ovndb.Database][]string
	// Recovery is the state of each database for which a recovery was, or may have been, requested.
	Recovery map[ovndb.Database]recovery.State
	// Refused is the reason why a recovery requested on this unit was withdrawn.
	Refused map[ovndb.Database]finding.Finding
	// Peers are the other existing units, ordered by number.
	Peers []Peer
	// Units is the number of units in the model, including this one.
	Units int

	// Defaults, NorthdParams and Firewall compare the machine's configuration with the wanted one.
	Defaults, NorthdParams, Firewall Drift
	// Disk describes what is wrong with the databases' disk; empty if nothing is.
	Disk string
	// Paused reports whether an operator has paused the unit.
	Paused bool
	// NorthdHeld reports whether an operator has stopped this unit's ovn-northd.
	NorthdHeld bool
	// Resumed reports whether an operator is ending a pause now.
	Resumed bool
	// Pending are the pending restarts, each with its reason.
	Pending map[ovndb.Service]string
	// Northd is the state of this unit's ovn-northd, Northds the judgement on those of all units.
	Northd  ovndb.NorthdHealth
	Northds Northd
}

// Usable reports whether all options are valid.
func (s State) Usable(options ...string) bool {
	return !slices.ContainsFunc(options, func(option string) bool { return s.Invalid[option].Value != "" })
}

// Drift compares a part of the machine with its wanted state.
type Drift string

// The values of Drift. The zero value means that the part was not observed; it is then left unchanged.
const (
	InSync  Drift = "as wanted"
	Drifted Drift = "differs"
	// NeedsRestart means that running services must be restarted to apply the change.
	NeedsRestart Drift = "differs, needs a restart"
)

// Packages are the machine's OVN packages.
type Packages struct {
	Installed bool
	// Adopted reports whether another charm installed them before this one.
	Adopted bool
	// Source is the configured source at the last installation or upgrade.
	Source string
	// Version is the installed version.
	Version ovndb.Version
	// Unavailable reports whether an upgrade, or the completion of an interrupted one, failed in this hook.
	Unavailable bool
}

// Interrupted reports whether the packages were once installed, and an upgrade was interrupted since.
func (p Packages) Interrupted() bool {
	return !p.Installed && p.Source != "" && p.Version.OVN != ""
}

// ServiceState is systemd's state of a service.
type ServiceState struct {
	Active, Enabled bool
	// Invocation changes with each start of the service; empty if unknown.
	Invocation string
	// Installed reports whether the service runs the installed program, not one that was replaced since its start.
	Installed bool
}

// known reports whether the Juju leader has published the clusters. It publishes both at once.
func (s State) known() bool { return s.Clusters.IDs[ovndb.NB] != "" && s.Clusters.IDs[ovndb.SB] != "" }

// Database is the state of one database on this unit.
type Database struct {
	Condition ovndb.Condition
	// Status is the server's status; set if Condition is Serving.
	Status raft.Status
	// Cluster is the cluster of the server, from its status or otherwise from its file; empty while unknown, as for a
	// joining server.
	Cluster raft.ID
	// Why is why Condition is not Serving.
	Why finding.Reason
	// Cause is why a stopped server did not start; none if unknown.
	Cause finding.Reason
	// Starting reports, if Condition is Unreadable, whether the server may not have read its file yet.
	Starting bool
	// File describes the database's file; set if the server could not be asked.
	File File
	// FileUnknown reports whether there may be a file that can't be read.
	FileUnknown bool
	// Staged is a cluster that was created beside the database's file and not committed yet; empty if there is none.
	Staged raft.ID
	// Rival is an address that still serves the cluster that the staged one replaces; empty if none answers.
	Rival string
	// Former is the earlier unit of this machine that owns the server; empty if the server is this unit's.
	Former string
	// Removed reports whether the remaining members have recorded that they removed this unit's server. A server that
	// was down during its removal can't know about it.
	Removed bool
	// Damage describes what the file of a running server lacks of its log after a failed write. No server could be
	// started on the file, so this one must not be stopped. RewriteFailure is why the server could not rewrite it in
	// this hook.
	Damage         finding.Reason
	RewriteFailure string
	// Inconsistent is the reason why the data of a running server differs from the cluster's: it could not apply an entry
	// of its log, and skipped it. A restart does not repair that.
	Inconsistent finding.Reason
	// JoinLost reports, for a joining server, whether the leader that it knows does not add it any more.
	JoinLost bool
	// Rejoin is the command that replaces this unit's server if it can't be started any more or has other data; zero if
	// no command can.
	Rejoin command.Command
	// WithoutTLS are the rows of Connection that let other machines connect without TLS.
	WithoutTLS []Listener
	// Listeners compares the rows of Connection with the wanted ones; only observed on the database's Raft leader.
	Listeners Drift
	// Superseded compares the database's record of replaced clusters with the application's; only observed on the
	// database's Raft leader.
	Superseded Drift
	// Schemas are the versions of the database's schema, Schema whether a conversion of it is due.
	Schemas ovndb.Schemas
	Schema  Drift
	// SchemaFile is the path of the packages' schema, Socket the server's socket for local clients.
	SchemaFile, Socket string
	// Size is the file's size in bytes; 0 if unknown.
	Size int64
	// Runs is the server's version of Open vSwitch. TriedTimer is the election timer at which a unit last began to
	// convert the database to the schema of these packages. Both are only observed if this server may have to convert
	// it.
	Runs       string
	TriedTimer time.Duration
	// FreeDisk is the space on the database's disk, FreeMemory the available memory, in bytes; 0 if unknown. Both are
	// only observed if the schema has drifted.
	FreeDisk, FreeMemory int64
	// TooNew reports whether, according to its log, the server ended because a newer Open vSwitch than the installed one
	// has written the file.
	TooNew bool
	// Unrestricted reports whether chassis have every right on this unit's server although the listener's row has a
	// role: before OVS 3.3.0 a role that was set after the listener was opened only takes effect at a restart.
	Unrestricted bool
	// ClientsServed reports whether the server answers on its client port.
	ClientsServed bool
}

// Listener is a row of Connection: an address at which the servers of a database listen, or to which they connect.
type Listener struct{ Target, UUID string }

// File is a database's file.
type File struct {
	// Path is set even if there is no file.
	Path string
	// Damage explains why no server can be started on the file: it lacks entries.
	Damage finding.Reason
	// Outside reports whether the configuration in the file lacks the file's server, which was killed while it joined or
	// was removed: no server can start on it.
	Outside bool
	// WasMember reports whether this unit has seen the file's server as a member of the cluster.
	WasMember bool
	// Sole reports whether the file's server is the only one in its configuration.
	Sole bool
	// Address is the Raft address in the file, in the form PROTO:HOST:PORT.
	Address string
}

// MemberWithLeader reports whether the unit's server answers and is a plain member that knows a leader
// ([raft.Status.MemberWithLeader]).
func (x Database) MemberWithLeader() bool {
	return x.Condition == ovndb.Serving && x.Status.MemberWithLeader()
}

// IsRaftLeader reports whether the server leads the database, by its own status.
func (x Database) IsRaftLeader() bool { return x.MemberWithLeader() && x.Status.Role == raft.Leader }

// Peer is another unit. If its data is unread, the UnitState is empty, and Servers and Clusters are cached.
type Peer struct {
	relation.UnitState
	Unit  string
	Data  relation.Data
	Dying bool
	// Servers are the unit's members and joining servers; Clusters are the clusters of its members only.
	Servers, Clusters map[ovndb.Database]raft.ID
	// Claim is the Northbound cluster that the unit has claimed and not moved away since, if Juju writes claims late.
	Claim raft.ID
}

// raftAddress returns the Raft address of the unit's server; empty until the unit has published an address.
func (p Peer) raftAddress(db ovndb.Database) string {
	if !p.Address.IsValid() {
		return ""
	}
	return ovndb.RaftAddress(db, p.Address.String())
}

// firstPeer returns the first other unit for which has returns true; empty if there is none.
func (s State) firstPeer(has func(Peer) bool) string {
	if i := slices.IndexFunc(s.Peers, has); i >= 0 {
		return s.Peers[i].Unit
	}
	return ""
}

func (p Peer) trusts(ca string) bool { return slices.Contains(p.Trusts, ca) }
