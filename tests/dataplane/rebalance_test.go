package dataplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRebalancedGatewaysAreWhereThePlanSaysAndSoIsTheirTraffic(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	for range 4 {
		w.addGateway("ch1", "ch2", "ch3", "ch4")
		w.addGateway("ch1", "ch4", "ch3", "ch2")
	}
	w.settles(best(w.candidates()))
	plan := w.planned("rebalance")
	require.Equal(t, 6, plan.Moves())

	w.proved("rebalance", "--yes", "--wait", "60s")
	placed := w.bound()
	for _, change := range plan.Changes {
		for _, port := range change.Ports {
			assert.Equal(t, change.To(), placed[port.Name], "%s has moved at once", port.Name)
		}
	}
	assert.Equal(t, best(w.candidates()), placed)
	assert.Equal(t, 0, placed.spread(w.but("")...))
	w.settles(placed)
	assert.Empty(t, w.problems())
}
