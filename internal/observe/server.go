package observe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// ServerState is the state of one database on this unit.
type ServerState struct {
	Database  ovndb.Database
	Condition ovndb.Condition
	// Status is set if Condition is Serving.
	Status raft.Status
	// Inconsistent is the reason why the server's data differs from its log, if the server reports a difference
	// ([Snapshot.Inconsistent]).
	Inconsistent finding.Reason
	// File describes the database's file; set if the server could not be asked.
	File ovsctl.File
	// Starting reports, if Condition is Unreadable, whether the server may not have read its file yet.
	Starting bool
	// Cause is, if Condition is Down, the reason why the server does not start; none if unknown.
	Cause finding.Reason
	// Err explains any Condition but Serving. FileErr explains why File could not be read.
	Err, FileErr error
}

// Member reports whether the unit's server is a working or disconnected member, neither joining nor leaving.
func (l ServerState) Member() bool {
	return l.Condition == ovndb.Serving && l.Status.State != raft.JoiningCluster && l.Status.State != raft.LeavingCluster
}

// MemberWithLeader reports whether the unit's server answers and is a plain member that knows a leader
// ([raft.Status.MemberWithLeader]).
func (l ServerState) MemberWithLeader() bool {
	return l.Condition == ovndb.Serving && l.Status.MemberWithLeader()
}

// ServesStandalone reports whether the unit's server answers for a database that is not clustered.
func (l ServerState) ServesStandalone() bool {
	return l.Condition == ovndb.Standalone && errors.Is(l.Err, ovsctl.ErrNotClustered)
}

// Identity returns the server's identity, from its status, or from its file if the server could not be asked. Unknown
// parts are empty, and so is the cluster of a joining server.
func (l ServerState) Identity() relation.Identity {
	if l.Condition != ovndb.Serving {
		return relation.Identity{Server: l.File.Server, Cluster: l.File.Cluster}
	}
	return relation.Identity{Server: l.Status.Server, Cluster: l.Status.Cluster}
}

// Text describes in one line why a database is not served.
func (l ServerState) Text() string { return l.Reason().String() }

// Reason returns why a database is not served.
func (l ServerState) Reason() finding.Reason {
	switch l.Condition {
	case ovndb.Serving:
		return finding.Quote(string(l.Status.State))
	case ovndb.Absent:
		return finding.Reason{Code: finding.ServerAbsent}
	case ovndb.Left:
		return finding.Reason{Code: finding.ServerLeft}
	case ovndb.Standalone:
		return finding.Reason{Code: finding.ServerStandalone}
	case ovndb.Failed:
		return finding.Reason{Code: finding.ServerGaveUp}
	case ovndb.Down:
		if l.FileErr != nil {
			return finding.Reason{Code: finding.ServerFileUnusable, Value: l.FileErr.Error()}
		}
		return finding.Reason{Code: finding.ServerNotRunning, Because: given(l.Cause)}
	case ovndb.Hung:
		return finding.Reason{Code: finding.ServerSilentFor, Because: given(finding.Quote(l.Err.Error()))}
	}
	return finding.Quote(l.Err.Error())
}

func given(why finding.Reason) []finding.Reason {
	if why.IsZero() {
		return nil
	}
	return []finding.Reason{why}
}

// ObserveServer determines the database's state on this unit. It asks the server first, and reads the file if the
// server can't answer.
func (s *Observer) ObserveServer(ctx context.Context, d ovndb.Database) ServerState {
	l := ServerState{Database: d}
	l.Status, l.Err = s.Control.Status(ctx, d)
	s.classify(ctx, &l)
	return l
}

func (s *Observer) classify(ctx context.Context, l *ServerState) {
	switch {
	case l.Err == nil && l.Status.Name != string(l.Database):
		l.Condition, l.Err = ovndb.Unreadable, fmt.Errorf("cannot use the status of %s: the server says that it is of %q",
			l.Database, l.Status.Name)
	case l.Err == nil:
		l.Condition = ovndb.Serving
		s.observeStorage(ctx, l)
	case errors.Is(l.Err, ovsctl.ErrUnknownCluster):
		s.observeFile(ctx, l, ovndb.Failed)
	case errors.Is(l.Err, ovsctl.ErrNotClustered):
		// A process that has dropped its only clustered database still has these commands; a process that never had one
		// lacks them.
		l.Condition = ovndb.Standalone
	case errors.Is(l.Err, ovsctl.ErrNotRunning):
		s.observeStopped(ctx, l)
	case errors.Is(l.Err, ovsctl.ErrHung):
		l.Condition = ovndb.Hung
	default:
		l.Condition = ovndb.Unreadable
	}
}

