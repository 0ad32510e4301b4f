//go:build programs

package ovsdb_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

func watch(t *testing.T, endpoints ...string) *ovsdb.Watch {
	t.Helper()
	ctx := within(t, patience)
	w, err := new(ovsdb.Dialer).Watch(ctx, ovndb.NB, key, endpoints...)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// woken reports whether the watch wakes within the time.
func woken(w *ovsdb.Watch, within time.Duration) bool {
	select {
	case <-w.Changed():
		return true
	case <-time.After(within):
		return false
	}
}

func TestWatch_wakes_through_any_member(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	writer := connect(t, members[0])
	w := watch(t, members[2].Endpoint())
	value, err := w.Read(t.Context())
	require.NoError(t, err)
	assert.Empty(t, value)

	require.True(t, swap(t, writer, "", "one"))
	require.True(t, woken(w, patience))
	value, err = w.Read(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "one", value)

	require.NoError(t, writer.Put(t.Context(), map[string]string{"another": "key"}))
	require.NoError(t, writer.Drop(t.Context(), key))
	require.True(t, woken(w, patience))
	assert.False(t, woken(w, 100*time.Millisecond), "one change of the key, one wake-up")

	swapped, err := w.Swap(t.Context(), "", "two")
	require.NoError(t, err)
	assert.True(t, swapped)
}

// A cut-off member's data may be old.
func TestWatch_without_leader_reads_nothing(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	w := watch(t, members[2].Endpoint())
	members[0].Kill(t)
	members[1].Kill(t)
	require.Eventually(t, func() bool {
		_, err := w.Read(t.Context())
		return err != nil
	}, patience, 20*time.Millisecond)
	_, err := w.Read(t.Context())
	require.ErrorIs(t, err, ovsdb.ErrNoLeader)
	ctx := within(t, patience)
	_, err = new(ovsdb.Dialer).Watch(ctx, ovndb.NB, key, members[2].Endpoint())
	require.ErrorIs(t, err, ovsdb.ErrNoLeader)

	members[2].Kill(t) // nothing receives from Lost at this moment
	select {
	case <-w.Lost():
	case <-time.After(patience):
		assert.Fail(t, "the lost connection is not reported")
	}
}

func TestWatch_skips_members_without_leader(t *testing.T) {
	t.Parallel()
	alone := ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Join(t, "tcp:127.0.0.1:1")
	alone.Start(t)
	good := cluster(t, ovndb.NB, 1)[0]
	w := watch(t, alone.Endpoint(), good.Endpoint())
	swapped, err := w.Swap(t.Context(), "", "one")
	require.NoError(t, err)
	assert.True(t, swapped)
}
