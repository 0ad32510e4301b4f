package agent

import (
	"crypto/tls"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Another CA, key and certificate under agents that run: after SIGHUP all ask and answer with these,
// what the old CA has signed is refused, and the lease is the same.
func TestCertificatesThatAreReplacedUnderAgentsAreUsedByAllAfterwards(t *testing.T) {
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
