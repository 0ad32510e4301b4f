package reconcile

import (
	"log/slog"
	"net"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
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
	assert.Empty(t, stalled, "the unit that acts says it")
	assert.Empty(t, runs)
	s.Acts = true
	stalled, runs = acting(s)
	require.Len(t, stalled, 1)
	assert.Equal(t, "warning DRAIN_STALLED compute-3 Value=nova-compute 2, hold ovn-bgp-agent", findingtest.Brief(stalled[0]))
	assert.Equal(t, []string{"acts for gateways", "draining compute-2: 12 gateways to move", "draining compute-4: 1 gateway blocked"}, runs)
}

// Without the agent's answer nothing is known of drains that have stalled: a unit that is silent about that
// looks as one that has none.
func TestStatusSaysThatTheAgentDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	u := &Reconciler{Machine: &observe.Machine{Log: slog.New(slog.DiscardHandler)}, Paths: ovndb.Paths{Etc: dir, Run: dir}}
	_, problem := u.askAgent(t.Context(), new(record))
	assert.Empty(t, problem, "it is not to run")

	r := &record{Agent: agentRecord{Setup: "f00"}}
	require.NoError(t, os.WriteFile(u.Paths.AgentConfig(), config.Config{Socket: u.Paths.AgentSocket()}.Render(), 0o600))
	_, problem = u.askAgent(t.Context(), r)
	assert.Equal(t, "does not answer; look at: journalctl -u ovn-central-agent", problem)

	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", u.Paths.AgentSocket())
	require.NoError(t, err)
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"unit":"u/0","acts":true,"taken_address":"127.0.0.1:16401"}`))
	})
	go func() { _ = http.Serve(l, answer) }() //nolint:gosec // of this test
	t.Cleanup(func() { _ = l.Close() })
	s, problem := u.askAgent(t.Context(), r)
	assert.True(t, s.Acts)
	assert.Equal(t, "another program has 127.0.0.1:16401; look at: ss -ltnp", problem)

	r.Agent.Problem = "cannot restart the services"
	s, problem = u.askAgent(t.Context(), r)
	assert.True(t, s.Acts, "it runs as before")
	assert.Equal(t, "cannot restart the services", problem)
}
