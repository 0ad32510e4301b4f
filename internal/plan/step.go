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

// Kind is the kind of a step. Its text is for the log and the status.
type Kind string

// The steps. Each can be interrupted at any point and repeated, and its effect shows in the next [State].
const (
	Install            Kind = "install" // masks the services, adds the source and installs the packages
	Upgrade            Kind = "upgrade" // from the configured source; records which services have to be restarted
	TrustCA            Kind = "trust the CA"
	InstallCertificate Kind = "install the certificate" // and trusts the previous CAs, too
	DropCAs            Kind = "drop the CAs from before"
	WriteDefaults      Kind = "write defaults" // the options for starting the services
	ConfigureFirewall  Kind = "set the firewall"

	StageCluster    Kind = "create the cluster of" // beside the database's file
	PublishClusters Kind = "publish the clusters' IDs"
	CommitCluster   Kind = "put in place the cluster of" // renames the staged cluster to the database's file
	DiscardCluster  Kind = "discard the unpublished cluster of"
	JoinCluster     Kind = "join the cluster of"  // makes the file of a joining server
	Leave           Kind = "leave the cluster of" // ends the joining of a server that the others have removed
	ArchiveFile     Kind = "rename the file of"   // of a server that is not a member, after stopping it

	AcceptRecovery  Kind = "accept the recovery of"              // publishes that the requested recovery is carried out
	StopServer      Kind = "stop the server for the recovery of" // and keeps it stopped
	ReleaseServer   Kind = "let the server start again after the recovery of"
	RemakeCluster   Kind = "make a new cluster of the data of" // beside the file
	Supersede       Kind = "publish the new cluster of"        // in place of the old one
	WithdrawRequest Kind = "withdraw the recovery of"
	RemoveDamaged   Kind = "remove the member to be replaced from" // of a unit that asks for it
	RewriteFile     Kind = "rewrite the file of"                   // which lacks entries of the server's log

	Start              Kind = "start"   // several services at once; waits for their servers
	Restart            Kind = "restart" // a server hands over leadership first, and is awaited
	ConfigureListeners Kind = "configure the listeners of"
	NoteSuperseded     Kind = "note the replaced clusters in" // those of both databases
	ConvertSchema      Kind = "convert the schema of"
	SetElectionTimer   Kind = "set the election timer of" // by one legal step
	WriteNorthdParams  Kind = "tell ovn-northd which units there are"
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

// Pressing reports whether a finding keeps the unit from working, or is waited for. Invalid options don't: only what
// depends on them waits.
func Pressing(all []finding.Finding) bool {
	return slices.ContainsFunc(all, func(f finding.Finding) bool {
		return f.Severity >= finding.Waiting && f.Code != finding.OptionInvalid
	})
}
