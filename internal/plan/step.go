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

// Kind names a step.
type Kind string

// The steps. Each can be interrupted anywhere and made again, and what it has
// done is seen in the next [State].
const (
	// Install masks the services, adds the source and installs the packages.
	Install Kind = "install"
	// Upgrade takes the packages from the configured source and notes which
	// services are to be restarted.
	Upgrade Kind = "upgrade"
	// TrustCA adds the CA of the issued certificate to those that are trusted.
	TrustCA Kind = "trust the CA"
	// InstallCertificate puts the issued certificate into use, and trusts the CAs from before
	// as well.
	InstallCertificate Kind = "install the certificate"
	// DropCAs drops the CAs that are no longer in use.
	DropCAs Kind = "drop the CAs from before"
	// WriteDefaults writes what the services are started with.
	WriteDefaults Kind = "write defaults"
	// StageCluster creates a new cluster beside the database's place.
	StageCluster Kind = "create the cluster of"
	// PublishClusters publishes the IDs of the clusters that are staged, or that run.
	PublishClusters Kind = "publish the clusters' IDs"
	// CommitCluster puts the staged cluster into its place.
	CommitCluster Kind = "put in place the cluster of"
	// DiscardCluster removes what was staged.
	DiscardCluster Kind = "discard the unpublished cluster of"
	// JoinCluster makes the file of a server that joins the cluster.
	JoinCluster Kind = "join the cluster of"
	// Leave tells a server that the others have removed to stop trying.
	Leave Kind = "leave the cluster of"
	// ArchiveFile stops the server of a database that has left, and renames its file.
	ArchiveFile Kind = "rename the file of"
	// StopServer stops a server for a recovery, and keeps it from being started;
	// ReleaseServer ends that.
	StopServer    Kind = "stop the server for the recovery of"
	ReleaseServer Kind = "let the server start again after the recovery of"
	// AskUnits asks the units that a recovery was asked for of whether they are there.
	AskUnits Kind = "ask whether the units are there for the recovery of"
	// RemakeCluster makes the new cluster of a recovery beside the file; Supersede puts
	// its ID in the place of the old one; WithdrawRequest ends the request for it.
	RemakeCluster   Kind = "make a new cluster of the data of"
	Supersede       Kind = "publish the new cluster of"
	WithdrawRequest Kind = "withdraw the recovery of"
	// RemoveDamaged removes the member of a unit that asks for it, as its file is damaged.
	RemoveDamaged Kind = "remove the member to be replaced from"
	// Start starts services at the same time, and waits for their servers.
	Start Kind = "start"
	// ConfigureListeners writes the rows of the listeners.
	ConfigureListeners Kind = "configure the listeners of"
	// NoteSuperseded writes into the database which clusters were replaced, of both databases.
	NoteSuperseded Kind = "note the replaced clusters in"
	// ConvertSchema brings the database to the schema of the packages.
	ConvertSchema Kind = "convert the schema of"
	// SetElectionTimer changes the election timer, by one step.
	SetElectionTimer Kind = "set the election timer of"
	// WriteNorthdParams writes where ovn-northd finds the databases.
	WriteNorthdParams Kind = "tell ovn-northd which units there are"
	// Restart restarts a service: a database's server hands over first, and is
	// waited for.
	Restart Kind = "restart"
	// RewriteFile makes a server write its file anew, which lacks entries of its log.
	RewriteFile Kind = "rewrite the file of"
	// ConfigureFirewall sets the firewall.
	ConfigureFirewall Kind = "set the firewall"
)

// Step is the next thing to do.
type Step struct {
	Kind Kind
	// Database and what follows are set as the kind needs them.
	Database ovndb.Database
	// Services are those of a Start; Service is that of a Restart.
	Services []ovndb.Service
	Service  ovndb.Service
	// Unit is the one for whose request a StopServer, a RemakeCluster or a Supersede is.
	Unit string
	// Server is the one that a RemoveDamaged removes.
	Server raft.ID
	// Cluster and Remotes are those of a JoinCluster; Cluster is also that of a Supersede; Remotes are Raft addresses.
	Cluster raft.ID
	Remotes []string
	// IDs are those of a PublishClusters.
	IDs map[ovndb.Database]raft.ID
	// Timer is that of a SetElectionTimer, and the one at which a ConvertSchema is made.
	Timer time.Duration
	// Reason says why, for the log.
	Reason string
}

// String is the step as the log shows it.
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
	if s.Reason != "" {
		words = append(words, "("+s.Reason+")")
	}
	return strings.Join(words, " ")
}

// Same reports whether both steps do the same, for whatever reason.
func (s Step) Same(other Step) bool {
	s.Reason, other.Reason = "", ""
	return reflect.DeepEqual(s, other)
}

// Decision is what comes out.
type Decision struct {
	// Step is nil where there is nothing to do.
	Step *Step
	// Findings are what keeps this unit from being as it should be, and what an operator should know of it.
	Findings []finding.Finding
	// Ready says that this unit's servers are members that clients may be sent to.
	Ready bool
	// starting are the servers to be started, which is done at once.
	starting []ovndb.Service
}

// Settled reports whether nothing keeps the unit from working, and nothing is waited for. Options that can't be used
// do not: only what depends on them waits.
func (d *Decision) Settled() bool {
	return !slices.ContainsFunc(d.Findings, func(f finding.Finding) bool {
		return f.Severity >= finding.Waiting && f.Code != finding.OptionInvalid
	})
}

// find adds a finding about this unit.
func (d *Decision) find(code finding.Code, args finding.Args, remedies ...finding.Remedy) {
	d.Findings = append(d.Findings, finding.New(code, finding.Subject{}, args, remedies...))
}

// findIn adds a finding about what this unit has of one database.
func (d *Decision) findIn(db ovndb.Database, code finding.Code, args finding.Args, remedies ...finding.Remedy) {
	d.Findings = append(d.Findings, finding.Of(code, db, args, remedies...))
}

// do sets the step, if nothing else is to be done before.
func (d *Decision) do(s Step) {
	if d.Step == nil {
		d.Step = &s
	}
}
