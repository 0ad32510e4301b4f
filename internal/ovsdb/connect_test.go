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

// errors.Join() of no failures is nil, so connect returns neither a client nor an
// error: Server then panics, and Global gives a connection that panics later.
func TestNoEndpointIsAnError(t *testing.T) {
	assert.NotPanics(t, func() {
		_, err := new(ovsdb.Dialer).Server(t.Context(), ovndb.NB)
		require.Error(t, err)
	})
	_, err := new(ovsdb.Dialer).Global(t.Context(), ovndb.NB)
	require.Error(t, err)
}

// A machine that is dead answers nothing, so a dial to it lasts until the deadline;
// a hung server is the same. Release after a leave (moveTo) and the records of
// removals are asked of the members in turn, and one such before a good one takes
// all the time there is.
func TestEndpointThatHangsDoesNotTakeTheTimeOfTheOthers(t *testing.T) {
	hung, good := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.NB, 1)[0]
	require.NoError(t, hung.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	g, err := new(ovsdb.Dialer).Global(ctx, ovndb.NB, endpointsOf(hung)[0], endpointsOf(good)[0])
	require.NoError(t, err)
	g.Close()
}

// Each names its endpoint once, and a server that hangs what it is that went wrong.
func TestWhyThereIsNoConnectionIsSaidOnce(t *testing.T) {
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

// A server that hangs after it was connected to, or that has lost its quorum, would be
// waited for without end.
func TestServerThatHangsIsNotAskedForEver(t *testing.T) {
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
