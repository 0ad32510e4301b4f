package gateways

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			require.Equal(c.t, 200, answer.Code, answer.Text())
			return n - 1
		}
		require.Less(c.t, n, 50, "it never ends: %s", answer.Text())
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
