package ovsdbtest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Server is a real ovsdb-server of one database. It serves at its socket and at the remotes in its options.
type Server struct {
	// Process is the server's last process.
	*Process
	Database ovndb.Database
	Paths    ovndb.Paths
	// Address is the server's Raft address.
	Address string
	// Schema is the file of the schema. If it is empty, the packages' schema is used.
	Schema string
	// Timer is the election timer of a cluster that the server creates; 0 means a second, ovsdb-tool's default.
	Timer time.Duration
	// Prefix is put before the command: nsenter or env, with their arguments.
	Prefix []string
	// Options are options of ovsdb-server.
	Options []string
}

// New returns a server with its own directory. Change its fields before you create the file.
func New(t testing.TB, d ovndb.Database, host string) *Server {
	t.Helper()
	dir := t.TempDir()
	return &Server{
		Database: d,
		Paths:    ovndb.Paths{Run: dir, DB: dir, Etc: dir},
		Address:  fmt.Sprintf("tcp:%s:%d", host, ovndb.RaftPort(d)),
	}
}

// File returns the server's database file.
func (s *Server) File() string { return s.Paths.File(s.Database) }

// Log returns the server's log file.
func (s *Server) Log() string {
	paths := s.Paths
	paths.Logs = cmp.Or(paths.Logs, paths.Run)
	return paths.Log(s.Database)
}

// Control returns the server's control socket.
func (s *Server) Control() string { return s.Paths.Control(s.Database) }

// Endpoint returns the server's socket in the form that clients use.
func (s *Server) Endpoint() string { return "unix:" + s.Paths.Socket(s.Database) }

// Remote returns the option to listen at an endpoint.
func Remote(endpoint string) string {
	protocol, rest, _ := strings.Cut(endpoint, ":")
	colon := strings.LastIndexByte(rest, ':')
	return "--remote=p" + protocol + rest[colon:] + ":" + rest[:colon]
}

// Create makes the file of a new cluster.
func (s *Server) Create(t testing.TB) *Server {
	t.Helper()
	timer := cmp.Or(s.Timer, time.Second)
	return s.make(t, fmt.Sprintf("--election-timer=%d", timer.Milliseconds()), "create-cluster", s.File(), s.schema(),
		s.Address)
}

// Join makes the file of a server that joins through the remotes.
func (s *Server) Join(t testing.TB, remotes ...string) *Server {
	t.Helper()
	return s.make(t, append([]string{"join-cluster", s.File(), string(s.Database), s.Address}, remotes...)...)
}

// Standalone makes the file of a standalone database.
func (s *Server) Standalone(t testing.TB) *Server {
	t.Helper()
	return s.make(t, "create", s.File(), s.schema())
}

// EditSchema writes a changed copy of the packages' schema of a database, and returns its file.
func EditSchema(t testing.TB, d ovndb.Database, change func(schema, tables map[string]any)) string {
	t.Helper()
	text, err := os.ReadFile(ovndb.Paths{}.Schema(d))
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	delete(schema, "cksum")
	change(schema, schema["tables"].(map[string]any))
	text, err = json.Marshal(schema)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), filepath.Base(ovndb.Paths{}.Schema(d)))
	require.NoError(t, os.WriteFile(path, text, 0o600))
	return path
}

// ColumnsOf returns the columns of a table in a schema.
func ColumnsOf(tables map[string]any, table string) map[string]any {
	return tables[table].(map[string]any)["columns"].(map[string]any)
}

func (s *Server) schema() string { return cmp.Or(s.Schema, s.Paths.Schema(s.Database)) }

func (s *Server) make(t testing.TB, args ...string) *Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	said, err := exec.CommandContext(ctx, "ovsdb-tool", args...).CombinedOutput()
	require.NoError(t, err, "%s", said)
	return s
}

// Begin runs the server on its existing file until the test ends.
func (s *Server) Begin(t testing.TB) *Server {
	t.Helper()
	command := slices.Concat(s.Prefix, []string{
		"ovsdb-server", "-vconsole:off", "--log-file=" + s.Log(), "--unixctl=" + s.Control(), "--remote=p" + s.Endpoint(),
	}, s.Options, []string{s.File()})
	s.Process = Run(t, nil, command[0], command[1:]...)
	return s
}

// Start starts the server and returns when it answers.
func (s *Server) Start(t testing.TB) *Server {
	t.Helper()
	s.Begin(t).Answers(t, s.Control())
	return s
}

// Appctl sends the server a command.
func (s *Server) Appctl(t testing.TB, command ...string) (string, error) {
	t.Helper()
	said, err := exec.CommandContext(t.Context(), "ovs-appctl",
		append([]string{"-T", "10", "-t", s.Control()}, command...)...).Output()
	return strings.TrimSpace(string(said)), err
}

// Status returns the server's view of its cluster.
func (s *Server) Status(t testing.TB) raft.Status {
	t.Helper()
	status, err := s.status(t)
	require.NoError(t, err)
	return status
}

func (s *Server) status(t testing.TB) (raft.Status, error) {
	t.Helper()
	text, err := s.Appctl(t, "cluster/status", string(s.Database))
	if err != nil {
		return raft.Status{}, err
	}
	return raft.Parse(text)
}

// Transact sends the server a transaction over its socket (RFC 7047, section 4.1.3). It returns an error if an
// operation fails.
func (s *Server) Transact(timeout time.Duration, operations ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", s.Paths.Socket(s.Database))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	params := append([]any{string(s.Database)}, operations...)
	if err := json.NewEncoder(conn).Encode(map[string]any{"method": "transact", "id": 1, "params": params}); err != nil {
		return err
	}
	var answer struct {
		Error  any
		Result []map[string]any
	}
	if err := json.NewDecoder(conn).Decode(&answer); err != nil {
		return err
	}
	for _, r := range answer.Result {
		answer.Error = cmp.Or(answer.Error, r["error"])
	}
	if answer.Error != nil {
		return fmt.Errorf("refused: %v", answer.Error)
	}
	return nil
}

// Reaches waits until the server's status is as wanted.
func (s *Server) Reaches(t testing.TB, wanted func(raft.Status) bool, what string) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, err := s.status(t)
		return err == nil && wanted(status)
	}, patience, 20*time.Millisecond, what)
}

// Cluster starts the n members of a cluster. The first leads it.
func Cluster(t testing.TB, d ovndb.Database, n int) []*Server {
	t.Helper()
	return Form(t, Several(t, d, n)...)
}

// Several makes n servers as [New] does, each with its own loopback address.
func Several(t testing.TB, d ovndb.Database, n int) (servers []*Server) {
	t.Helper()
	network := loopbacktest.Network(t)
	for i := range n {
		servers = append(servers, New(t, d, fmt.Sprintf("%s.%d", network, i+1)))
	}
	return servers
}

// Form starts servers as one cluster, which the first creates. It returns when all are members.
func Form(t testing.TB, members ...*Server) []*Server {
	t.Helper()
	for i, s := range members {
		if i == 0 {
			s.Create(t)
		} else {
			s.Join(t, members[0].Address)
		}
		s.Start(t)
	}
	for _, s := range members {
		s.Reaches(t, func(r raft.Status) bool {
			return r.State == raft.ClusterMember && r.HasLeader() && len(r.Servers) == len(members)
		}, "the members do not find each other")
	}
	return members
}
