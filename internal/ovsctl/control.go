// Package ovsctl sends commands to the database servers and ovn-northd through their control sockets, and makes and
// reads database files with ovsdb-tool and ovsdb-client.
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

// controlTimeout bounds one command to a server, unless more is allowed. Servers of large databases get more time
// ([raft.Patience]): a server does not answer while it compacts one.
const controlTimeout = 5 * time.Second

// Errors that the commands return.
var (
	// ErrNotRunning means that nothing listens on the control socket.
	ErrNotRunning = errors.New("server is not running")
	// ErrHung means that a process listens, but does not answer in time.
	ErrHung = errors.New("server does not answer")
	// ErrDenied means that this user may not open the socket.
	ErrDenied = errors.New("no permission to open the server's control socket")
	// ErrUnknownCluster means that the process does not serve this database as a member: it has left, was kicked, or
	// failed to write.
	ErrUnknownCluster = errors.New("server does not serve the database")
	// ErrNotClustered means that the process serves no clustered database at all.
	ErrNotClustered = errors.New("server has no clustered database")
	// ErrLeaving means that an earlier leave is in progress.
	ErrLeaving = errors.New("already leaving")
	// ErrJoining means that the server has not joined yet.
	ErrJoining = errors.New("join in progress")
	// ErrUnknownServer means that the server to kick is not a member, or that its ID is ambiguous.
	ErrUnknownServer = errors.New("unknown server")
	// ErrNoLeader means that a kick could not be sent to a leader.
	ErrNoLeader = errors.New("no leader to ask for it")
	// ErrNotLeader means that only the database's leader can do it.
	ErrNotLeader = errors.New("server is not the leader")
	// ErrTimerPending means that an earlier change of the election timer is not committed yet.
	ErrTimerPending = errors.New("a change of the election timer is under way")
	// ErrTimerRange means that the election timer is outside of 100 ms to 10 min, or more than twice the present one.
	ErrTimerRange = errors.New("election timer is out of range")
)

// answers maps texts of ovsdb-server (ovsdb/raft.c) to the errors above.
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

// ServerError is an answer of a server for which there is no error above.
type ServerError struct{ Text string }

// Error returns the server's text.
func (e *ServerError) Error() string { return e.Text }

// FailedError is returned if a server has given up a database but still shows its status. The server was the leader
// and could not write an entry for a client (raft_command_initiate() in ovsdb/raft.c). From then on it neither sends
// nor answers messages of Raft. Even with free space it refuses to leave ("can't leave after failure") and to compact
// its file ("cannot store a snapshot following failure"); only a restart helps. OVS 3.1 continues to call itself the
// leader. The failed entry is the last one of its log, and no other member has it.
type FailedError struct{ Status raft.Status }

// Error returns a text with the state that the server shows.
func (e *FailedError) Error() string {
	return fmt.Sprintf("%v: it says %q", ErrUnknownCluster, e.Status.State)
}

// Unwrap returns the error of a server that does not serve the database, as after other failures to write.
func (e *FailedError) Unwrap() error { return ErrUnknownCluster }

// Control sends commands to this unit's servers. It runs ovs-appctl for changes, and speaks to the control socket for
// queries.
type Control struct {
	Runner run.Runner
	Paths  ovndb.Paths
	// Timeout bounds one command; 0 means 5 s, and more for a large database. A healthy server answers in milliseconds,
	// or in seconds while it compacts a large database.
	Timeout time.Duration
}

// Status returns the server's cluster/status. It returns a [*raft.ParseError] for an unknown form, and a [*FailedError]
// if the server has given up the database.
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

// Leave asks the server to leave its cluster. Success only means that the leave has started. The caller has checked
// that the server may leave.
func (c Control) Leave(ctx context.Context, d ovndb.Database) error {
	return c.askServer(ctx, d, "cluster/leave", string(d))
}

// Kick asks for the removal of another member. Success only means that the request was sent; a follower's request may
// get lost. The caller has checked that the member may be kicked.
func (c Control) Kick(ctx context.Context, d ovndb.Database, id string) error {
	return c.askServer(ctx, d, "cluster/kick", string(d), id)
}

// ChangeElectionTimer asks the leader for another election timer, in whole milliseconds. Success only means that the
// change has started: [raft.Status] shows it as ChangingTo until a majority has it. The new timer is at most twice the
// present one. Errors are [ErrTimerRange], [ErrNotLeader] and [ErrTimerPending].
func (c Control) ChangeElectionTimer(ctx context.Context, d ovndb.Database, timer time.Duration) error {
	ms := strconv.FormatInt(timer.Milliseconds(), 10)
	return c.askServer(ctx, d, "cluster/change-election-timer", string(d), ms)
}

