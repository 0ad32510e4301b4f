package gateways

import (
	"context"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// clustered is a cloud whose NB is a cluster of three.
type clustered struct {
	*cloud
	members []*ovsdbtest.Server
}

func newClustered(t *testing.T) *clustered {
	t.Helper()
	c := &clustered{members: ovsdbtest.Cluster(t, ovndb.NB, 3)}
	c.cloud = &cloud{t: t, dir: t.TempDir(), servers: map[string]*ovsdbtest.Server{"sb": ovsdbtest.New(t, ovndb.SB, "").Standalone(t).Start(t)}}
	var endpoints []string
	for _, m := range c.members {
		endpoints = append(endpoints, m.Endpoint())
	}
	c.nb = strings.Join(endpoints, ",")
	c.startNorthd()
	return c
}

func (c *clustered) leader() int {
	c.t.Helper()
	for n := range c.members {
		if c.members[n].Status(c.t).Role == raft.Leader {
			return n
		}
	}
	require.Fail(c.t, "no member leads")
	return -1
}

// complete checks that every port has all candidates.
func (c *cloud) complete(ports []string, candidates int) {
	c.t.Helper()
	lists := map[string]int{}
	for _, name := range strings.Fields(c.nbctl("--bare", "--columns=name", "list", "Gateway_Chassis")) {
		port, _, _ := strings.Cut(name, "_")
		lists[port]++
	}
	for _, port := range ports {
		assert.Equal(c.t, candidates, lists[port], port)
	}
	assert.Len(c.t, lists, len(ports))
}

func TestReschedule_leader_dies_halfway_and_run_ends(t *testing.T) {
	t.Parallel()
	c := newClustered(t)
	for _, name := range []string{"c1", "c2", "c3"} {
		c.addChassis(name)
	}
	c.addNetwork("physnet1")
	ports := c.addGateways(120, "c1")
	leader := c.leader()
	killed := false
	var told []string
	s := gateway.Service{
		// The leader comes first, so that the connection is the one that is lost.
		Dialer: new(ovsdb.Dialer), NB: append([]string{c.members[leader].Endpoint()}, strings.Split(c.nb, ",")...),
		SB: []string{c.endpoint("sb")}, NorthdTimeout: patience, Now: time.Now,
		Progress: func(_ context.Context, line string) {
			told = append(told, line)
			if !killed {
				killed = true
				c.members[leader].Kill(t)
			}
		},
	}
	t.Cleanup(s.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	_, err := s.Apply(ctx, func(state schedule.State, _ int) schedule.Plan { return schedule.Reschedule(state, schedule.Options{}) })
	require.NoError(t, err, told)
	assert.Regexp(t, "^100 of 120 ", told[0])
	assert.Contains(t, strings.Join(told, "\n"), "retrying: ")
	c.complete(ports, 3)
}

func (c *cloud) built(ctx context.Context) string {
	c.t.Helper()
	program := filepath.Join(c.dir, "ovn-central-operator")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", program, "../../../cmd/ovn-central-operator").CombinedOutput()
	require.NoError(c.t, err, "%s", out)
	return program
}

// A killed run leaves each port as it was or as planned; the next run finishes.
func TestReschedule_killed_run_is_finished_by_next(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	ports := c.addGateways(120, "c1")
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	program := c.built(ctx)

	// Without ovn-northd the program waits after the first batch.
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	cmd := exec.CommandContext(ctx, program, "gateways", "reschedule", "--wait", "0", "--nb", c.endpoint("nb"), "--sb", c.endpoint("sb"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool { return len(c.candidates(ports[0])) == 3 }, patience, 20*time.Millisecond)
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	for i, port := range ports {
		want := 1
		if i < 100 {
			want = 3
		}
		assert.Len(t, c.candidates(port), want, port)
	}
	c.operated("reschedule", "--wait", "0")
	assert.Equal(t, 20, c.history().Plans[0].Gateways)
	c.complete(ports, 3)
}
