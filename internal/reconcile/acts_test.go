package reconcile

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
)

func TestActing(t *testing.T) {
	t.Parallel()
	s := report.Status{Drains: []report.Drain{
		{Node: "compute-1", Text: "nothing is left", Done: true},
		{Node: "compute-2", Text: "12 gateways to move"},
		{Node: "compute-3", Text: "nova-compute 2, hold ovn-bgp-agent", Stalled: true},
		{Node: "compute-4", Text: "1 gateway blocked"},
		{Node: "compute-5", Text: "1 gateway blocked"},
	}}
	stalled, runs := acting(s)
	assert.Empty(t, stalled, "only the acting unit reports it")
	assert.Empty(t, runs)
	s.Acts = true
	stalled, runs = acting(s)
	require.Len(t, stalled, 1)
	assert.Equal(
		t, "warning DRAIN_STALLED compute-3 Value=nova-compute 2, hold ovn-bgp-agent", findingtest.Brief(stalled[0]),
	)
	assert.Equal(t, []string{"acts for gateways", s.Drains[1].Line(), s.Drains[3].Line()}, runs)
}
