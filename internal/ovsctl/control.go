// Package ovsctl asks the database servers and ovn-northd by their control sockets, and makes and reads
// database files by ovsdb-tool and ovsdb-client.
package ovsctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// controlTimeout bounds one command to a server, unless more is allowed. A large
// database adds to it ([raft.Patience]): a server that compacts one is silent meanwhile,
// and does not hang.
const controlTimeout = 5 * time.Second

// What a server's control socket can answer instead of a result. A caller tells
// them apart with errors.Is.
var (
	// ErrNotRunning: nothing listens on the control socket.
	ErrNotRunning = errors.New("server is not running")
	// ErrHung: a process listens, but does not answer in time.
	ErrHung = errors.New("server does not answer")
	// ErrDenied: this user may not open the socket.
	ErrDenied = errors.New("no permission to open the server's control socket")
	// ErrUnknownCluster: the process does not serve this database as a cluster's
	// member: it has left, was kicked, or failed on a write.
	ErrUnknownCluster = errors.New("server does not serve the database")
	// ErrNotClustered: the process serves no clustered database at all.
	ErrNotClustered = errors.New("server has no clustered database")
	// ErrLeaving: a leave was asked for earlier and is under way.
	ErrLeaving = errors.New("already leaving")
	// ErrJoining: the server has not yet joined.
	ErrJoining = errors.New("join in progress")
	// ErrUnknownServer: the server to kick is no member, or not exactly one.
	ErrUnknownServer = errors.New("unknown server")
	// ErrNoLeader: a kick could not be passed on to a leader.
	ErrNoLeader = errors.New("no leader to ask for it")
	// ErrNotLeader: only the database's leader can do it.
	ErrNotLeader = errors.New("server is not the leader")
	// ErrTimerPending: an earlier change of the election timer is not yet
	// committed.
	ErrTimerPending = errors.New("a change of the election timer is under way")
	// ErrTimerRange: the election timer is outside of 100 ms to 10 min, or more
	// than twice the present one.
	ErrTimerRange = errors.New("election timer is out of range")
)

// answers maps what ovsdb-server says (ovsdb/raft.c) to the errors above.
var answers = []struct {
	text string
	err  error
}{
	{"unknown cluster", ErrUnknownCluster},
	{"is not a valid command", ErrNotClustered},
	{"already in progress leaving cluster", ErrLeaving},
	{"can't leave while join in progress", ErrJoining},
	{"unknown server", ErrUnknownServer},
	{"failed to send removal request", ErrNoLeader},
	{"election timer must be changed through leader", ErrNotLeader},
	{"election timer change pending", ErrTimerPending},
	{"election timer must be between", ErrTimerRange},
	{"election timer increase should not", ErrTimerRange},
	{"(Permission denied)", ErrDenied},
	{"(No such file or directory)", ErrNotRunning},
	{"(Connection refused)", ErrNotRunning},
}

// ServerError is a server's answer, if it is none of the errors above.
type ServerError struct{ Text string }

// Error is the server's text.
func (e *ServerError) Error() string { return e.Text }

// FailedError is returned if a server has given up a database but still shows its
// status. The server was the leader and could not write an entry that a client had asked for
// (raft_command_initiate() in ovsdb/raft.c of Open vSwitch). From then on it neither sends nor
// answers any message of Raft, and it refuses to leave ("can't leave after failure") and to
// compact its file ("cannot store a snapshot following failure"), however much space is
// free; only a restart brings it back. Measured on OVS 3.1: it continues calling itself the
// leader. The entry that failed is the last one of its log, and no other member has it.
type FailedError struct{ Status raft.Status }

// Error includes the state that the server shows.
func (e *FailedError) Error() string {
	return fmt.Sprintf("%v: it says %q", ErrUnknownCluster, e.Status.State)
}

// Unwrap returns what the server answers if it failed on another entry.
func (e *FailedError) Unwrap() error { return ErrUnknownCluster }

// Control talks to the servers of this unit: by ovs-appctl if a command changes something, by the control socket itself
// if it only reads.
type Control struct {
	Runner run.Runner
	Paths  ovndb.Paths
	// Timeout bounds one command; 0 is 5 s, and what the database's size adds. A healthy
	// server answers in milliseconds, one that compacts a large database in seconds.
	Timeout time.Duration
}

// Status is what cluster/status says. A text that can't be understood is a
// *raft.ParseError, that of a server which has given up the database a *[FailedError].
func (c Control) Status(ctx context.Context, d ovndb.Database) (raft.Status, error) {
	out, err := c.readServer(ctx, d, "cluster/status", string(d))
	if err != nil {
		return raft.Status{}, err
	}
	status, err := raft.Parse(out)
	if err == nil && status.State == raft.Failed {
		return raft.Status{}, &FailedError{status}
	}
	return status, err
}

// Leave asks the server to leave its cluster. Success only means that it has
// begun. It checks nothing: that is the caller's business.
func (c Control) Leave(ctx context.Context, d ovndb.Database) error {
	_, err := c.call(ctx, d, "cluster/leave")
	return err
}

// Kick asks for the removal of another member. Success only means that the
// request was sent; from a follower it may get lost. It checks nothing: that is
// the caller's business.
func (c Control) Kick(ctx context.Context, d ovndb.Database, id string) error {
	_, err := c.call(ctx, d, "cluster/kick", id)
	return err
}

