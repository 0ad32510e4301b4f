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

// A server that hangs still accepts connections: it is asked last, and the leader first. Otherwise it would use up its
// share of the time, seconds, each time it is the first.
func TestPreferred_leader_first(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	sb := ovsdbtest.New(t, ovndb.SB, "127.0.0.1").Standalone(t).Start(t)
	require.NoError(t, members[0].Signal(syscall.SIGSTOP))
	leads := func(s raft.Status) bool { return s.Role == raft.Leader }
	var endpoints []string
	for _, m := range members {
		endpoints = append(endpoints, endpointsOf(m)...)
	}
	require.Eventually(t, func() bool { return leads(members[1].Status(t)) || leads(members[2].Status(t)) }, patience, 50*time.Millisecond)

	follower := members[1]
	if leads(members[1].Status(t)) {
		follower = members[2]
	}
	begun := time.Now()
	g, err := new(ovsdb.Dialer).Gateways(t.Context(), endpoints, []string{sb.Endpoint()})
	require.NoError(t, err)
	t.Cleanup(g.Close)
	assert.Less(t, time.Since(begun), 5*time.Second)
	require.NoError(t, follower.Signal(syscall.SIGSTOP)) // with this one nothing could be written
	_, err = g.Northbound(t.Context())
	require.NoError(t, err, "it is the leader that is asked")
}
