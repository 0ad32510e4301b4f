//go:build programs

package ovsdb_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

const key = "ovn-central:test"

// connect opens a connection to the only row, at one member.
func connect(t *testing.T, s *server) *ovsdb.Global {
	t.Helper()
	g, err := new(ovsdb.Dialer).Global(within(t, patience), s.Database, s.Endpoint())
	require.NoError(t, err)
	t.Cleanup(g.Close)
	return g
}

func read(t *testing.T, g *ovsdb.Global) map[string]string {
	t.Helper()
	ids, err := g.Read(within(t, patience))
	require.NoError(t, err)
	return ids
}

func swap(t *testing.T, g *ovsdb.Global, old, next string) bool {
	t.Helper()
	ok, err := g.Swap(within(t, patience), key, old, next)
	require.NoError(t, err)
	return ok
}

func TestSwap_makes_missing_row(t *testing.T) {
	t.Parallel()
	for _, d := range ovndb.Databases() {
		t.Run(d.Short(), func(t *testing.T) {
			t.Parallel()
			s := cluster(t, d, 1)[0]
			g := connect(t, s)
			assert.Nil(t, read(t, g))
			require.Error(t, g.Put(t.Context(), map[string]string{"x": "0"}))
			require.NoError(t, g.Drop(t.Context(), "x"))
			assert.False(t, swap(t, g, "old", "next"))
			assert.Nil(t, read(t, g))
			assert.True(t, swap(t, g, "", "first"))
			ctl(t, s, "init")
			assert.Equal(t, map[string]string{key: "first"}, read(t, g), "OVN itself uses the same row")
		})
	}
}

func TestSwap_needs_old_value(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	ctl(t, s, "init")
	ctl(t, s, `set NB_Global . external_ids:ovn-central\:test=""`)
	g := connect(t, s)
	value := ""
	for _, step := range []struct {
		old, next string
		done      bool
	}{
		{"a", "b", false},
		{"", "a", true},
		{"", "b", false},
		{"b", "c", false},
		{"a", "b", true},
		{"a", "c", false},
		{"b", `{"holder":"ovn-central/0","term":1,"pending":["x"]}`, true},
		{`{"holder":"ovn-central/0","term":1,"pending":["x"]}`, "d", true},
	} {
		assert.Equal(t, step.done, swap(t, g, step.old, step.next), "%q to %q", step.old, step.next)
		if step.done {
			value = step.next
		}
		assert.Equal(t, value, read(t, g)[key])
	}
}

func TestGlobal_keeps_other_keys_and_columns(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	ctl(t, s, "init")
	ctl(t, s, `set NB_Global . external_ids:neutron=1 external_ids:ovn-central\:other=2 name=mine nb_cfg=7`)
	g := connect(t, s)
	require.True(t, swap(t, g, "", "a"))
	// Other clients write to the map between read and write.
	ctl(t, s, "set NB_Global . external_ids:neutron=2 external_ids:late=3")
	require.True(t, swap(t, g, "a", "b"))
	require.NoError(t, g.Put(t.Context(), map[string]string{"x": "1", "y": "2", "z": "3"}))
	require.NoError(t, g.Put(t.Context(), map[string]string{"x": "3"}))
	require.NoError(t, g.Drop(t.Context(), "z"))
	assert.Equal(t, map[string]string{
		"neutron": "2", "ovn-central:other": "2", "late": "3", key: "b", "x": "3", "y": "2",
	}, read(t, g))
	assert.Equal(t, "mine\n7", ctl(t, s, "get NB_Global . name nb_cfg"))
}

func TestSwap_without_quorum_times_out(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	ctl(t, members[0], "init")
	g := connect(t, members[1])
	require.True(t, swap(t, g, "", "a"))
	require.NoError(t, members[0].Signal(syscall.SIGSTOP))
	require.NoError(t, members[2].Signal(syscall.SIGSTOP))

	for range 2 { // first while it still believes that it has a leader, then later
		ok, err := g.Swap(within(t, 3*time.Second), key, "a", "b")
		require.Error(t, err)
		assert.False(t, ok)
	}
}

