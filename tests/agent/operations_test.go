package agent

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// 002-1 … 002-9: the specification's paths, on a socket for root only, answer like the actions.
func TestAPI_operates_nodes_by_specified_paths(t *testing.T) {
	t.Parallel()
	p := newCloud(t, 3, 3)
	p.followAll()
	p.backups(3)
	p.northd()
	socket := p.path("nodes.sock")
	p.agent(3, "--nb", p.servers[0].Endpoint(), "--socket", socket, "--peer-listen", "")
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: dial}}
	t.Cleanup(client.CloseIdleConnections)
	p.until(func() bool { _, err := os.Stat(socket); return err == nil })
	found, err := os.Stat(socket)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSocket|0o600, found.Mode())
	ask := func(method, path string) (s answer.Status) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, "http://localhost"+path, http.NoBody)
		require.NoError(t, err)
		response, err := client.Do(r)
		require.NoError(t, err)
		defer response.Body.Close()
		require.NoError(t, json.NewDecoder(response.Body).Decode(&s), path)
		assert.Equal(t, response.StatusCode, s.Code, path)
		assert.Equal(t, "Status", s.Kind, path)
		return s
	}
	assert.Equal(t, answer.NotFound, ask(http.MethodPost, "/nodes/c9/drain").Reason)
	assert.Equal(t, answer.BadRequest, ask(http.MethodPost, "/nodes/c1/drain?timeout=60&grace-period=60").Reason)
	assert.Equal(t, answer.Conflict, ask(http.MethodPost, "/nodes/c1/clear-labels").Reason, "it is not drained")
	assert.Equal(t, "c1", p.candidates("r0")[0], "nothing was done")

	drained := ask(http.MethodPost, "/nodes/c1/drain?timeout=50&grace-period=0")
	assert.Equal(t, answer.Success, drained.Reason, document.Answer(drained))
	p.leaves("c1", 3)
	cleared := ask(http.MethodPost, "/nodes/c1/clear-labels?timeout=50")
	assert.Equal(t, answer.Success, cleared.Reason, document.Answer(cleared))
	assert.Len(t, p.candidates("r0"), 2)
	unknown := ask(http.MethodPost, "/nodes/c1/remove-etcd?timeout=0")
	assert.Equal(t, answer.RemoveMemberError, unknown.Reason, "this machine has no server of the charm's")
	assert.Equal(t, string(finding.MachineUnknown), unknown.Details.MessageList[0].Code, document.Answer(unknown))
	assert.Contains(t, unknown.Message, "OVN_Northbound")
	kept := ask(http.MethodPost, "/nodes/c1/remove-from-cluster")
	assert.Equal(t, answer.Conflict, kept.Reason, "it lives: %s", document.Answer(kept))
	assert.Equal(t, answer.ClusterNotAccessible, ask(http.MethodGet, "/cluster-health-statuses").Reason)
	assert.Equal(t, answer.DisassociateFailure, ask(http.MethodPost, "/nodes/c2/decommission").Reason)
	assert.Equal(t, "c2", p.candidates("r0")[0], "nothing was done")
}

// SIGHUP makes the agent read the file again. A value that can't be used changes nothing, and is reported. Flags
// override the file. The agent gives up the lease, once, only if a value changes that is fixed at the start.
func TestConfig_is_reloaded_and_invalid_file_changes_nothing(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	first := p.holder(p.agents...)
	n := slices.Index(p.agents, first)
	require.NoError(t, first.Signal(syscall.SIGTERM))
	<-first.Ended

	file := p.path("agent.json")
	tell := func(options map[string]any) {
		text, err := json.Marshal(options)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
	nowhere := []string{"unix:/nonexistent"}
	tell(map[string]any{"unit": "of-the-file", "nb": nowhere, "sb": nowhere, "mode": "on", "hold-down": "7s"})
	one := p.agent(n, "--config", file)
	p.agents[n] = one
	p.holder(p.agents...)
	s := p.status(one)
	assert.Equal(t, "ovn-central/"+string(rune('0'+n)), s.Unit, "a flag goes before the file")
	assert.Equal(t, config.On, s.Mode)
	require.NoError(t, p.but(one)[0].Signal(syscall.SIGTERM)) // so that it acts in the end
	require.NoError(t, p.but(one)[1].Signal(syscall.SIGTERM))
	p.holder(one)
	term := p.status(one).Term

	hangUp := func(says string) {
		t.Helper()
		before := strings.Count(one.Output(), says)
		require.NoError(t, one.Signal(syscall.SIGHUP))
		p.until(func() bool { return strings.Count(one.Output(), says) > before }, says)
	}
	const refused = "keeping the last one"
	for says, text := range map[string]string{
		"JSON input": "{", `mode is \"sometimes\"`: `{"mode":"sometimes"}`,
		"lease-ttl 1s ": `{"lease-ttl":"1s"}`, "json: cannot unmarshal": `{"hold-down":5}`,
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		hangUp(refused)
		assert.Contains(t, one.Output(), says)
		assert.True(t, p.status(one).Acts)
		assert.Equal(t, config.On, p.status(one).Mode)
	}
	require.NoError(t, os.Remove(file))
	hangUp(refused)

	tell(map[string]any{"mode": "advise", "hold-down": "7s"})
	hangUp("read the configuration again")
	p.until(func() bool { return p.status(one).Mode == config.Advise }, "the new mode")
	assert.Equal(t, term, p.status(one).Term, "the lease is the same")
	tell(map[string]any{"mode": "advise", "lease-ttl": "4s"})
	hangUp("restarts=true")
	p.until(func() bool { // it is also the holder until it releases the lease
		p.holder(one)
		return p.status(one).Term == term+1
	}, "a lease of its own")
}
