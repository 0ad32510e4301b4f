package deployment

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// patience bounds what takes seconds, on a machine that is busy with other tests.
const patience = 3 * time.Minute

// deployed is a model with a CA, clients, and n units that were empty machines
// and work.
func deployed(t *testing.T, n int, o lab.Options) (*cloud, []*lab.Unit) {
	t.Helper()
	c := newCloud(t, o)
	c.relateVault(t)
	c.relateClients(t)
	units := c.addFresh(t, n)
	requireActive(t, units...)
	return c, units
}

func requireActive(t *testing.T, units ...*lab.Unit) {
	t.Helper()
	for _, u := range units {
		require.Equal(t, "active", u.Workload().Status, "%s: %s", u.Name(), u.Workload().Message)
	}
}

// says asserts a unit's status, and what its line holds.
func says(t *testing.T, u *lab.Unit, word string, parts ...string) {
	t.Helper()
	assert.Equal(t, word, u.Workload().Status, "%s: %s", u.Name(), u.Workload().Message)
	for _, part := range parts {
		assert.Contains(t, u.Workload().Message, part, u.Name())
	}
}

// updateStatus runs the hook on these units, and what follows from it.
func (c *cloud) updateStatus(t *testing.T, units ...*lab.Unit) {
	t.Helper()
	for _, u := range units {
		require.NoError(t, c.RunHook(t.Context(), u, "update-status"))
	}
	require.NoError(t, c.Settle(t.Context()))
}

// act runs an action that completes.
func (c *cloud) act(t *testing.T, u *lab.Unit, action string, args ...string) map[string]string {
	t.Helper()
	r, err := c.RunAction(t.Context(), u, action, args...)
	require.NoError(t, err)
	require.Equal(t, "completed", r.Status, "%s\n%v", r.Message, r.Results)
	return r.Results
}

// refused runs an action that fails, and returns its message.
func (c *cloud) refused(t *testing.T, u *lab.Unit, action string, args ...string) string {
	t.Helper()
	r, err := c.RunAction(t.Context(), u, action, args...)
	require.NoError(t, err)
	require.Equal(t, "failed", r.Status, "%v", r.Results)
	return r.Message
}

// raftOf is what a unit's server says of its cluster.
func raftOf(t *testing.T, u *lab.Unit, db lab.DB) raft.Status {
	t.Helper()
	text, err := u.Status(t.Context(), db)
	require.NoError(t, err)
	s, err := raft.Parse(text)
	require.NoError(t, err)
	return s
}

// clusterID is the ID of the cluster that a unit's server is of.
func clusterID(t *testing.T, u *lab.Unit, db lab.DB) string {
	t.Helper()
	s := raftOf(t, u, db)
	require.NotNil(t, s.Cluster, "%s is of no cluster of %s", u.Name(), db)
	return string(*s.Cluster)
}

// processes are what must not change where no server may be restarted: the
// process and the term of each.
func processes(t *testing.T, units ...*lab.Unit) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, u := range units {
		for _, db := range lab.Databases {
			pid, err := u.ServerPID(db)
			require.NoError(t, err)
			all[u.Name()+" "+string(db)] = fmt.Sprintf("process %d, term %d", pid, raftOf(t, u, db).Term)
		}
	}
	return all
}

// leaders are those of both databases.
func (c *cloud) leaders(t *testing.T) map[lab.DB]*lab.Unit {
	t.Helper()
	leaders := map[lab.DB]*lab.Unit{}
	for _, db := range lab.Databases {
		u, err := c.RaftLeader(t.Context(), db)
		require.NoError(t, err)
		leaders[db] = u
	}
	return leaders
}

// handOver has any other unit lead what this one leads.
func (c *cloud) handOver(t *testing.T, u *lab.Unit) {
	t.Helper()
	for db, leader := range c.leaders(t) {
		if leader != u {
			continue
		}
		_, err := u.Appctl(t.Context(), db, "cluster/failure-test", "transfer-leadership")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return c.leaders(t)[db] != u }, patience, 50*time.Millisecond)
	}
}

// fileOf is a file of the unit's configuration as it stands on its disk.
func fileOf(t *testing.T, u *lab.Unit, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(u.SysconfDir(), "ovn", name))
	require.NoError(t, err)
	return string(text)
}

// stream is a client whose one connection stays open: it follows a table.
type stream struct {
	t      *testing.T
	output string
	ended  chan error
}

// follow connects to a unit's port from where clients are, with these files, and
// waits until the connection stands.
func (c *cloud) follow(t *testing.T, u *lab.Unit, port int, database, table, column string, with lab.Credentials) *stream {
	t.Helper()
	namespace, err := c.HubNamespace()
	require.NoError(t, err)
	s := &stream{t: t, output: filepath.Join(t.TempDir(), "followed"), ended: make(chan error, 1)}
	out, err := os.Create(s.output)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+namespace, "--", "ovsdb-client",
		"--private-key="+with.Key, "--certificate="+with.Certificate, "--ca-cert="+with.CA,
		"monitor", fmt.Sprintf("ssl:%s:%d", bracketed(u.Address()), port), database, table, column)
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	over := make(chan struct{})
	go func() {
		s.ended <- cmd.Wait()
		close(over)
	}()
	t.Cleanup(func() {
		cancel()
		<-over
		assert.NoError(t, out.Close())
	})
	s.shows(column)
	return s
}

// shows waits until the client has seen something.
func (s *stream) shows(what string) {
	s.t.Helper()
	deadline := time.After(patience)
	for {
		text, err := os.ReadFile(s.output)
		require.NoError(s.t, err)
		if strings.Contains(string(text), what) {
			return
		}
		select {
		case err := <-s.ended:
			require.Fail(s.t, "the connection has ended", "%v: %s", err, text)
		case <-deadline:
			require.Fail(s.t, "the client has not seen "+what, "%s", text)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func bracketed(address string) string {
	if strings.Contains(address, ":") {
		return "[" + address + "]"
	}
	return address
}

// lossless asserts that nothing is lost that the writer was told is stored.
func lossless(t *testing.T, w *lab.Writer) {
	t.Helper()
	w.Stop()
	all, err := w.Verify(t.Context())
	require.NoError(t, err)
	for db, writes := range all {
		assert.Positive(t, writes.Acknowledged, "writes to %s", db)
		assert.Zero(t, writes.Lost, "acknowledged writes to %s that are lost", db)
		t.Logf("%s: %+v", db, writes)
	}
}

// contains says whether a unit's line holds a text.
func contains(u *lab.Unit, text string) bool {
	return strings.Contains(u.Workload().Message, text)
}

// hasLogged says whether a unit's hooks have logged a text.
func hasLogged(t *testing.T, u *lab.Unit, text string) bool {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(filepath.Dir(u.CharmDir()), "hooks.log"))
	require.NoError(t, err)
	return strings.Contains(string(log), text)
}

// requireKicked waits until a unit sees that these servers are no members.
func (c *cloud) requireKicked(t *testing.T, u *lab.Unit, servers map[string]string) {
	t.Helper()
	for _, db := range lab.Databases {
		require.Eventually(t, func() bool {
			return !slices.ContainsFunc(raftOf(t, u, db).Servers, func(m raft.Member) bool { return m.Short == servers[string(db)][:4] })
		}, patience, 50*time.Millisecond, "%s: %s is no member", db, servers[string(db)])
	}
}