// ChangeElectionTimer asks the leader for another election timer; what is less
// than a millisecond is cut off. Success only means that the change has begun:
// [raft.Status] shows it as ChangingTo until a majority has it. A larger one is at
// most twice the present one, a smaller one may be any; otherwise it is
// [ErrTimerRange]. Other refusals are [ErrNotLeader] and [ErrTimerPending].
func (c Control) ChangeElectionTimer(ctx context.Context, d ovndb.Database, timer time.Duration) error {
	_, err := c.call(ctx, d, "cluster/change-election-timer", strconv.FormatInt(timer.Milliseconds(), 10))
	return err
}

// Version is that of the Open vSwitch which the server runs, as upstream counts:
// 3.1.0.
func (c Control) Version(ctx context.Context, d ovndb.Database) (string, error) {
	out, err := c.readServer(ctx, d, "version")
	if err != nil {
		return "", err
	}
	// "ovsdb-server (Open vSwitch) 3.1.0", and more if the server has more.
	line, _, _ := strings.Cut(out, "\n")
	_, version, found := strings.Cut(line, "(Open vSwitch) ")
	if !found {
		return "", fmt.Errorf("cannot tell which Open vSwitch the server of %s runs: it says %.60q", d, line)
	}
	return strings.TrimSpace(version), nil
}

// Exit ends the server. A leader hands its leadership over first, which SIGTERM
// does not make it do (raft_close() in ovsdb/raft.c). Success only means that it
// has begun; the server is gone when its control socket is ([ErrNotRunning]).
func (c Control) Exit(ctx context.Context, d ovndb.Database) error {
	_, err := c.askServer(ctx, d, "exit")
	return err
}

// call runs one command that is about a database on the database's server.
func (c Control) call(ctx context.Context, d ovndb.Database, command string, args ...string) (string, error) {
	return c.askServer(ctx, d, append([]string{command, string(d)}, args...)...)
}

// askServer runs one command on the database's server.
func (c Control) askServer(ctx context.Context, d ovndb.Database, command ...string) (string, error) {
	return c.patient(d).ask(ctx, string(d)+"'s server", c.Paths.Control(d), command...)
}

// readServer is askServer for a command that changes nothing.
func (c Control) readServer(ctx context.Context, d ovndb.Database, command ...string) (string, error) {
	return c.patient(d).read(ctx, string(d)+"'s server", c.Paths.Control(d), command...)
}

// patient gives a server the time that a database of this size needs.
func (c Control) patient(d ovndb.Database) Control {
	c.Timeout = cmp.Or(c.Timeout, raft.Patience(controlTimeout, raftfile.Size(c.Paths.File(d))))
	return c
}

// within is how long one command may take.
func (c Control) within(ctx context.Context) time.Duration {
	timeout := cmp.Or(c.Timeout, controlTimeout)
	if until, limited := ctx.Deadline(); limited {
		timeout = min(timeout, max(time.Until(until), 0))
	}
	return timeout
}

// read is ask for a command that changes nothing. It starts ovs-appctl only if the socket can't be opened, or breaks:
// that tells why.
func (c Control) read(ctx context.Context, program, socket string, command ...string) (string, error) {
	timeout := c.within(ctx)
	text, err := c.transact(ctx, socket, command[0], command[1:]...)
	refused := (*ServerError)(nil)
	switch {
	case err == nil:
		return text, nil
	case errors.As(err, &refused):
		if err = answered(refused.Text); err == nil {
			line, _, _ := strings.Cut(refused.Text, "\n")
			err = &ServerError{line}
		}
	case errors.Is(ctx.Err(), context.Canceled):
		err = ctx.Err()
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		err = fmt.Errorf("%w within %s", ErrHung, timeout)
	default:
		return c.ask(ctx, program, socket, command...)
	}
	return "", fmt.Errorf("cannot ask %s for %s: %w", program, command[0], err)
}

// ask sends one command to the process at the socket. ovs-appctl's own time-out ends
// it even if this process is killed or stopped meanwhile, within a second of the
// deadline. A command that was sent to a server that hangs is carried out when the
// server continues, whatever became of ovs-appctl.
func (c Control) ask(ctx context.Context, program, socket string, command ...string) (string, error) {
	timeout := c.within(ctx)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	own := strconv.Itoa(int(timeout/time.Second) + 1)
	args := append([]string{"-T", own, "-t", socket}, command...)
	if _, err := os.Lstat(socket); errors.Is(err, fs.ErrNotExist) {
		// and no process is needed to tell
		return "", fmt.Errorf("cannot ask %s for %s: %w", program, command[0], ErrNotRunning)
	}
	out, err := c.Runner.Run(ctx, run.Command{Name: "ovs-appctl", Args: args})
	if err == nil {
		return string(out), nil
	}
	err = classify(err, timeout)
	if run.Missing(err) && !listening(ctx, socket) {
		err = fmt.Errorf("%w: %w", ErrNotRunning, err)
	}
	return "", fmt.Errorf("cannot ask %s for %s: %w", program, command[0], err)
}

// listening reports whether a server listens, where ovs-appctl is missing and can't.
func listening(ctx context.Context, socket string) bool {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err == nil {
		err = conn.Close()
	}
	return err == nil
}

func classify(err error, timeout time.Duration) error {
	failed := (*run.Error)(nil)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w within %s", ErrHung, timeout)
	case !errors.As(err, &failed):
		return err
	}
	if known := answered(failed.Stderr); known != nil {
		return known
	}
	if first, _, more := strings.Cut(failed.Stderr, "\n"); more && failed.ExitCode == 2 {
		return &ServerError{first}
	}
	return err
}

// answered returns the error above that a text means; nil if it means none of them.
func answered(text string) error {
	for _, a := range answers {
		if strings.Contains(text, a.text) {
			return a.err
		}
	}
	return nil
}
