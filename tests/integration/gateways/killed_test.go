package gateways

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// resumed runs an operation again and again, each time with fresh connections, and cuts the n-th
// run at the n-th thing that it says, until one ends by itself. It returns how many were cut.
func (c *cloud) resumed(operate func(context.Context, *node.Service) maintenance.Status) (cut int) {
	c.t.Helper()
	for n := 1; ; n++ {
		ctx, cancel := context.WithCancelCause(c.t.Context())
		s, said := c.nodeService(), 0
		s.Gateways.NorthdTimeout = patience
		s.Gateways.Progress = func(context.Context, string) {
			if said++; said == n {
				cancel(errors.New("killed"))
			}
		}
		answer := operate(ctx, s)
		cancel(nil)
		s.Close()
		if said < n {
			require.Equal(c.t, 200, answer.Code, document.Answer(answer))
			return n - 1
		}
		require.Less(c.t, n, 50, "it never ends: %s", document.Answer(answer))
	}
}

// Wherever a drain, an undrain and a decommission are ended, the same again goes on: nothing is lost, and
// nothing is done twice.
func TestOperationsOnNodesGoOnWhereverTheyWereEnded(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addNetwork("physnet1")
	ports := c.addGateways(120, "c1", "c2", "c3")
	before := c.ranks()
	limits := maintenance.Limits{Timeout: 2 * patience}

	cut := c.resumed(func(ctx context.Context, s *node.Service) maintenance.Status {
		return s.Drain(ctx, node.DrainRequest{Node: "c1", Limits: limits})
	})
	assert.GreaterOrEqual(t, cut, 2)
	assert.Equal(t, map[string]int{"c2": 60, "c3": 60}, c.masters(ports...))

	cut = c.resumed(func(ctx context.Context, s *node.Service) maintenance.Status { return s.Undrain(ctx, "c1", 0, false) })
	assert.GreaterOrEqual(t, cut, 1)
	require.Equal(t, before, c.ranks())
	assert.Nil(t, c.node("c1").Drain)

	cut = c.resumed(func(ctx context.Context, s *node.Service) maintenance.Status {
		return s.Decommission(ctx, node.DecommissionRequest{Node: "c1", Drain: limits, Clear: time.Minute, Confirmed: true})
	})
	assert.GreaterOrEqual(t, cut, 5)
	for _, port := range ports {
		assert.Len(t, c.candidates(port), 2)
	}
	assert.Equal(t, map[string]int{"c2": 60, "c3": 60}, c.masters(ports...))
	for _, e := range c.history().Plans {
		assert.Zero(t, e.Left, e.Operation)
	}
}

// A process that drains a node is killed when its intent stands, and when a part is written; the agent, the
// same command and an undrain go on in turns.
func TestDrainWhoseProcessIsKilledIsFinishedByTheNext(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2", "c3")
	c.addNetwork("physnet1")
	ports := c.addGateways(120, "c1", "c2", "c3")
	before := c.ranks()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	program := c.built(ctx)
	intent := func() bool {
		return strings.Contains(c.nbctl("get", "NB_Global", ".", "external_ids"), "ovn-central:drain/c1")
	}
	killed := func(isTime func(said io.Reader) bool) {
		t.Helper()
		require.False(t, intent())
		cmd := exec.CommandContext(ctx, program, "nodes", "drain", "c1", "--nb", c.endpoint("nb"), "--sb", c.endpoint("sb"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		said, err := cmd.StdoutPipe()
		require.NoError(t, err)
		cmd.Stderr = cmd.Stdout
		require.NoError(t, cmd.Start())
		require.True(t, isTime(said))
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait(), "it had ended by itself")
	}
	whenWritten := func(said io.Reader) bool { // then it waits for ovn-northd, and later for three seconds
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if strings.Contains(lines.Text(), "100 of 120 gateways written") {
				return true
			}
		}
		return false
	}
	agent := func() {
		t.Helper()
		s := c.nodeService()
		defer s.Close()
		p, _, err := s.Step(ctx, "c1")
		require.NoError(t, err)
		require.Zero(t, p.Left)
	}
	drained := func() {
		t.Helper()
		require.Equal(t, map[string]int{"c2": 60, "c3": 60}, c.masters(ports...))
	}
	undrained := func() {
		t.Helper()
		require.Equal(t, 200, c.answer("undrain", "c1", "--wait", "0s").Code)
		require.Equal(t, before, c.ranks())
		require.False(t, intent())
	}

	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	killed(func(io.Reader) bool {
		require.Eventually(t, intent, patience, 5*time.Millisecond)
		return true
	})
	require.Equal(t, before, c.ranks(), "it waits for ovn-northd, which has not seen the intent")
	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	agent()
	drained()
	undrained()

	killed(whenWritten)
	assert.Equal(t, 200, c.drain("c1").Code)
	drained()
	undrained()

	killed(whenWritten)
	undrained()
	for _, e := range c.history().Plans {
		assert.Zero(t, e.Left, e.Operation)
	}
}