// startPatience is how long a running server may be without its control socket: the server opens it after it has read
// its file, and closes it before it ends.
const startPatience = time.Second

// readPatience is how long a server with a small file may take from writing its pid file to opening its control socket,
// on a machine that is just booting.
const readPatience = 20 * time.Second

// observeStopped makes sure that a server without a listening control socket has ended: while it runs, it votes and
// acknowledges entries. A server that is just starting or ending gets a moment.
func (s *Observer) observeStopped(ctx context.Context, l *ServerState) {
	patience, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	for {
		evidence, err := s.Services.Alive(ctx, s.Control.Paths, l.Database)
		switch {
		case err != nil:
			l.Condition, l.Err = ovndb.Unreadable, fmt.Errorf("cannot find out whether the server of %s runs: %w",
				l.Database, err)
			return
		case evidence == "":
			s.observeFile(ctx, l, ovndb.Down)
			refused, err := RefusedStart(s.Control.Paths, l.Database)
			if err == nil && refused.Reason != "" && refused.Cluster == l.File.Cluster {
				l.Cause = finding.Quote(refused.Reason)
				return
			}
			other, err := systemd.ForeignPID(s.Control.Paths, ovndb.ServiceOf(l.Database))
			if name := filepath.Base(s.Control.Paths.PID(l.Database)); err == nil && other != "" {
				l.Cause = finding.Reason{Code: finding.PIDFileOfOthers, Name: name, Value: other}
			}
			return
		case poll.Wait(patience, 5*PollInterval) != nil:
			l.Condition, l.Err = ovndb.Unreadable, fmt.Errorf("cannot ask the server, which runs without its "+
				"control socket %s (it is still starting, or the socket was removed): %s",
				s.Control.Paths.Control(l.Database), evidence)
			l.Starting = systemd.Starting(s.Control.Paths, l.Database, s.Now(), s.Patience(l.Database, readPatience))
			return
		}
		if l.Status, l.Err = s.Control.Status(ctx, l.Database); !errors.Is(l.Err, ovsctl.ErrNotRunning) {
			s.classify(ctx, l)
			return
		}
	}
}

func (s *Observer) observeFile(ctx context.Context, l *ServerState, otherwise ovndb.Condition) {
	file, err := s.Files.Inspect(ctx, l.Database)
	l.Condition, l.File, l.FileErr = otherwise, file, err
	switch {
	case err != nil:
	case !file.Exists:
		l.Condition = ovndb.Absent
	case !file.Clustered:
		l.Condition = ovndb.Standalone
	case file.Left:
		l.Condition = ovndb.Left
	}
}

// ObserveServersWithin observes like ObserveServers, with a timeout for each answer.
func (s *Observer) ObserveServersWithin(ctx context.Context, timeout time.Duration) map[ovndb.Database]ServerState {
	patient := *s.Machine
	patient.Control.Timeout = timeout
	return (&Observer{&patient}).ObserveServers(ctx)
}

// ObserveServers observes both databases at the same time.
func (s *Observer) ObserveServers(ctx context.Context) map[ovndb.Database]ServerState {
	return both(func(d ovndb.Database) ServerState { return s.ObserveServer(ctx, d) })
}

const (
	// lagInterval and lagTimeout are the interval at which, and the time for which, View reads the status of a leader
	// again until its connected members have stored the entries that were committed before.
	lagInterval = 50 * time.Millisecond
	lagTimeout  = time.Second
	// linkInterval and linkTimeout are the same for connections in both directions.
	linkInterval = 250 * time.Millisecond
	linkTimeout  = 1500 * time.Millisecond
)

// View observes the cluster from this unit's server: on a leader until every connected member has had time to keep
// up, elsewhere by asking the other members. names are known full IDs.
func (s *Observer) View(ctx context.Context, l ServerState, names []raft.ID) (raft.View, error) {
	notes := s.externalIDs(ctx, l.Database)
	v, err := s.view(ctx, l, names, notes)
	if err != nil {
		return v, err
	}
	if q := v.Quorum(); q.Up == q.Members {
		return v, nil
	}
	// The reason why a member is down may have begun or ended meanwhile.
	if v.ChangedBy = changedBy(notes, s.externalIDs(ctx, l.Database), s.Now()); v.ChangedBy != "" {
		return v, nil
	}
	if now, err := s.Control.Status(ctx, l.Database); err == nil && !now.SameMembers(v.Status) {
		v.ChangedBy = anotherUnit
	}
	return v, nil
}

