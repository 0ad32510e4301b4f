package agent

import (
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		eventually(t, func() bool {
			for _, peer := range p.status(a).Peers {
				if peer.AnsweredSecondsAgo < 0 || peer.Unit == "" {
					return false
				}
			}
			return len(p.status(a).Peers) == 2
		}, patience, 50*time.Millisecond, "it asks both others")
	}
	peer := "https" + strings.TrimSuffix(strings.TrimPrefix(holder.url, "http"), "1") + "2/lease"
	stranger := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // it is to be refused
	assert.Zero(t, p.code(http.MethodGet, peer, &http.Client{Transport: &http.Transport{TLSClientConfig: stranger}, Timeout: patience}))
	pair, err := tls.LoadX509KeyPair(p.path("cert"), p.path("key"))
	require.NoError(t, err)
	known := stranger.Clone()
	known.Certificates = []tls.Certificate{pair}
	assert.Equal(t, http.StatusOK, p.code(http.MethodGet, peer, &http.Client{Transport: &http.Transport{TLSClientConfig: known}, Timeout: patience}))
}

// code returns the status of an answer, or 0 without an answer.
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

// slowClients is how many there are in all; a thousand of them at the same time.
const slowClients = 10_000

// Clients that say nothing, or read nothing, cost the lease nothing: the holder stays, and answers others.
func TestLease_slow_API_clients_keep_holder(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	holder := p.holder(p.agents...)
	term := p.status(holder).Term
	address := strings.TrimPrefix(holder.url, "http://")
	var open []net.Conn
	t.Cleanup(func() {
		for _, c := range open {
			_ = c.Close()
		}
	})
	accepted := 0
	for begun := time.Now(); time.Since(begun) < 2*ttl || accepted < slowClients; {
		require.Less(t, time.Since(begun), patience, "%d connections", accepted)
		for n := range 100 {
			c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
			if err != nil {
				continue
			}
			accepted++
			open = append(open, c)
			if n%2 == 0 {
				_, _ = c.Write([]byte("GET /status HTTP/1.1\r\nHost: x\r\nX-Slow: "))
			}
		}
		for len(open) > 1000 {
			_ = open[0].Close()
			open = open[1:]
		}
		for _, a := range p.but(holder) { // from outside of the crowd, over another connection
			require.Equal(t, holder.unit, p.name(a))
		}
	}
	for _, c := range open {
		_ = c.Close()
	}
	eventually(t, func() bool { return p.status(holder).Acts }, patience, 50*time.Millisecond)
	assert.Equal(t, term, p.status(holder).Term, "the lease was never taken over")
}

// A new CA, key and certificate: after SIGHUP all agents use them, refuse the old CA's, and keep the lease.
func TestAgents_replaced_certificates_are_used(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	holder := p.holder(p.agents...)
	term := p.status(holder).Term
	client := func() *http.Client {
		pair, err := tls.LoadX509KeyPair(p.path("cert"), p.path("key"))
		require.NoError(t, err)
		known := &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{pair}} //nolint:gosec // only whether it is let in is looked at
		return &http.Client{Transport: &http.Transport{TLSClientConfig: known, DisableKeepAlives: true}, Timeout: 5 * time.Second}
	}
	old := client()
	answers := func(by *http.Client) (all int) {
		for n := range hub {
			if p.code(http.MethodGet, "https://"+p.host(n)+":16402/lease", by) == http.StatusOK {
				all++
			}
		}
		return all
	}
	require.Equal(t, hub, answers(old))

	p.authority()
	for _, a := range p.agents {
		require.NoError(t, a.Signal(syscall.SIGHUP))
	}
	eventually(t, func() bool { return answers(client()) == hub }, patience, 50*time.Millisecond, "not all take the new certificate")
	assert.Zero(t, answers(old), "the old one is refused")
	fresh := func() bool {
		for _, a := range p.agents {
			peers := p.status(a).Peers
			for _, peer := range peers {
				if peer.AnsweredSecondsAgo < 0 || peer.AnsweredSecondsAgo > ttl.Seconds() || peer.Error != "" {
					return false
				}
			}
			if len(peers) != hub-1 {
				return false
			}
		}
		return true
	}
	eventually(t, fresh, patience, 50*time.Millisecond, "not all peers answer")
	always(t, fresh, 2*ttl, ttl/10, "a peer does not answer any more")
	assert.Equal(t, term, p.status(holder).Term)
	assert.True(t, p.status(holder).Acts)
}
