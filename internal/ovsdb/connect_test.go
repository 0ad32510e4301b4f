//go:build programs

package ovsdb_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// errors.Join() of no errors is nil, so connect would return neither a client nor an error, and its callers would
// panic.
func TestNoEndpointIsAnError(t *testing.T) {
	assert.NotPanics(t, func() {
		_, err := new(ovsdb.Dialer).Server(t.Context(), ovndb.NB)
		require.Error(t, err)
	})
	_, err := new(ovsdb.Dialer).Global(t.Context(), ovndb.NB)
	require.Error(t, err)
}

// A dead machine or a hung server does not answer, so a connection attempt lasts until the deadline. Members are asked
// in turn, and one such member before a good one would use up all the time.
func TestConnect_hanging_endpoint_leaves_time(t *testing.T) {
	hung, good := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.NB, 1)[0]
	require.NoError(t, hung.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	g, err := new(ovsdb.Dialer).Global(ctx, ovndb.NB, endpointsOf(hung)[0], endpointsOf(good)[0])
	require.NoError(t, err)
	g.Close()
}

// Each error names its endpoint once, and for a hanging server the reason.
func TestConnect_error_has_reason_once(t *testing.T) {
	t.Parallel()
	server := cluster(t, ovndb.NB, 1)[0]
	_, err := new(ovsdb.Dialer).Global(t.Context(), ovndb.SB, server.Endpoint())
	require.EqualError(t, err, "cannot connect to "+server.Endpoint()+": target database OVN_Southbound not found")

	require.NoError(t, server.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = new(ovsdb.Dialer).Global(ctx, ovndb.NB, server.Endpoint())
	require.EqualError(t, err, "cannot connect to "+server.Endpoint()+": no answer before the deadline")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// Without a default deadline, a server that hangs or has no quorum would be awaited for ever.
func TestConnections_hanging_server_times_out(t *testing.T) {
	t.Parallel()
	server := cluster(t, ovndb.NB, 1)[0]
	_, bounded := t.Context().Deadline()
	require.False(t, bounded)
	g, err := new(ovsdb.Dialer).Global(t.Context(), ovndb.NB, server.Endpoint())
	require.NoError(t, err)
	defer g.Close()
	require.NoError(t, server.Signal(syscall.SIGSTOP))
	begun := time.Now()
	_, err = g.Read(t.Context())
	require.Error(t, err)
	assert.Less(t, time.Since(begun), time.Minute)
}
