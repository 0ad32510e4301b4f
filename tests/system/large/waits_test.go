package large

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R0: what a large database takes its servers is waited for. A member that compacts is not taken for
// down because it does not answer in what the size adds, but by its connection alone, which the cluster
// ends once it was silent for longer than the election timer. A restart and a join end in that time,
// and a leave does not stay pending.
func TestWaitsHoldForADatabaseOf160MiB(t *testing.T) {
	const size = 160
	m := labtest.New(t, 3, lab.Options{ElectionTimer: 4 * time.Second, HookTimeout: 20 * time.Minute})
	grow(m, size, 1<<20)
	u, other := m.Followers()[0], m.Followers()[1]
	patience := func(base time.Duration) time.Duration { return raft.Patience(base, size<<20) }
	took := func(what string, begun time.Time, most time.Duration) {
		t.Helper()
		t.Logf("%s took %s of at most %s", what, time.Since(begun).Round(10*time.Millisecond), most)
		assert.Less(t, time.Since(begun), most, what)
	}
	allUp := func() bool {
		return strings.Contains(m.Act(other, "cluster-status", "format=json")["fault-tolerance"], "nb: 1 more of 3 members may fail (3 up)")
	}
	m.Eventually("all are up", allUp)

	begun, compacted := time.Now(), make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	go func() {
		_, err := u.Exec(ctx, "ovs-appctl", "--timeout=300", "--target="+filepath.Join(u.RunDir(), "ovnnb_db.ctl"), "ovsdb-server/compact", "OVN_Northbound")
		compacted <- err
	}()
	for done, looks := false, 0; !done || looks < 3; looks++ {
		select {
		case err := <-compacted:
			require.NoError(t, err)
			done = true
			took("a compaction", begun, patience(2*time.Minute))
		default:
		}
		shown := m.Act(other, "cluster-status")
		t.Log(shown["fault-tolerance"])
		if time.Since(begun) < patience(observe.ProbeTimeout) {
			assert.NotContains(t, shown["warnings"]+shown["ovnnb"], "does not answer")
		}
	}
	begun = time.Now()
	m.Eventually("all are up again", allUp)
	took("to count as up again", begun, patience(10*time.Second))

	begun = time.Now()
	m.Act(u, "restart-services", "services=ovn-ovsdb-server-nb")
	took("an exit, and to be a member that has caught up", begun, patience(10*time.Second)+patience(20*time.Second))

	begun = time.Now()
	m.Remove(u) // a leave that is late fails the hook
	took("a leave", begun, patience(30*time.Second))

	begun = time.Now()
	added := m.AddSilent()
	require.NoError(t, m.Settle(t.Context()))
	m.Tick("the new unit is a member", labtest.AllMembers(m, append(m.Remaining(), added)...), added)
	took("a join", begun, patience(30*time.Second))
}
