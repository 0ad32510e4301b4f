package agent

import (
	"crypto/tls"
	"encoding/json"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// Any client of the Northbound database can write the record. If it names an agent that doesn't exist, though something
// answers, another agent takes over after a TTL of silence; and no unit shows its certificate there.
func TestLease_holder_that_is_no_unit_is_replaced(t *testing.T) {
	t.Parallel()
	p := newPlane(t)
	holder := p.holder(p.agents...)
	ghost := lease.Record{
		Holder: "ghost/9", Instance: "x", Address: p.host(hub) + ":16402", Term: p.status(holder).Term + 1, TTLSeconds: 5,
	}
	var asked atomic.Int64
	pair, err := tls.LoadX509KeyPair(p.path("cert"), p.path("key"))
	require.NoError(t, err)
	l, err := tls.Listen("tcp", ghost.Address,
		&tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_ = json.NewEncoder(w).Encode(
			lease.Answer{Unit: ghost.Holder, Instance: ghost.Instance, Term: ghost.Term, Acts: true})
	})
	go func() { _ = http.Serve(l, answer) }() //nolint:gosec // of this test
	begun := time.Now()
	p.nb("set", "NB_Global", ".", `external_ids:"ovn-central:agent"=`+strconv.Quote(ghost.String()))
	next := p.holder(p.agents...)
	for time.Since(begun) < 3*ttl && p.status(next).Term == ghost.Term-1 { // it was asked before it saw the record
		require.NoError(t, poll.Wait(t.Context(), ttl/20))
		next = p.holder(p.agents...)
	}
	assert.LessOrEqual(t, time.Since(begun), 10*time.Second)
	assert.Equal(t, ghost.Term+1, p.status(next).Term)
	assert.Zero(t, asked.Load())
	assert.Contains(t, next.Output(), ghost.Holder)
}
