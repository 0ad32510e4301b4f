package agent

import (
	"crypto/tls"
	"net/http"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
)

func TestAPI_is_read_only_and_peers_need_certificate(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	holder := p.holder(p.agents...)
	for _, a := range p.agents {
		assert.JSONEq(t, `{"name":"`+holder.unit+`"}`, p.get(a, "/"))
		assert.Equal(t, "ok", p.get(a, "/healthz"))
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodHead} {
			assert.Equal(t, http.StatusMethodNotAllowed, p.code(method, a.url+"/", p.client))
		}
		assert.Equal(t, http.StatusNotFound, p.code(http.MethodGet, a.url+"/other", p.client))
		p.until(func() bool { return p.hearsAll(a) }, "it asks both others")
	}
	assert.Zero(t, p.answers(peerClient()), "a client without a certificate")
	assert.Equal(t, hub, p.answers(peerClient(p.certificate())))
}

// hearsAll reports whether all other agents answer this one.
func (p *plane) hearsAll(a *process) bool {
	peers := p.status(a).Peers
	return len(peers) == hub-1 && !slices.ContainsFunc(peers, func(peer report.PeerStatus) bool {
		return peer.Unit == "" || peer.Error != "" || peer.AnsweredSecondsAgo < 0 || peer.AnsweredSecondsAgo > ttl.Seconds()
	})
}

func (p *plane) certificate() tls.Certificate {
	p.t.Helper()
	pair, err := tls.LoadX509KeyPair(p.path("cert"), p.path("key"))
	require.NoError(p.t, err)
	return pair
}

// peerClient returns a client that connects to agents as another agent with these certificates does.
func peerClient(certificates ...tls.Certificate) *http.Client {
	c := &tls.Config{InsecureSkipVerify: true, Certificates: certificates} //nolint:gosec // the agents check the client
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c, DisableKeepAlives: true}, Timeout: 5 * time.Second}
}

// answers returns how many agents answer a client at their addresses for other agents.
func (p *plane) answers(client *http.Client) (all int) {
	p.t.Helper()
	for n := range hub {
		if p.code(http.MethodGet, "https://"+p.host(n)+":16402/lease", client) == http.StatusOK {
			all++
		}
	}
	return all
}

// code returns the status of an answer, or 0 if there is no answer.
func (p *plane) code(method, url string, client *http.Client) int {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, url, http.NoBody)
	require.NoError(p.t, err)
	response, err := client.Do(r)
	if err != nil {
		return 0
	}
	defer client.CloseIdleConnections()
	require.NoError(p.t, response.Body.Close())
	return response.StatusCode
}

// After SIGHUP all agents use a new CA, key and certificate, refuse the old CA's certificates, and keep the lease.
func TestAgents_replaced_certificates_are_used(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	holder := p.holder(p.agents...)
	term := p.status(holder).Term
	old := peerClient(p.certificate())
	require.Equal(t, hub, p.answers(old))

	p.authority()
	for _, a := range p.agents {
		require.NoError(t, a.Signal(syscall.SIGHUP))
	}
	p.until(func() bool { return p.answers(peerClient(p.certificate())) == hub }, "not all take the new certificate")
	assert.Zero(t, p.answers(old), "the old one is refused")
	hear := func() bool {
		return !slices.ContainsFunc(p.agents, func(a *process) bool { return !p.hearsAll(a) })
	}
	p.until(hear, "not all peers answer")
	always(t, hear, 2*ttl, ttl/10, "a peer does not answer any more")
	assert.Equal(t, term, p.status(holder).Term)
	assert.True(t, p.status(holder).Acts)
}