// Version returns the version of Open vSwitch that the server runs, such as 3.1.0.
func (c Control) Version(ctx context.Context, d ovndb.Database) (string, error) {
	out, err := c.readServer(ctx, d, "version")
	if err != nil {
		return "", err
	}
	// "ovsdb-server (Open vSwitch) 3.1.0" is the first line.
	line, _, _ := strings.Cut(out, "\n")
	_, version, found := strings.Cut(line, "(Open vSwitch) ")
	if !found {
		return "", fmt.Errorf("cannot tell which Open vSwitch the server of %s runs: it says %.60q", d, line)
	}
	return strings.TrimSpace(version), nil
}

// Exit ends the server. Unlike SIGTERM, it makes a leader transfer its leadership first (raft_close() in
// ovsdb/raft.c). Success only means that the exit has started. The server has ended when its control socket is gone
// ([ErrNotRunning]).
func (c Control) Exit(ctx context.Context, d ovndb.Database) error {
	return c.askServer(ctx, d, "exit")
}

// compactTimeout bounds a compaction. Large databases get more time ([raft.Patience]): a member with 160 MiB does not
// answer for up to 30 s.
const compactTimeout = 2 * time.Minute

// Compact makes the server rewrite its file from memory, as the server does by itself once the file has grown. The
// error is a [*ServerError] if the server can't write, in which case the old file stays, and if nothing was committed
// since the last time. Success does not mean that the file is written: the server's main loop may do that later
// (ovsdb_server_compact() in ovsdb/ovsdb-server.c). With OVS 3.1, the new file has the entries that a failed write
// has lost.
func (c Control) Compact(ctx context.Context, d ovndb.Database) error {
	c.Timeout = max(c.Timeout, raft.Patience(compactTimeout, raftfile.Size(c.Paths.File(d))))
	return c.askServer(ctx, d, "ovsdb-server/compact", string(d))
}

// TrimMemory makes the server return unused memory to the system after each compaction, as long as the server runs
// (ovsdb-server(1), ovsdb-server/memory-trim-on-compaction; since Open vSwitch 2.15). It is idempotent.
func (c Control) TrimMemory(ctx context.Context, d ovndb.Database) error {
	return c.askServer(ctx, d, "ovsdb-server/memory-trim-on-compaction", "on")
}

// askServer runs one command on the database's server.
func (c Control) askServer(ctx context.Context, d ovndb.Database, command ...string) error {
	_, err := c.patient(d).ask(ctx, string(d)+"'s server", c.Paths.Control(d), command...)
	return err
}

// readServer is like askServer, for a command that changes nothing.
func (c Control) readServer(ctx context.Context, d ovndb.Database, command ...string) (string, error) {
	return c.patient(d).read(ctx, string(d)+"'s server", c.Paths.Control(d), command...)
}

// patient sets the timeout for a database of this size.
func (c Control) patient(d ovndb.Database) Control {
	c.Timeout = cmp.Or(c.Timeout, raft.Patience(controlTimeout, raftfile.Size(c.Paths.File(d))))
	return c
}

// within returns the time that one command may take.
func (c Control) within(ctx context.Context) time.Duration {
	timeout := cmp.Or(c.Timeout, controlTimeout)
	if until, limited := ctx.Deadline(); limited {
		timeout = min(timeout, max(time.Until(until), 0))
	}
	return timeout
}

// read is like ask, for a command that changes nothing. It starts ovs-appctl only if the socket can't be opened, or
// breaks, to find the reason.
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

// ask sends one command to the process at the socket. ovs-appctl's own timeout ends it within a second after the
// deadline, even if this process is killed or stopped. A hung server executes queued commands once it resumes, even
// if ovs-appctl has ended.
func (c Control) ask(ctx context.Context, program, socket string, command ...string) (string, error) {
	timeout := c.within(ctx)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	own := strconv.Itoa(int(timeout/time.Second) + 1)
	args := append([]string{"-T", own, "-t", socket}, command...)
	if _, err := os.Lstat(socket); errors.Is(err, fs.ErrNotExist) {
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

// listening reports whether a server listens on the socket.
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

// answered returns the error for a text in answers; nil if there is none.
func answered(text string) error {
	for _, a := range answers {
		if strings.Contains(text, a.text) {
			return a.err
		}
	}
	return nil
}
