//go:build programs

package ovsdb_test

import (
	"fmt"
	"os"
	"runtime"
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

// receives reports whether a channel receives within the time.
func receives(from <-chan struct{}, within time.Duration) bool {
	select {
	case <-from:
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
	require.True(t, receives(w.Changed(), patience))
	value, err = w.Read(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "one", value)

	require.NoError(t, writer.Put(t.Context(), map[string]string{"another": "key"}))
	require.NoError(t, writer.Drop(t.Context(), key))
	require.True(t, receives(w.Changed(), patience))
	assert.False(t, receives(w.Changed(), 100*time.Millisecond), "one change of the key, one wake-up")

	swapped, err := w.Swap(t.Context(), "", "two")
	require.NoError(t, err)
	assert.True(t, swapped)
}

// The data of a cut-off member may be old.
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

	members[2].Kill(t) // no goroutine is receiving from Lost at this moment
	assert.True(t, receives(w.Lost(), patience))
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

// followed starts servers of both databases, and follows them.
func followed(t *testing.T, nb, sb *server) *ovsdb.Followed {
	t.Helper()
	f, err := new(ovsdb.Dialer).Follow(t.Context(), []string{nb.Endpoint()}, []string{sb.Endpoint()})
	require.NoError(t, err)
	t.Cleanup(f.Close)
	return f
}

func emptyOne(t *testing.T, d ovndb.Database) *server {
	t.Helper()
	return ovsdbtest.New(t, d, "127.0.0.1").Standalone(t).Start(t)
}

func transact(t *testing.T, s *server, operations ...any) {
	t.Helper()
	require.NoError(t, s.Transact(patience, operations...))
}

type object = map[string]any

// inserted returns an operation that inserts a row. name is the row's name within the transaction.
func inserted(table, name string, row object) object {
	op := object{"op": "insert", "table": table, "row": row}
	if name != "" {
		op["uuid-name"] = name
	}
	return op
}

// routerPorts returns n ports with five candidates each, as Neutron makes them.
func routerPorts(n int) (all []any) {
	id := func(kind, n int) string { return fmt.Sprintf("%08x-1111-2222-3333-%012x", kind, n) }
	for i := range n {
		var candidates []any
		port, name := "lrp-"+id(1, i), fmt.Sprint("p", i)
		for k := range 5 {
			candidate, chassis := fmt.Sprintf("c%d_%d", i, k), id(2, (i+k)%50)
			candidates = append(candidates, []any{"named-uuid", candidate})
			row := object{"name": port + "_" + chassis, "chassis_name": chassis, "priority": 5 - k}
			all = append(all, inserted("Gateway_Chassis", candidate, row))
		}
		all = append(all, inserted("Logical_Router_Port", name, object{
			"name": port, "mac": "02:00:00:00:00:01", "gateway_chassis": []any{"set", candidates},
		}), inserted("Logical_Router", "", object{
			"name": "neutron-" + id(3, i), "ports": []any{"named-uuid", name},
		}))
	}
	return all
}

func TestFollow_wakes_and_reads_followed_servers(t *testing.T) {
	t.Parallel()
	nb, sb := emptyOne(t, ovndb.NB), emptyOne(t, ovndb.SB)
	f := followed(t, nb, sb)
	ports := func() (n int) {
		require.NoError(t, f.Read(t.Context(), func(g *ovsdb.Gateways) error {
			all, err := g.Northbound(t.Context())
			n = len(all.RouterPorts)
			return err
		}))
		return n
	}
	wakes := func() bool { return receives(f.Changed(), patience) }
	assert.Zero(t, ports())
	transact(t, nb, routerPorts(3)...)
	assert.True(t, wakes())
	assert.Equal(t, 3, ports())
	for len(f.Changed()) > 0 {
		<-f.Changed()
	}
	transact(t, sb, inserted("Chassis_Private", "", object{"name": "c1"}))
	assert.True(t, wakes())
	transact(t, sb, inserted("SB_Global", "", object{"nb_cfg": 1}))
	assert.True(t, wakes(), "nb_cfg")
	increment := []any{[]any{"priority", "+=", 1}}
	transact(t, nb, object{"op": "mutate", "table": "Gateway_Chassis", "where": []any{}, "mutations": increment})
	assert.True(t, wakes(), "a changed priority")

	nb.Kill(t) // no goroutine is receiving from Lost at this moment
	assert.True(t, receives(f.Lost(ovndb.NB), patience))
	err := f.Read(within(t, time.Second), func(*ovsdb.Gateways) error { return nil })
	require.ErrorContains(t, err, string(ovndb.NB), "no other server is read")
	assert.NotContains(t, err.Error(), "connect to :")
}

// An idle agent with 10,000 routers once had 150 MB. The test compares its memory with the size of the rows in JSON,
// so that the ratio holds for any number.
func TestFollow_memory_is_bounded(t *testing.T) {
	nb, sb := emptyOne(t, ovndb.NB), emptyOne(t, ovndb.SB)
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc) //nolint:gosec // less than 2^63
	}
	transact(t, nb, routerPorts(2000)...)
	found, err := os.Stat(nb.File())
	require.NoError(t, err)
	before := heap()
	f := followed(t, nb, sb)
	require.NoError(t, f.Read(t.Context(), func(g *ovsdb.Gateways) error {
		_, err := g.Northbound(t.Context())
		return err
	}))
	share := func() float64 { return float64(heap()-before) / float64(found.Size()) }
	// All events have arrived.
	assert.Eventually(t, func() bool { return share() < 4.7 }, 20*time.Second, 100*time.Millisecond)
	t.Logf("%.1f times its %d bytes", share(), found.Size())
	runtime.KeepAlive(f)
}
