//go:build programs

package membership

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// An empty value (ovn-nbctl set NB_Global . external_ids:ovn-central\:membership=\"\") can't be swapped: Swap takes ""
// for a missing key, and an insert does not overwrite. Taking the lock must replace it, and must not spin. A damaged
// value expires after 10 min (lease.maxTTL). Each attempt to take the lock ends after 2 TTLs (34 s at an election timer
// of 1 s), so several are needed.
func TestR5_invalid_lock_value_is_replaced(t *testing.T) {
	t.Parallel()
	for value, pace := range map[string]int{`""`: 1, "damaged": 60} { // a minute a second
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			units := realCluster(t, 3, ovndb.NB)
			m, dead, begun := model(units[0], units[0], units[1]), units[2].id(ovndb.NB), time.Now()
			units[0].nbctl("init", "--", "set", "NB_Global", ".", `external_ids:ovn-central\:membership=`+value)
			units[2].kill(ovndb.NB)
			units[0].Now = func() time.Time { return begun.Add(time.Duration(pace) * time.Since(begun)) }
			var results []KickResult
			require.Eventually(t, func() bool { // until the dead one counts as down
				var err error
				results, err = units[0].Kick(t.Context(), m, kickNB(dead))
				require.NoError(t, err)
				return results[0].Outcome == Removed || time.Since(begun) > time.Minute
			}, 90*time.Second, 100*time.Millisecond)
			assert.Equal(t, Removed, results[0].Outcome, results[0].Text)
		})
	}
}

// Another unit sees a removal done and takes the lock over. The first unit still records the removal, by which a server
// that was kicked while it was down learns of it (R8).
func TestR8_removal_is_recorded_without_lock(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	a, b, dead := units[0], units[1], units[2].id(ovndb.NB)
	units[2].kill(ovndb.NB)

	held := a.lockNB()
	limited := held.intend(t, lease.Kick, dead)
	require.NoError(t, a.Control.Kick(limited, ovndb.NB, string(dead)))
	for _, u := range units[:2] {
		u.until(ovndb.NB, func(s raft.Status) bool { return len(s.Servers) == 2 && s.NotCommitted == 0 })
	}
	results, err := b.Kick(t.Context(), model(b, a, b), kickNB(dead))
	require.NoError(t, err)
	assert.Equal(t, AlreadyGone, results[0].Outcome, "the intent shows that it was a member: %v", results[0].Against)

	taken := b.lockNB() // at once: nothing is pending any more
	require.Empty(t, taken.held.Intents)
	results, err = b.Kick(t.Context(), model(b, a, b), kickNB(dead))
	require.NoError(t, err)
	assert.Equal(t, AlreadyGone, results[0].Outcome, "the record shows it: %v", results[0].Against)
	held.release(t.Context(), map[raft.ID]string{dead: a.removedText("ovn-central/2", "kicked")}, nil)
	taken.release(t.Context(), nil, nil)

	assert.Contains(t, observe.RemovedServers(a.noted()), dead)
}

// Each progress runs juju-log or action-log, so it must not be shown at each look, four times a second.
func TestLock_reports_progress_sparingly(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 2, ovndb.NB)
	held := units[0].lockNB()
	t.Cleanup(func() { held.release(context.Background(), nil, nil) })
	var told atomic.Int32
	units[1].Progress = func(context.Context, string) { told.Add(1) }
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	_, err := units[1].lock(ctx, units[1].nb(), never)
	require.Error(t, err)
	assert.LessOrEqual(t, told.Load(), int32(3), "in 3 s")
}