func TestGlobal_hanging_server_honours_deadline(t *testing.T) {
	t.Parallel()
	s := cluster(t, ovndb.NB, 1)[0]
	g := connect(t, s)
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	ctx := within(t, 300*time.Millisecond)
	_, err := g.Swap(ctx, key, "", "a")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = g.Read(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = new(ovsdb.Dialer).Global(ctx, ovndb.NB, s.Endpoint())
	require.ErrorIs(t, err, context.DeadlineExceeded)

	start := time.Now()
	_, err = g.Read(t.Context())
	require.ErrorIs(t, err, context.DeadlineExceeded, "a context without a deadline gets one")
	assert.Less(t, time.Since(start), time.Minute)
}

func TestGlobal_lost_connection_is_error(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.SB, 2)
	g := connect(t, members[1])
	read(t, g)
	_, err := members[1].Appctl(t, "cluster/leave", string(ovndb.SB))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := g.Read(within(t, time.Second))
		return err != nil && !errors.Is(err, context.DeadlineExceeded)
	}, patience, 10*time.Millisecond)
}

func TestGlobal_first_endpoint_with_database(t *testing.T) {
	t.Parallel()
	down := endpointsOf(ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".200"))[0]
	other, s := cluster(t, ovndb.SB, 1)[0], cluster(t, ovndb.NB, 1)[0]
	g, err := new(ovsdb.Dialer).Global(t.Context(), ovndb.NB, down, other.Endpoint(), s.Endpoint())
	require.NoError(t, err)
	t.Cleanup(g.Close)
	require.True(t, swap(t, g, "", "a"))
	assert.Equal(t, "a", read(t, connect(t, s))[key])

	_, err = new(ovsdb.Dialer).Global(t.Context(), ovndb.NB, down, other.Endpoint())
	require.ErrorContains(t, err, down)
	assert.ErrorContains(t, err, other.Endpoint())
}

// rounds is how often two clients race: enough rounds to see both orders, and ties.
const rounds = 60

// race makes clients swap the same old value at the same moment, each through its own member, and returns which of
// them succeeded.
func race(t *testing.T, contenders []*ovsdb.Global, key, old, round string) []bool {
	t.Helper()
	ctx := within(t, patience)
	var wg sync.WaitGroup
	won, failed := make([]bool, len(contenders)), make([]error, len(contenders))
	start := make(chan struct{})
	for i, g := range contenders {
		wg.Go(func() {
			<-start
			won[i], failed[i] = g.Swap(ctx, key, old, fmt.Sprintf("%s by %d", round, i))
		})
	}
	close(start)
	wg.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
	return won
}

// winner returns the value that the only successful client wrote.
func winner(t *testing.T, won []bool, round string) string {
	t.Helper()
	value := ""
	for i, w := range won {
		if w {
			require.Empty(t, value, "%s: both won", round)
			value = fmt.Sprintf("%s by %d", round, i)
		}
	}
	return value
}

// settle returns once both members have the leader's value.
func settle(t *testing.T, contenders []*ovsdb.Global, key, value string) {
	t.Helper()
	for _, g := range contenders {
		require.Eventually(t, func() bool { return read(t, g)[key] == value }, patience, 1)
	}
}

func TestSwap_two_followers_one_wins(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.NB, 3)
	contenders := []*ovsdb.Global{connect(t, members[1]), connect(t, members[2])}
	value, wins := "start", 0
	require.True(t, swap(t, contenders[0], "", value))
	settle(t, contenders, key, value)
	for n := range rounds {
		round := fmt.Sprintf("round %d", n)
		if next := winner(t, race(t, contenders, key, value, round), round); next != "" {
			value = next
			wins++
		}
		settle(t, contenders, key, value)
	}
	assert.Positive(t, wins)
}

func TestSwap_two_followers_one_makes_row(t *testing.T) {
	t.Parallel()
	members := cluster(t, ovndb.SB, 3)
	contenders := []*ovsdb.Global{connect(t, members[1]), connect(t, members[2])}
	for n := range rounds {
		// In the first round not even the row exists.
		round, key := fmt.Sprintf("round %d", n), fmt.Sprintf("%s-%d", key, n)
		value := winner(t, race(t, contenders, key, "", round), round)
		require.NotEmpty(t, value, round)
		settle(t, contenders, key, value)
	}
}
