//go:build programs

package ovsdb_test

import (
	"context"
	"errors"
	"net"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

func TestConnect_without_endpoint(t *testing.T) {
	t.Parallel()
	_, err := new(ovsdb.Dialer).Server(t.Context(), ovndb.NB)
	require.Error(t, err)
	_, err = new(ovsdb.Dialer).Watch(t.Context(), ovndb.NB, key)
	require.Error(t, err)
}

// A connection attempt to a hanging server lasts until the deadline.
func TestConnect_hanging_endpoint_leaves_time(t *testing.T) {
	hung, good := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.NB, 1)[0]
	require.NoError(t, hung.Signal(syscall.SIGSTOP))
	ctx := within(t, 3*time.Second)
	g, err := new(ovsdb.Dialer).Global(ctx, ovndb.NB, endpointsOf(hung)[0], endpointsOf(good)[0])
	require.NoError(t, err)
	g.Close()
}

// Each error names its endpoint once, and gives the reason if the server hangs.
func TestConnect_error_has_reason_once(t *testing.T) {
	t.Parallel()
	server := cluster(t, ovndb.NB, 1)[0]
	_, err := new(ovsdb.Dialer).Global(t.Context(), ovndb.SB, server.Endpoint())
	require.ErrorContains(t, err, "OVN_Southbound")
	assert.Equal(t, 1, strings.Count(err.Error(), server.Endpoint()), err)

	require.NoError(t, server.Signal(syscall.SIGSTOP))
	_, err = new(ovsdb.Dialer).Global(within(t, time.Second), ovndb.NB, server.Endpoint())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, 1, strings.Count(err.Error(), server.Endpoint()), err)
}

// ask sends a member the query of R0, at its client ports.
func ask(t *testing.T, s *server) (ovsdb.ServerState, error) {
	t.Helper()
	return new(ovsdb.Dialer).Server(within(t, 2*time.Second), s.Database, endpointsOf(s)...)
}

func TestServer_members(t *testing.T) {
	t.Parallel()
	for _, d := range ovndb.Databases() {
		t.Run(d.Short(), func(t *testing.T) {
			t.Parallel()
			for i, m := range cluster(t, d, 3) {
				state, err := ask(t, m)
				require.NoError(t, err)
				status := m.Status(t)
				assert.Equal(t, ovsdb.ServerState{
					ProbeResult: raft.ProbeResult{
						Server: status.Server, Cluster: status.Cluster, Connected: true, Leader: i == 0,
					},
					Clustered: true, Index: status.Committed(),
				}, state)
			}
		})
	}
}

func TestServer_standalone_has_no_IDs(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Standalone(t)
	listening(s, nil, endpointsOf(s)...).Start(t)
	state, err := ask(t, s)
	require.NoError(t, err)
	state.Connected, state.Leader, state.Index = false, false, 0
	assert.Equal(t, ovsdb.ServerState{}, state)
}

func TestServer_without_database(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.SB, 2)
	_, err := new(ovsdb.Dialer).Server(t.Context(), ovndb.NB, endpointsOf(members[0])...)
	require.ErrorIs(t, err, ovsdb.ErrNoDatabase)
	_, err = members[1].Appctl(t, "cluster/leave", string(ovndb.SB))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err = ask(t, members[1])
		return errors.Is(err, ovsdb.ErrNoDatabase)
	}, patience, 20*time.Millisecond)
}

func TestServer_joining_is_not_connected(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	s := ovsdbtest.New(t, ovndb.NB, net+".2").Join(t, "tcp:"+net+".1:6643")
	listening(s, nil, endpointsOf(s)...).Start(t)
	state, err := ask(t, s)
	require.NoError(t, err)
	assert.Equal(t, ovsdb.ServerState{ProbeResult: raft.ProbeResult{Server: s.Status(t).Server}, Clustered: true}, state)
}

func TestServer_not_connected(t *testing.T) {
	t.Parallel()
	cutOff, leaving := cluster(t, ovndb.NB, 3), cluster(t, ovndb.NB, 1)[0]
	cutOff[0].Kill(t)
	cutOff[1].Kill(t)
	_, err := leaving.Appctl(t, "cluster/leave", string(ovndb.NB))
	require.NoError(t, err)
	for _, s := range []*server{cutOff[2], leaving} {
		require.Eventually(t, func() bool {
			state, err := ask(t, s)
			return err == nil && !state.Connected && !state.Leader
		}, patience, 50*time.Millisecond)
	}
}

func TestServer_missing_fails_at_once(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.SB, loopbacktest.Network(t)+".1")
	_, err := ask(t, s)
	require.ErrorIs(t, err, syscall.ECONNREFUSED)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
	for _, endpoint := range endpointsOf(s) {
		require.ErrorContains(t, err, endpoint)
	}
}

func TestServer_SB_falls_back_to_client_port(t *testing.T) {
	t.Parallel()
	s := ovsdbtest.New(t, ovndb.SB, loopbacktest.Network(t)+".1").Create(t)
	listening(s, nil, endpointsOf(s)[1:]...).Start(t)
	state, err := ask(t, s)
	require.NoError(t, err)
	assert.Equal(t, s.Status(t).Server, state.Server)
}

// freePort returns a free port at [::1].
func freePort(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "[::1]:0")
	require.NoError(t, err)
	defer l.Close()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func TestServer_queries_leak_nothing(t *testing.T) {
	s := cluster(t, ovndb.NB, 1)[0]
	down := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".9")
	before := runtime.NumGoroutine()
	for range 50 {
		_, err := ask(t, s)
		require.NoError(t, err)
		_, err = ask(t, down)
		require.Error(t, err)
	}
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+2 }, patience, 10*time.Millisecond)
}

// A server that hangs accepts connections. Without the query it would use up its share of the time.
func TestPreferred_leader_first(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	sb := ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Standalone(t).Start(t)
	require.NoError(t, members[0].Signal(syscall.SIGSTOP))
	leads := func(s *server) bool { return s.Status(t).Role == raft.Leader }
	var endpoints []string
	for _, m := range members {
		endpoints = append(endpoints, endpointsOf(m)...)
	}
	first, follower := members[1], members[2]
	require.Eventually(t, func() bool { return leads(first) || leads(follower) }, patience, 50*time.Millisecond)
	if leads(follower) {
		follower = first
	}
	start := time.Now()
	g, err := new(ovsdb.Dialer).Gateways(t.Context(), endpoints, []string{sb.Endpoint()})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	assert.Less(t, time.Since(start), 5*time.Second)
	require.NoError(t, follower.Signal(syscall.SIGSTOP)) // nothing could be written through this member
	_, err = g.Northbound(t.Context())
	require.NoError(t, err, "the leader answers")
}
