package agent

import (
	"bufio"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

func plain() config.Config {
	return config.Config{
		Unit: "u/0", Mode: config.Advise, NB: []string{"unix:/nonexistent"}, SB: []string{"unix:/nonexistent"},
		TTL:    4 * time.Second,
		Listen: "127.0.0.1:16401", PeerListen: "127.0.0.1:16402", Peers: []string{"127.0.0.2:16402"},
	}
}

// newTestAgent makes an agent with a manual clock that is not running.
func newTestAgent(t *testing.T) (a *Agent, now *time.Duration) {
	t.Helper()
	now = new(time.Duration)
	*now = time.Hour
	a, err := New(plain(), ovndb.Paths{}, func() time.Duration { return *now }, Servers{Observe: sees(observe.Report{})},
		slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return a, now
}

// sees returns the same observation every time.
func sees(r observe.Report) func(context.Context) (observe.Report, ovndb.NorthdHealth) {
	return func(context.Context) (observe.Report, ovndb.NorthdHealth) { return r, "" }
}

// reads makes an eligible agent read the record.
func reads(a *Agent, r lease.Record) {
	value := ""
	if r.Holder != "" {
		value = r.String()
	}
	a.updateElection(func(e *lease.Election, now time.Duration) {
		e.SetEligible(true, now)
		e.ObserveRecord(value, now)
	})
	a.step()
}

// acts makes the agent take the free record.
func acts(a *Agent) {
	reads(a, lease.Record{})
	<-a.swaps
	a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapDone) })
	a.step()
}

// serves makes the agent listen at the addresses of its configuration until the test ends.
func serves(t *testing.T, a *Agent) {
	t.Helper()
	all, err := a.serve(t.Context())
	require.NoError(t, err)
	t.Cleanup(all.close)
}

// connect connects to an address until the test ends.
func connect(t *testing.T, address string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{Timeout: time.Minute}).DialContext(t.Context(), "tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func get(t *testing.T, a *Agent, path string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	a.handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
	return w
}

// 003-2, 003-4: a holder that can't confirm names no unit, not even itself.
func TestServeName_unconfirmed_holder_names_no_unit(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	name := func() string { return get(t, a, "/").Body.String() }
	assert.JSONEq(t, `{"name":""}`, name())
	reads(a, lease.Record{})
	swap := <-a.swaps
	assert.Empty(t, swap.Old)
	assert.JSONEq(t, `{"name":""}`, name(), "it is not written yet")
	a.updateElection(func(e *lease.Election, _ time.Duration) { e.SwapEnded(lease.SwapDone) })
	a.step()
	assert.JSONEq(t, `{"name":"u/0"}`, name())
	*now += a.config.TTL / 2
	assert.JSONEq(t, `{"name":""}`, name(), "half of the TTL has passed")
	assert.False(t, a.status().Acts)
	assert.Equal(t, "u/0", a.status().Holder, "the record is still its own")
}

// An earlier process of this unit is not this process.
func TestServeName_record_of_earlier_process_is_not_named(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	reads(a, lease.Record{Holder: "u/0", Instance: "other", Address: "127.0.0.1:16402", Term: 3, TTLSeconds: 4})
	assert.JSONEq(t, `{"name":""}`, get(t, a, "/").Body.String())
	reads(a, lease.Record{Holder: "u/1", Address: "127.0.0.2:16402", Term: 4, TTLSeconds: 4})
	assert.JSONEq(t, `{"name":"u/1"}`, get(t, a, "/").Body.String())
}

// Any client of the Northbound database can write the record. The agent neither asks an unknown holder nor reports that
// it acts.
func TestStatus_unknown_holder_is_reported_and_not_asked(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	for _, c := range []struct{ holder, address, says string }{
		{"ghost/9", "127.0.0.9:16402", "ghost/9"},
		{"u/1", "127.0.0.9:16402", "127.0.0.9:16402"},
		{"u/1", "127.0.0.2:16402", ""},
	} {
		reads(a, lease.Record{Holder: c.holder, Address: c.address, Term: 4, TTLSeconds: 4})
		assert.Equal(t, a.config.Peers, a.peers.addresses(), c)
		if c.says == "" {
			assert.Empty(t, a.status().Problem())
			assert.JSONEq(t, `{"name":"u/1"}`, get(t, a, "/").Body.String())
		} else {
			assert.Contains(t, a.status().Problem(), c.says)
			assert.JSONEq(t, `{"name":""}`, get(t, a, "/").Body.String())
			assert.Empty(t, a.status().Acting)
		}
	}
}

