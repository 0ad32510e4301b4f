package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
)

// 002-1 … 002-9: the specification's paths, on a socket that only root can open, with the same
// answers as the actions.
func TestNodesAreOperatedOnByTheSpecificationsPaths(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	p.nb("init")
	for _, c := range []string{"c1", "c2", "c3"} {
		p.arrive(c)
	}
	p.sb("--all", "destroy", "Chassis_Private") // no ovn-controller would follow
	p.gateways(3)
	for i := range 3 {
		p.nb("lrp-set-gateway-chassis", fmt.Sprint("lrp-r", i), "c2", "3", "--", "lrp-set-gateway-chassis", fmt.Sprint("lrp-r", i), "c3", "1")
	}
	p.start(nil, "ovn-northd", "-vconsole:off", "--unixctl="+p.path("northd.ctl"), "--ovnnb-db="+p.servers[0].Endpoint(), "--ovnsb-db="+p.south.Endpoint())
	socket := p.path("nodes.sock")
	p.agent(3, "--nb", p.servers[0].Endpoint(), "--socket", socket, "--peer-listen", "")
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	t.Cleanup(client.CloseIdleConnections)
	eventually(t, func() bool { _, err := os.Stat(socket); return err == nil }, patience, 50*time.Millisecond)
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
	assert.Contains(t, unknown.Message, "the units on its machine are not known (members of OVN_Northbound: ")
	kept := ask(http.MethodPost, "/nodes/c1/remove-from-cluster")
	assert.Equal(t, answer.Conflict, kept.Reason, "it lives: %s", document.Answer(kept))
	assert.Equal(t, answer.ClusterNotAccessible, ask(http.MethodGet, "/cluster-health-statuses").Reason)
	assert.Equal(t, answer.DisassociateFailure, ask(http.MethodPost, "/nodes/c2/decommission").Reason)
	assert.Equal(t, "c2", p.candidates("r0")[0], "nothing was done")
}
