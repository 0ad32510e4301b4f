package reconcile

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
)

func TestUnitThatActsNamesDrainsThatRunOrHaveStalled(t *testing.T) {
	t.Parallel()
	s := report.Status{Drains: []report.Drain{
		{Node: "compute-1", Text: "nothing is left", Done: true},
		{Node: "compute-2", Text: "12 gateways to move"},
		{Node: "compute-3", Text: "nova-compute 2, hold ovn-bgp-agent", Stalled: true},
		{Node: "compute-4", Text: "1 gateway blocked"},
		{Node: "compute-5", Text: "1 gateway blocked"},
	}}
	stalled, runs := acting(s)
	assert.Empty(t, append(stalled, runs...), "the unit that acts says it")
	s.Acts = true
	stalled, runs = acting(s)
	assert.Equal(t, []string{"drain of compute-3 STALLED: nova-compute 2, hold ovn-bgp-agent"}, stalled)
	assert.Equal(t, []string{"acts for gateways", "draining compute-2: 12 gateways to move", "draining compute-4: 1 gateway blocked"}, runs)
}
