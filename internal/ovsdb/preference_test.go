//go:build programs

package ovsdb_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// A server that hangs still accepts connections, and would use up its share of the time.
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
	begun := time.Now()
	g, err := new(ovsdb.Dialer).Gateways(t.Context(), endpoints, []string{sb.Endpoint()})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	assert.Less(t, time.Since(begun), 5*time.Second)
	require.NoError(t, follower.Signal(syscall.SIGSTOP)) // with this one nothing could be written
	_, err = g.Northbound(t.Context())
	require.NoError(t, err, "the leader answers")
}
