package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

func plain() config.Config {
	return config.Config{
		Unit: "u/0", Mode: config.Advise, NB: []string{"unix:/nonexistent"}, SB: []string{"unix:/nonexistent"}, TTL: 4 * time.Second,
		Listen: "127.0.0.1:16401", PeerListen: "127.0.0.1:16402", Peers: []string{"127.0.0.2:16402"},
	}
}

// newTestAgent makes an agent with a manual clock that is not running.
func newTestAgent(t *testing.T) (a *Agent, now *time.Duration) {
	t.Helper()
	now = new(time.Duration)
	*now = time.Hour
	a, err := New(plain(), ovndb.Paths{}, func() time.Duration { return *now }, Servers{Observe: func(context.Context) (observe.Report, ovndb.NorthdHealth) { return observe.Report{}, "" }}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return a, now
}

// acts makes it take the free record.
func acts(a *Agent) {
	a.updateElection(func(e *lease.Election, now time.Duration) {
		e.SetEligible(true, now)
		e.ObserveRecord("", now)
	})
	a.step()
	<-a.swaps
	a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapDone) })
	a.step()
}

func get(t *testing.T, a *Agent, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	a.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	return w
}

// 003-2, 003-4: a holder that can't confirm names no unit, nor itself.
func TestServeName_unconfirmed_holder_names_no_unit(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	name := func() string { return get(t, a, "/").Body.String() }
	assert.JSONEq(t, `{"name":""}`, name())
	a.updateElection(func(e *lease.Election, now time.Duration) {
		e.SetEligible(true, now)
		e.ObserveRecord("", now)
	})
	a.step()
	swap := <-a.swaps
	assert.Empty(t, swap.Old)
	assert.JSONEq(t, `{"name":""}`, name(), "it is not written yet")
	a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapDone) })
	a.step()
	assert.JSONEq(t, `{"name":"u/0"}`, name())
	*now += a.config.TTL / 2
	assert.JSONEq(t, `{"name":""}`, name(), "its own time is over")
	assert.False(t, a.status().Acts)
	assert.Equal(t, "u/0", a.status().Holder, "though the record is its own")
}

// An earlier process of this unit is not this process.
func TestServeName_record_of_earlier_process_is_not_named(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.updateElection(func(e *lease.Election, _ time.Duration) {
		e.ObserveRecord(lease.Record{Holder: "u/0", Instance: "other", Address: "127.0.0.1:16402", Term: 3, TTLSeconds: 4}.String(), *now)
	})
	assert.JSONEq(t, `{"name":""}`, get(t, a, "/").Body.String())
	a.updateElection(func(e *lease.Election, _ time.Duration) {
		e.ObserveRecord(lease.Record{Holder: "u/1", Address: "127.0.0.2:16402", Term: 4, TTLSeconds: 4}.String(), *now)
	})
	assert.JSONEq(t, `{"name":"u/1"}`, get(t, a, "/").Body.String())
}

// Any client of the Northbound database can write the record. The agent neither asks an unknown holder nor reports that
// it acts.
func TestStatus_unknown_holder_is_reported_and_not_asked(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	for _, c := range []struct{ holder, address, says string }{
		{"ghost/9", "127.0.0.9:16402", "the lease names ghost/9, which is no unit of u"},
		{"u/1", "127.0.0.9:16402", "the lease names u/1 at 127.0.0.9:16402, no peer"},
		{"u/1", "127.0.0.2:16402", ""},
	} {
		a.updateElection(func(e *lease.Election, _ time.Duration) {
			e.ObserveRecord(lease.Record{Holder: c.holder, Address: c.address, Term: 4, TTLSeconds: 4}.String(), *now)
		})
		a.step()
		assert.Equal(t, a.config.Peers, a.peers.addresses(), c)
		assert.Equal(t, c.says, a.status().Problem())
		if c.says == "" {
			assert.JSONEq(t, `{"name":"u/1"}`, get(t, a, "/").Body.String())
		} else {
			assert.JSONEq(t, `{"name":""}`, get(t, a, "/").Body.String())
			assert.Contains(t, a.status().Lease(), "no unit is known to act")
		}
	}
}

func TestHealth_needs_running_loop(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	assert.Equal(t, http.StatusServiceUnavailable, get(t, a, "/healthz").Code)
	a.step()
	assert.Equal(t, http.StatusOK, get(t, a, "/healthz").Code)
	*now += a.config.TTL
	assert.Equal(t, http.StatusServiceUnavailable, get(t, a, "/healthz").Code)
}

func TestStatus_unusable_database_has_reason(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	a.updateElection(func(*lease.Election, time.Duration) { a.seen.northbound = ovsdb.ErrNoLeader })
	a.step()
	var s report.Status
	require.NoError(t, json.Unmarshal(get(t, a, "/status").Body.Bytes(), &s))
	assert.Equal(t, report.Status{Unit: "u/0", Mode: config.Advise, Northbound: ovsdb.ErrNoLeader.Error(), Peers: []report.PeerStatus{}, Gateways: a.gateways.status(0), Drains: []report.Drain{}}, s)
}

func TestBounded_one_client_cannot_take_all_connections(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	b := newBounded(l)
	accepted := make(chan net.Conn, maxConnections)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for c, err := b.Accept(); err == nil; c, err = b.Accept() {
			accepted <- c
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		<-ended
	})
	dial := func(from string) net.Conn {
		c, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: time.Minute}).DialContext(t.Context(), "tcp", l.Addr().String())
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	var first net.Conn
	for range maxConnectionsOfOne {
		dial("127.0.0.2")
		c := <-accepted
		if first == nil {
			first = c
		}
	}
	refused := dial("127.0.0.2")
	require.NoError(t, refused.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = refused.Read(make([]byte, 1))
	require.Error(t, err)
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "it is closed at once")
	dial("127.0.0.3")
	<-accepted
	require.NoError(t, first.Close())
	dial("127.0.0.2")
	<-accepted
}
