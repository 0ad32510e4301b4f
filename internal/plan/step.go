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
	Upgrade            Kind = "upgrade" // from the configured source; records the services to restart
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
	RemoveDamaged   Kind = "remove the member to be replaced from" // for a unit that requests it
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
	// Services are started by a Start; Service is restarted by a Restart.
	Services []ovndb.Service
	Service  ovndb.Service
	// Unit has requested the StopServer, RemakeCluster or Supersede.
	Unit string
	// Server is removed by a RemoveDamaged.
	Server raft.ID
	// Cluster is joined by a JoinCluster, or published by a Supersede. Remotes are the Raft addresses for a JoinCluster.
	Cluster raft.ID
	Remotes []string
	// IDs are published by a PublishClusters.
	IDs map[ovndb.Database]raft.ID
	// Timer is the election timer that a SetElectionTimer sets, or at which a ConvertSchema runs.
	Timer time.Duration
	// Why is the reason for a WithdrawRequest.
	Why finding.Finding
	// Reason is for the log.
	Reason string
}

// String describes the step for the log.
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

// Same reports whether both steps do the same; their reasons may differ.
func (s Step) Same(other Step) bool {
	s.Reason, other.Reason, s.Why, other.Why = "", "", finding.Finding{}, finding.Finding{}
	return reflect.DeepEqual(s, other)
}

// Decision is the output of [Decide].
type Decision struct {
	// Step is nil if there is nothing to do. By is the name of the step's rule.
	Step *Step
	By   string
	// Findings explain what this unit lacks or waits for, and state other facts for an operator.
	Findings []finding.Finding
	// Ready reports whether this unit's servers are members to which clients may be sent.
	Ready bool
	// Rules are the names of the rules that apply, by priority.
	Rules []string
}

// Pressing reports whether a finding keeps the unit from working, or makes it wait. Invalid options don't: only what
// depends on them waits.
func Pressing(all []finding.Finding) bool {
	return slices.ContainsFunc(all, func(f finding.Finding) bool {
		return f.Severity >= finding.Waiting && f.Code != finding.OptionInvalid
	})
}
