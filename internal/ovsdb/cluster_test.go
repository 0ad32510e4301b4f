//go:build programs

package ovsdb_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// patience bounds every wait for a server: an election takes about two election
// timers of 1 s, on a busy machine more.
const patience = time.Minute

// server is a real ovsdb-server of one database. Its Raft address and its client
// ports are those of the packages, on an address of the loopback of its own.
type server struct {
	database ovndb.Database
	dir      string
	address  string
	process  *os.Process
}

func newServer(t *testing.T, d ovndb.Database, host string) *server {
	t.Helper()
	return &server{database: d, dir: t.TempDir(), address: "tcp:" + host + ":" + fmt.Sprint(ovndb.RaftPort(d))}
}

func (s *server) file() string   { return filepath.Join(s.dir, "db") }
func (s *server) ctl() string    { return filepath.Join(s.dir, "ctl") }
func (s *server) socket() string { return "unix:" + filepath.Join(s.dir, "sock") }

func (s *server) endpoints() []string { return ovsdb.Endpoints(s.database, s.address) }

// listener is the passive form of an endpoint.
func listener(endpoint string) string {
	protocol, rest, _ := strings.Cut(endpoint, ":")
	colon := strings.LastIndexByte(rest, ':')
	return "p" + protocol + ":" + rest[colon+1:] + ":" + rest[:colon]
}

func schema(d ovndb.Database) string { return "/usr/share/ovn/ovn-" + d.Short() + ".ovsschema" }

func (s *server) create(t *testing.T) *server {
	t.Helper()
	command(t, "ovsdb-tool", "create-cluster", s.file(), schema(s.database), s.address)
	return s
}

func (s *server) join(t *testing.T, remotes ...string) *server {
	t.Helper()
	command(t, "ovsdb-tool", append([]string{"join-cluster", s.file(), string(s.database), s.address}, remotes...)...)
	return s
}

func (s *server) standalone(t *testing.T) *server {
	t.Helper()
	return s.standaloneOf(t, schema(s.database))
}

// standaloneOf makes a database of a schema's file.
func (s *server) standaloneOf(t *testing.T, file string) *server {
	t.Helper()
	command(t, "ovsdb-tool", "create", s.file(), file)
	return s
}

// start runs the server, listening on its socket and on the endpoints, and returns when it
// answers. It ends in its cleanup and not with the test's context, which is done earlier:
// what the test cleans up may still need it.
func (s *server) start(t *testing.T, endpoints []string, options ...string) *server {
	t.Helper()
	args := []string{"-vconsole:off", "--log-file=" + filepath.Join(s.dir, "log"), "--unixctl=" + s.ctl(), "--remote=p" + s.socket()}
	for _, e := range endpoints {
		args = append(args, "--remote="+listener(e))
	}
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "ovsdb-server", append(append(args, options...), s.file())...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	s.process = cmd.Process
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // killed, always
	}()
	t.Cleanup(func() {
		_ = s.process.Kill()
		<-ended
	})
	require.Eventually(t, func() bool {
		_, err := s.appctl(t, "version")
		return err == nil
	}, patience, 5*time.Millisecond, "ovsdb-server does not start")
	return s
}

func (s *server) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	require.NoError(t, s.process.Signal(sig))
}

func (s *server) appctl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "ovs-appctl", Args: append([]string{"-T", "2", "-t", s.ctl()}, args...)})
	return strings.TrimSpace(string(out)), err
}

func (s *server) status(t *testing.T) raft.Status {
	t.Helper()
	text, err := s.appctl(t, "cluster/status", string(s.database))
	require.NoError(t, err)
	status, err := raft.Parse(text)
	require.NoError(t, err)
	return status
}

// reaches waits until the server's status is as wanted.
func (s *server) reaches(t *testing.T, wanted func(raft.Status) bool, what string) {
	t.Helper()
	require.Eventually(t, func() bool {
		text, err := s.appctl(t, "cluster/status", string(s.database))
		if err != nil {
			return false
		}
		status, err := raft.Parse(text)
		return err == nil && wanted(status)
	}, patience, 20*time.Millisecond, what)
}

// cluster starts n members of one cluster; the first leads it.
func cluster(t *testing.T, d ovndb.Database, n int) []*server {
	t.Helper()
	net := loopbacktest.Network(t)
	var members []*server
	for i := 1; i <= n; i++ {
		s := newServer(t, d, fmt.Sprintf("%s.%d", net, i))
		if i == 1 {
			s.create(t)
		} else {
			s.join(t, members[0].address)
		}
		members = append(members, s.start(t, s.endpoints()))
	}
	for _, m := range members {
		m.reaches(t, func(s raft.Status) bool {
			return s.State == raft.ClusterMember && s.HasLeader() && len(s.Servers) == n
		}, "the members do not find each other")
	}
	return members
}

// command runs a program that must succeed.
func command(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := run.Exec{}.Run(ctx, run.Command{Name: name, Args: args})
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}