func TestSeen_reports_agent_of_same_name(t *testing.T) {
	t.Parallel()
	e := lease.Election{Unit: "u/0", Address: "127.0.0.1:16402", TTL: time.Second}
	e.ObserveRecord(lease.Record{Holder: "u/0", Address: "127.0.0.2:16402", Term: 1}.String(), time.Hour)
	lines := new(seen).update(&e, func(string) bool { return true }, lease.Decision{}, time.Hour)
	require.Len(t, lines, 2)
	assert.Equal(t, []any{"address", "127.0.0.2:16402"}, lines[1].attributes)
	e.Address = "127.0.0.2:16402"
	assert.Len(t, new(seen).update(&e, func(string) bool { return true }, lease.Decision{}, time.Hour), 1)
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
	a.setDatabase(ovndb.NB, ovsdb.ErrNoLeader)
	var s report.Status
	require.NoError(t, json.Unmarshal(get(t, a, "/status").Body.Bytes(), &s))
	assert.Equal(t, report.Status{
		Unit: "u/0", Mode: config.Advise, Northbound: ovsdb.ErrNoLeader.Error(),
		Peers: []report.PeerStatus{}, Gateways: a.gateways.status(0), Drains: []report.Drain{},
	}, s)
	a.setDatabase(ovndb.NB, nil)
	assert.Empty(t, a.status().Northbound)
}

func TestReload_last_configuration_runs_next(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	c := a.live()
	c.Mode = config.On
	require.NoError(t, a.Reload(c))
	_, again := a.Again()
	assert.False(t, again, "the mode may change while the agent runs")
	c.TTL *= 2
	require.NoError(t, a.Reload(c))
	c.TTL /= 2
	require.NoError(t, a.Reload(c), "before the agent has ended")
	next, again := a.Again()
	assert.True(t, again)
	assert.Equal(t, c, next)
}

// serveStatus makes the control socket of this machine's NB server return a captured status.
func serveStatus(t *testing.T, captured string) (paths ovndb.Paths, server raft.ID) {
	t.Helper()
	text, err := os.ReadFile("../raft/testdata/cluster-status/" + captured + ".txt")
	require.NoError(t, err)
	status, err := raft.Parse(string(text))
	require.NoError(t, err)
	answer, err := json.Marshal(map[string]any{"id": 0, "result": string(text), "error": nil})
	require.NoError(t, err)
	paths = ovndb.Paths{Run: t.TempDir()}
	l, err := new(net.ListenConfig).Listen(t.Context(), "unix", paths.Control(ovndb.NB))
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			_, _ = bufio.NewReader(c).ReadString('\n') // the question
			_, _ = c.Write(answer)                     // if this fails, so does the test that needs the answer
			_ = c.Close()
		}
	}()
	return paths, status.Server
}

// 003-5: a member that hears no other member is cut off until it has a leader again, although `_Server` still calls it
// connected.
func TestLeaderProbe_cut_off_until_leader(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	const elsewhere = "3f3b7992-b0a2-4380-8cf5-8bcd008cac5f"
	ask := func(member raft.ID) error { return a.northbound.check(t.Context(), a, member) }
	var server raft.ID
	a.paths = ovndb.Paths{Run: t.TempDir()}
	require.NoError(t, ask(elsewhere), "no server is here to be asked")
	a.paths, server = serveStatus(t, "nb-follower-leader-unknown-voted-other")
	require.NoError(t, ask(server), "an election")
	a.paths, server = serveStatus(t, "nb-candidate-alone")
	require.ErrorIs(t, ask(server), ovsdb.ErrNoLeader)
	require.NoError(t, ask(elsewhere), "the member is another machine's")
	require.NoError(t, ask(""), "it is not in a cluster")
	a.paths, server = serveStatus(t, "nb-follower-leader-unknown-voted-other")
	require.ErrorIs(t, ask(server), ovsdb.ErrNoLeader)
	a.paths, server = serveStatus(t, "nb-3member-leader")
	require.NoError(t, ask(server))
}

// An agent that others can't ask never acts. It warns once, at the start.
func TestRun_warns_without_peer_listen(t *testing.T) {
	t.Parallel()
	for at, warnings := range map[string]int{"": 1, loopbacktest.Network(t) + ".2:16402": 0} {
		c := plain()
		c.Listen, c.PeerListen, c.Peers = loopbacktest.Network(t)+".1:16401", at, nil
		var log strings.Builder
		a, err := New(c, ovndb.Paths{}, func() time.Duration { return time.Hour },
			Servers{Observe: sees(observe.Report{})}, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.NoError(t, a.Run(ctx))
		assert.Equal(t, warnings, strings.Count(log.String(), "peer-listen"), log.String())
	}
}
