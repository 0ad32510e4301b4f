//go:build programs && large

package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// grow writes rows of 1 MiB until the file of the unit's nb has so many.
func (u *realUnit) grow(mib int64) {
	u.t.Helper()
	conn, err := new(net.Dialer).DialContext(u.t.Context(), "unix", u.Control.Paths.Socket(ovndb.NB))
	require.NoError(u.t, err)
	defer conn.Close()
	require.NoError(u.t, conn.SetDeadline(time.Now().Add(5*time.Minute)))
	row := fmt.Sprintf(`{"op":"insert","table":"DNS","row":{"records":["map",[["name","%s"]]]}}`, strings.Repeat("x", 1<<20))
	answers := json.NewDecoder(conn)
	for ovn.FileSize(u.Control.Paths, ovndb.NB) < mib<<20 {
		_, err := fmt.Fprintf(conn, `{"method":"transact","id":0,"params":["OVN_Northbound",%s]}`, strings.Join([]string{row, row, row, row}, ","))
		require.NoError(u.t, err)
		var answer struct{ Error any }
		require.NoError(u.t, answers.Decode(&answer))
		require.Nil(u.t, answer.Error)
	}
}

// slower brings the election timer to what the charm's is by default.
func (u *realUnit) slower() {
	u.t.Helper()
	for _, timer := range []time.Duration{2 * time.Second, 4 * time.Second} {
		require.NoError(u.t, u.Control.ChangeElectionTimer(u.t.Context(), ovndb.NB, timer))
		u.until(ovndb.NB, func(s raft.Status) bool { return s.ElectionTimer == timer })
	}
}

// R0: what a large database takes its servers is waited for. A member that compacts is
// not taken for down because it does not answer in what the size adds, but by its
// connection alone, which the cluster ends once it was silent for longer than the
// election timer; and an exit, a return and a join end in that time, and a leave does not
// stay pending.
func TestWaitsHoldForADatabaseOf160MiB(t *testing.T) {
	const size = 160
	units := realCluster(t, 3, ovndb.NB)
	leader, other, u := units[0], units[1], units[2]
	leader.slower()
	leader.grow(size)
	patience := func(base time.Duration) time.Duration { return raft.Patience(base, size<<20) }
	measured := func(what string, begun time.Time, most time.Duration) {
		took := time.Since(begun)
		t.Logf("%s took %s of at most %s", what, took.Round(10*time.Millisecond), most)
		assert.Less(t, took, most, what)
	}
	returned := func(base time.Duration) {
		u.again(ovndb.NB)
		begun := time.Now()
		_, err := u.observer.AwaitMember(t.Context(), ovndb.NB, patience(base))
		require.NoError(t, err)
		measured("to be a member that has caught up", begun, patience(base))
	}
	_, err := u.observer.AwaitMember(t.Context(), ovndb.NB, patience(30*time.Second))
	require.NoError(t, err)

	begun, compacted := time.Now(), make(chan error, 1)
	go func() { compacted <- u.Control.Compact(t.Context(), ovndb.NB) }()
	looks, down := 0, 0
	for done := false; !done || looks < 3; looks++ {
		select {
		case err := <-compacted:
			require.NoError(t, err)
			done = true
			measured("a compaction", begun, patience(2*time.Minute))
		default:
		}
		view, err := other.observer.View(t.Context(), other.observer.ObserveServer(t.Context(), ovndb.NB), nil)
		require.NoError(t, err)
		for _, p := range view.Peers() {
			if time.Since(begun) < patience(observe.ProbeTimeout) {
				assert.NotContains(t, p.Why, "does not answer", p.Address)
			}
			if !p.Up {
				down++
			}
		}
	}
	t.Logf("down, by its connection, in %d of %d looks", down, looks)
	begun = time.Now()
	require.Eventually(t, func() bool {
		view, err := other.observer.View(t.Context(), other.observer.ObserveServer(t.Context(), ovndb.NB), nil)
		return err == nil && view.Quorum() == raft.Quorum{Members: 3, Up: 3}
	}, patience(returnPatience), 100*time.Millisecond)
	measured("to count as up again", begun, patience(returnPatience))

	m := model(u, units...)
	require.NoError(t, u.WithLock(t.Context(), m, ovndb.NB, true, func(ctx context.Context, gate Gate) error {
		if _, err := gate(); err != nil {
			return err
		}
		begun := time.Now()
		require.NoError(t, u.Control.Exit(ctx, ovndb.NB))
		require.NoError(t, u.servers[ovndb.NB].Wait(t))
		measured("an exit", begun, patience(10*time.Second))
		returned(20 * time.Second)
		return nil
	}))

	begun = time.Now()
	_, err = u.Stop(t.Context(), m, observe.Cache{})
	require.NoError(t, err)
	t.Logf("a stop took %s, the checks of the file among it", time.Since(begun).Round(10*time.Millisecond)) // a leave that is late is a PendingError
	require.NoError(t, u.Control.Exit(t.Context(), ovndb.NB))
	require.NoError(t, u.servers[ovndb.NB].Wait(t))
	u.servers[ovndb.NB].Join(t, leader.servers[ovndb.NB].Address)
	returned(30 * time.Second)
}
