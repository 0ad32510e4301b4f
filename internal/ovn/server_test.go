//go:build programs

package ovn_test

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
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// patience bounds every wait for a server: an election takes about two election
// timers of 1 s, on a busy machine more.
const patience = time.Minute

// server is a real ovsdb-server of one database, with directories of its own.
type server struct {
	database ovndb.Database
	address  string
	paths    ovndb.Paths
	process  *os.Process
	done     chan struct{} // closed when the process has ended
}

func newServer(t testing.TB, d ovndb.Database, host string) *server {
	t.Helper()
	dir := t.TempDir()
	return &server{
		database: d,
		address:  "tcp:" + host + ":6643",
		paths:    ovndb.Paths{Run: dir, DB: dir, Etc: dir},
	}
}

func schema(d ovndb.Database) string { return "/usr/share/ovn/ovn-" + d.Short() + ".ovsschema" }

// create makes the file of a cluster of its own.
func (s *server) create(t testing.TB) *server {
	t.Helper()
	tool(t, "create-cluster", s.paths.File(s.database), schema(s.database), s.address)
	return s
}

// join makes the file of a server that is to join at the remotes.
func (s *server) join(t testing.TB, remotes ...string) *server {
	t.Helper()
	tool(t, append([]string{"join-cluster", s.paths.File(s.database), string(s.database), s.address}, remotes...)...)
	return s
}

// standalone makes the file of a database that is not clustered.
func (s *server) standalone(t *testing.T) *server {
	t.Helper()
	tool(t, "create", s.paths.File(s.database), schema(s.database))
	return s
}

// start runs the server until the test ends, and returns when it answers.
func (s *server) start(t testing.TB) *server {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "ovsdb-server", "-vconsole:off",
		"--log-file="+filepath.Join(s.paths.Run, "log"), "--unixctl="+s.paths.Control(s.database),
		"--remote=punix:"+s.paths.Socket(s.database), s.paths.File(s.database))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	process, done := cmd.Process, make(chan struct{})
	s.process, s.done = process, done
	go func() {
		defer close(done)
		_ = cmd.Wait() // killed, mostly
	}()
	t.Cleanup(func() {
		_ = process.Kill()
		<-done
	})
	require.Eventually(t, func() bool {
		_, err := run.Exec{}.Run(t.Context(), run.Command{Name: "ovs-appctl", Args: []string{"-T", "2", "-t", s.paths.Control(s.database), "version"}})
		return err == nil
	}, patience, 5*time.Millisecond, "ovsdb-server does not start")
	return s
}

func (s *server) signal(t *testing.T, sig syscall.Signal) {
	t.Helper()
	require.NoError(t, s.process.Signal(sig))
}

// kill ends the server as a power failure does, and returns when it is gone.
func (s *server) kill(t *testing.T) {
	t.Helper()
	s.signal(t, syscall.SIGKILL)
	require.Eventually(t, func() bool { return s.process.Signal(syscall.Signal(0)) != nil }, patience, time.Millisecond)
}

// ended waits until the process is gone.
func (s *server) ended(t *testing.T) {
	t.Helper()
	select {
	case <-s.done:
	case <-time.After(patience):
		require.Fail(t, "ovsdb-server does not end")
	}
}

func (s *server) control() ovn.Control { return ovn.Control{Runner: run.Exec{}, Paths: s.paths} }

func (s *server) files() ovn.Files { return ovn.Files{Runner: run.Exec{}, Paths: s.paths} }

// joined holds what the file says of whether its server is a member.
func (s *server) joined(t *testing.T, wanted bool) {
	t.Helper()
	member, err := s.files().Joined(t.Context(), s.database)
	require.NoError(t, err)
	require.Equal(t, wanted, member)
}

func (s *server) status(t testing.TB) raft.Status {
	t.Helper()
	status, err := s.control().Status(t.Context(), s.database)
	require.NoError(t, err)
	return status
}

// reaches waits until the server's status is as wanted.
func (s *server) reaches(t testing.TB, wanted func(raft.Status) bool, what string) {
	t.Helper()
	require.Eventually(t, func() bool {
		status, err := s.control().Status(t.Context(), s.database)
		return err == nil && wanted(status)
	}, patience, 20*time.Millisecond, what)
}

// gone waits until the server serves its database no more.
func (s *server) gone(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := s.control().Status(t.Context(), s.database)
		return err != nil && strings.Contains(err.Error(), ovn.ErrUnknownCluster.Error())
	}, patience, 20*time.Millisecond, "the server does not go")
}

// cluster starts n members of one cluster; the first leads it.
func cluster(t *testing.T, d ovndb.Database, n int) []*server {
	t.Helper()
	net := loopbacktest.Network(t)
	members := []*server{newServer(t, d, net+".1").create(t).start(t)}
	for i := 2; i <= n; i++ {
		members = append(members, newServer(t, d, fmt.Sprintf("%s.%d", net, i)).join(t, members[0].address).start(t))
	}
	for _, m := range members {
		m.reaches(t, func(s raft.Status) bool {
			return s.State == raft.ClusterMember && s.HasLeader() && len(s.Servers) == n
		}, "the members do not find each other")
	}
	return members
}

func tool(t testing.TB, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := run.Exec{}.Run(ctx, run.Command{Name: "ovsdb-tool", Args: args})
	require.NoError(t, err)
}