func (s *Observer) view(
	ctx context.Context, l ServerState, names []raft.ID, notes map[string]string,
) (raft.View, error) {
	v := raft.View{Status: l.Status, Names: names, Leaving: leavingServers(notes), Lost: DamagedServers(notes)}
	v.Superseded, v.SupersedesItself = supersededBy(l.Status.Cluster, notes)
	mark := ParseMark(notes)
	v.GivenUp, v.MadeAt = mark.GivenUp, mark.At
	if problem, err := machine.DiskProblem(s.Control.Paths); err != nil {
		s.Log.WarnContext(ctx, "cannot tell whether the disk is full", "error", err)
	} else {
		v.Full = problem != ""
	}
	var err error
	if v.Reached, err = s.awaitLinks(ctx, &l); err != nil {
		return v, err
	}
	v.Status = l.Status
	if l.Status.Role != raft.Leader || l.Status.AmbiguousIDs() {
		v.Probes = s.Probe(ctx, l)
	}
	if l.Status.Role != raft.Leader {
		return v, nil
	}
	v.CommitIndexFloor = l.Status.Committed()
	patience, cancel := context.WithTimeout(ctx, lagTimeout)
	defer cancel()
	for v.Status.Lagging(v.CommitIndexFloor) && poll.Wait(patience, lagInterval) == nil {
		status, err := s.Control.Status(ctx, l.Database)
		if err != nil {
			return v, err
		}
		if v.Status = status; status.Role != raft.Leader {
			v.CommitIndexFloor, v.Probes = 0, s.Probe(ctx, ServerState{Database: l.Database, Status: status})
			return v, nil
		}
	}
	return v, nil
}

// awaitLinks gives members that were just started a moment to connect in both directions: they retry after a second.
// It stores the last state in l, and returns the members with connections if the server itself does not report them.
func (s *Observer) awaitLinks(ctx context.Context, l *ServerState) (reached []string, err error) {
	patience, cancel := context.WithTimeout(ctx, linkTimeout)
	defer cancel()
	for {
		if reached, err = s.reached(l.Status); err != nil {
			s.Log.WarnContext(ctx, "cannot tell which members this server is connected to",
				"database", l.Database.Short(), "error", err)
		}
		links := l.Status.Graph(reached).Links
		if !l.Status.HasLeader() || !slices.ContainsFunc(links, raft.Link.OneWay) ||
			poll.Wait(patience, linkInterval) != nil {
			return reached, nil
		}
		if l.Status, err = s.Control.Status(ctx, l.Database); err != nil {
			return nil, err
		}
	}
}

// reached returns the members to which this machine has a connection.
func (s *Observer) reached(status raft.Status) (all []string, err error) {
	if !status.AmbiguousLinks() {
		return nil, nil
	}
	connected, err := machine.ConnectedTo()
	for _, m := range status.Servers {
		_, hostPort, _ := strings.Cut(m.Address, ":")
		if at, bad := netip.ParseAddrPort(hostPort); bad == nil && slices.Contains(connected, at) {
			all = append(all, m.Address)
		}
	}
	return all, err
}

// Probe asks all other members the question of R0 at the same time.
func (s *Observer) Probe(ctx context.Context, l ServerState) []raft.ProbeResult {
	answers := AtOnce(OtherAddresses(l.Status), func(address string) raft.ProbeResult {
		timeout := ProbeTimeout
		heard := func(m raft.Member) bool { return m.Address == address && l.Status.Hears(m.Short) }
		if slices.ContainsFunc(l.Status.Servers, heard) {
			timeout = s.Patience(l.Database, timeout)
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		state, err := s.Dialer.Server(ctx, l.Database, ovsdb.Endpoints(l.Database, address)...)
		if err != nil {
			s.Log.DebugContext(ctx, "member does not answer", "database", l.Database.Short(), "address", address, "error", err)
			return raft.ProbeResult{}
		}
		state.Address = address
		return state.ProbeResult
	})
	return slices.DeleteFunc(answers, func(a raft.ProbeResult) bool { return a.Address == "" })
}

// Refusal is the start guard's record of a server that it did not permit to start. The next permitted start removes
// it.
type Refusal struct {
	// Cluster is the cluster of the server's file.
	Cluster raft.ID `json:"cluster"`
	// Reason is one line for people.
	Reason string `json:"reason"`
	// Answers are the answers of other units' servers about both databases, for the other database's guard.
	Answers map[ovndb.Database][]recovery.Answer `json:"answers,omitempty"`
}

// RefusedStart returns the start guard's refusal of the last start of a database's server. It is zero if the start
// was permitted, or the guard not asked.
func RefusedStart(p ovndb.Paths, d ovndb.Database) (r Refusal, err error) {
	text, err := os.ReadFile(p.StartRefusal(d))
	if errors.Is(err, fs.ErrNotExist) {
		return Refusal{}, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return Refusal{}, fmt.Errorf("cannot read why the start of the server was refused: %w", err)
	}
	return r, nil
}
