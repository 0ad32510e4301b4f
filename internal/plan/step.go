package plan

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Kind is what a step does.
type Kind string

// The steps. Each can be interrupted at any point and repeated, and its effect shows in the next [State].
const (
	// Install masks the services, adds the source and installs the packages.
	Install Kind = "install"
	// Upgrade upgrades the packages from the configured source and records which services have to be restarted.
	Upgrade Kind = "upgrade"
	// TrustCA adds the CA of the issued certificate to the trusted ones.
	TrustCA Kind = "trust the CA"
	// InstallCertificate starts to use the issued certificate, and also trusts the previous CAs.
	InstallCertificate Kind = "install the certificate"
	// DropCAs drops CAs that are no longer used.
	DropCAs Kind = "drop the CAs from before"
	// WriteDefaults writes the options for starting the services.
	WriteDefaults Kind = "write defaults"
	// StageCluster creates a new cluster beside the database's file.
	StageCluster Kind = "create the cluster of"
	// PublishClusters publishes the IDs of the staged or running clusters.
	PublishClusters Kind = "publish the clusters' IDs"
	// CommitCluster renames the staged cluster to the database's file.
	CommitCluster Kind = "put in place the cluster of"
	// DiscardCluster removes a staged cluster.
	DiscardCluster Kind = "discard the unpublished cluster of"
	// JoinCluster makes the file of a joining server.
	JoinCluster Kind = "join the cluster of"
	// Leave makes a server that the others have removed stop trying to join.
	Leave Kind = "leave the cluster of"
	// ArchiveFile stops the server of a database that has left, and renames its file.
	ArchiveFile Kind = "rename the file of"
	// StopServer stops a server for a recovery, and keeps it from being started; ReleaseServer ends that.
	StopServer    Kind = "stop the server for the recovery of"
	ReleaseServer Kind = "let the server start again after the recovery of"
	// AcceptRecovery publishes that the recovery requested on a unit is carried out.
	AcceptRecovery Kind = "accept the recovery of"
	// RemakeCluster makes the new cluster of a recovery beside the file. Supersede publishes its ID in place of the old
	// one's. WithdrawRequest ends the request for it.
	RemakeCluster   Kind = "make a new cluster of the data of"
	Supersede       Kind = "publish the new cluster of"
	WithdrawRequest Kind = "withdraw the recovery of"
	// RemoveDamaged removes the member of a unit that asks for it because its file is damaged.
	RemoveDamaged Kind = "remove the member to be replaced from"
	// Start starts services at the same time, and waits for their servers.
	Start Kind = "start"
	// ConfigureListeners writes the rows of the listeners.
	ConfigureListeners Kind = "configure the listeners of"
	// NoteSuperseded writes into the database which clusters of both databases were replaced.
	NoteSuperseded Kind = "note the replaced clusters in"
	// ConvertSchema converts the database to the schema of the packages.
	ConvertSchema Kind = "convert the schema of"
	// SetElectionTimer changes the election timer by one step.
	SetElectionTimer Kind = "set the election timer of"
	// WriteNorthdParams writes ovn-northd's addresses of the databases.
	WriteNorthdParams Kind = "tell ovn-northd which units there are"
	// Restart restarts a service: a database's server hands over leadership first, and is awaited.
	Restart Kind = "restart"
	// RewriteFile makes a server rewrite its file, which lacks entries of its log.
	RewriteFile Kind = "rewrite the file of"
	// ConfigureFirewall sets the firewall.
	ConfigureFirewall Kind = "set the firewall"
)

// Step is the next action.
type Step struct {
	Kind Kind
	// Database and the following fields are set if the kind needs them.
	Database ovndb.Database
	// Services are those of a Start; Service is that of a Restart.
	Services []ovndb.Service
	Service  ovndb.Service
	// Unit is the one whose request causes a StopServer, a RemakeCluster or a Supersede.
	Unit string
	// Server is the server to remove, of a RemoveDamaged.
	Server raft.ID
	// Cluster is that of a JoinCluster or a Supersede. Remotes are the Raft addresses of a JoinCluster.
	Cluster raft.ID
	Remotes []string
	// IDs are those of a PublishClusters.
	IDs map[ovndb.Database]raft.ID
	// Timer is that of a SetElectionTimer or a ConvertSchema.
	Timer time.Duration
	// Why is the reason for a WithdrawRequest.
	Why finding.Finding
	// Reason is for the log.
	Reason string
}

// String describes the step in the log.
func (s Step) String() string {
	words := []string{string(s.Kind)}
	if s.Database != "" {
		words = append(words, s.Database.Short())
	}
	for _, service := range s.Services {
		words = append(words, string(service))
	}
	if s.Service != "" {
		words = append(words, string(s.Service))
	}
	switch {
	case s.Kind == StageCluster:
		words = append(words, fmt.Sprintf("with an election timer of %d ms", s.Timer.Milliseconds()))
	case s.Kind == ConvertSchema:
		words = append(words, fmt.Sprintf("at an election timer of %d ms", s.Timer.Milliseconds()))
	case s.Timer != 0:
		words = append(words, fmt.Sprintf("to %d ms", s.Timer.Milliseconds()))
	}
	if s.Kind == WithdrawRequest {
		words = append(words, "("+string(s.Why.Code)+")")
	}
	if s.Reason != "" {
		words = append(words, "("+s.Reason+")")
	}
	return strings.Join(words, " ")
}

// Same reports whether both steps do the same, for any reason.
func (s Step) Same(other Step) bool {
	s.Reason, other.Reason, s.Why, other.Why = "", "", finding.Finding{}, finding.Finding{}
	return reflect.DeepEqual(s, other)
}

// Decision is the output of [Decide].
type Decision struct {
	// Step is nil if nothing is to be done. By is the name of its rule.
	Step *Step
	By   string
	// Findings are the reasons why this unit is not as it should be, and other facts for an operator.
	Findings []finding.Finding
	// Ready reports whether this unit's servers are members that clients may be sent to.
	Ready bool
	// Rules are the names of the rules that apply, by priority.
	Rules []string
}

// Settled reports whether the unit works and waits for nothing. Invalid options don't count: only what depends on them
// waits.
func (d *Decision) Settled() bool {
	return !slices.ContainsFunc(d.Findings, func(f finding.Finding) bool {
		return f.Severity >= finding.Waiting && f.Code != finding.OptionInvalid
	})
}
