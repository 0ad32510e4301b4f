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

// Each error names its endpoint once, and for a hanging server the reason.
func TestConnect_error_has_reason_once(t *testing.T) {
	t.Parallel()
	server := cluster(t, ovndb.NB, 1)[0]
	_, err := new(ovsdb.Dialer).Global(t.Context(), ovndb.SB, server.Endpoint())
	require.EqualError(t, err, "cannot connect to "+server.Endpoint()+": target database OVN_Southbound not found")

	require.NoError(t, server.Signal(syscall.SIGSTOP))
	_, err = new(ovsdb.Dialer).Global(within(t, time.Second), ovndb.NB, server.Endpoint())
	require.EqualError(t, err, "cannot connect to "+server.Endpoint()+": no answer before the deadline")
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A context without a deadline gets one.
func TestGlobal_hanging_server_times_out(t *testing.T) {
	t.Parallel()
	server := cluster(t, ovndb.NB, 1)[0]
	g := connect(t, server)
	require.NoError(t, server.Signal(syscall.SIGSTOP))
	begun := time.Now()
	_, err := g.Read(t.Context())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Less(t, time.Since(begun), time.Minute)
}
