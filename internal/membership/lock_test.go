//go:build programs

package membership

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// An empty value (ovn-nbctl set NB_Global . external_ids:ovn-central\:membership=\"\") can't be swapped: Swap takes
// "" for a missing key, and an insert does not overwrite. Taking the lock must replace it, and must not spin. A
// damaged value expires after 10 min (lease.maxTTL). Each attempt to take the lock ends after 2 TTLs (34 s at an
// election timer of 1 s), so several are needed.
func TestR5_invalid_lock_value_is_replaced(t *testing.T) {
	t.Parallel()
	for value, pace := range map[string]int{`""`: 1, "damaged": 60} { // the clock runs a minute each second
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			units := realCluster(t, 3, ovndb.NB)
			m, dead, begun := model(units[0], units[0], units[1]), units[2].id(ovndb.NB), time.Now()
			units[0].nbctl("init", "--", "set", "NB_Global", ".", `external_ids:ovn-central\:membership=`+value)
			units[2].kill(ovndb.NB)
			units[0].Now = func() time.Time { return begun.Add(time.Duration(pace) * time.Since(begun)) }
			var results []KickResult
			require.Eventually(t, func() bool { // until the dead member counts as down
				var err error
				results, err = units[0].Kick(t.Context(), m, kickNB(dead))
				require.NoError(t, err)
				return results[0].Outcome == Removed || time.Since(begun) > time.Minute
			}, 90*time.Second, 100*time.Millisecond)
			assert.Equal(t, Removed, results[0].Outcome, results[0].Reasons)
		})
	}
}

// Another unit finds that a removal is done and takes over the lock. The first unit still records the removal, from
// which a server that was kicked while it was down learns of it (R8).
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

// Each line of progress runs juju-log or action-log, so it must not be shown at each check, four times a second.
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

func never(context.Context) error { return nil }

// hasten makes a unit's clock run 60 times faster, so that the unit sees other units' locks expire. Its own lock then
// lets it begin a change for 0.14 s only (half of 17 s), so reset the clock before the unit changes something.
func (u *realUnit) hasten() {
	begun := time.Now()
	u.Now = func() time.Time { return begun.Add(60 * time.Since(begun)) }
}

// going returns the application with a unit that is removed while the others stay.
func going(u *realUnit, units ...*realUnit) observe.Application {
	m := model(u, units...)
	m.Goal[u.Env.Unit] = juju.UnitGoal{Status: "dying"}
	return m
}

// requireRefused requires a refusal because members are down, or may be removed by an intent in the lock.
func requireRefused(t *testing.T, err error, down ...string) {
	t.Helper()
	require.Equal(t, []string{"nb QUORUM_WOULD_BE_LOST"}, findingtest.Codes(err))
	f := finding.Reasons(err)[0]
	if len(down) == 0 {
		require.Len(t, f.Causes, 1)
		require.Equal(t, finding.RemovalMayFollow, f.Causes[0].Code)
	}
	for i, short := range down {
		require.Equal(t, short, f.Args.Down[i].ID[:len(short)])
	}
}

// R1, R5: of four members one is dead, and a unit that was stopped has recorded an intent to kick another. Only that
// unit drops the intent. Until it continues, finds that its time has passed and does nothing, the leave of a third is
// refused.
func TestR5_kick_intent_stays_until_its_unit_ends_it(t *testing.T) {
	units := realCluster(t, 4, ovndb.NB)
	a, b, c, dead := units[0], units[1], units[2], units[3]
	m := going(c, units...)
	kicked := b.id(ovndb.NB)
	dead.kill(ovndb.NB)
	a.until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() && !s.Hears(shortOf(m, dead)) })

	a.Now = func() time.Time { return time.Now().Add(-7 * time.Second) } // 1.5 s are left once it has recorded the intent
	held := a.lockNB()
	limited := held.intend(t, lease.Kick, kicked)
	until, bounded := limited.Deadline()
	require.True(t, bounded)
	require.LessOrEqual(t, time.Until(until), 2*time.Second, "it may not be begun later")

	c.hasten()
	_, err := c.Stop(t.Context(), m, observe.Cache{})
	requireRefused(t, err)
	require.Empty(t, b.record().Holder)
	b.ClearEndedIntents(t.Context())
	assert.Len(t, b.record().Intents, 1, "its target can't know that it is not carried out")
	_, err = c.Stop(t.Context(), m, observe.Cache{})
	requireRefused(t, err)

	<-limited.Done() // it continues
	require.Error(t, a.Control.Kick(limited, ovndb.NB, string(kicked)))
	s, err := a.Control.Status(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Len(t, s.Servers, 4)

	a.ClearEndedIntents(t.Context())
	c.Now = time.Now
	_, err = c.Stop(t.Context(), m, observe.Cache{})
	require.NoError(t, err)
	a.until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() && len(s.Servers) == 3 })
}

// R5: a unit that restarts its server keeps the lock, even after an inherited change in it has ended.
func TestR5_inherited_intent_keeps_lock_of_restart(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 5, ovndb.NB)
	kicker, holder, other, target := units[0], units[1], units[2], units[4]
	m := model(holder, units...)
	held := kicker.lockNB()
	held.intend(t, lease.Kick, target.id(ovndb.NB))
	held.release(t.Context(), nil, nil)

	require.NoError(t, holder.WithLock(t.Context(), m, ovndb.NB, true, func(ctx context.Context, gate Gate) error {
		require.NoError(t, kicker.Control.Kick(ctx, ovndb.NB, string(target.id(ovndb.NB))))
		other.until(ovndb.NB, func(s raft.Status) bool { return len(s.Servers) == 4 && s.NotCommitted == 0 })
		if _, err := gate(); err != nil {
			return err
		}
		impatient, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		assert.Error(t, other.WithLock(impatient, model(other, units[:4]...), ovndb.NB, true, other.forbidden))
		return holder.restart(ctx, ovndb.NB)
	}))
	other.until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() })
	kicker.ClearEndedIntents(t.Context())
	assert.Empty(t, kicker.record().Intents)
}

// R1, R5: a unit is stopped between its intent and the restart. It counts as down for the unit that takes over the
// lock. When it continues, it takes nothing down, and later drops the intent.
func TestR5_server_with_down_intent_is_down(t *testing.T) {
	units := realCluster(t, 3, ovndb.NB)
	stopped, leaver := units[1], units[2]
	m, leaving := model(stopped, units...), going(leaver, units...)
	leaver.hasten()
	var ahead atomic.Int64
	stopped.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	err := stopped.WithLock(t.Context(), m, ovndb.NB, true, func(ctx context.Context, gate Gate) error {
		_, err := leaver.Stop(ctx, leaving, observe.Cache{})
		requireRefused(t, err, shortOf(m, stopped))
		require.NotContains(t, findingtest.Briefs(err), " kick ", "it is up, and its unit is at work")
		ahead.Store(int64(time.Minute)) // it continues
		_, err = gate()
		return err
	})
	require.ErrorIs(t, err, errTooLate)
	_, err = leaver.Stop(t.Context(), leaving, observe.Cache{})
	requireRefused(t, err, shortOf(m, stopped)) // no other unit knows that it has stopped
	require.NotContains(t, findingtest.Briefs(err), " kick ", "it is up")
	require.Contains(t, findingtest.Briefs(err), "-> "+string(finding.BeforeHook)+": "+stopped.Env.Unit+" resume")

	stopped.ClearEndedIntents(t.Context())
	leaver.Now = time.Now
	_, err = leaver.Stop(t.Context(), leaving, observe.Cache{})
	require.NoError(t, err)
}

// R5: the intent remains until the server is known to be back.
func TestR5_down_intent_stays_until_server_is_back(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	u := units[2]
	m, id := model(u, units...), u.id(ovndb.NB)
	failed := errors.New("it does not start")
	require.ErrorIs(t, u.WithLock(t.Context(), m, ovndb.NB, true, func(_ context.Context, gate Gate) error {
		_, err := gate()
		require.NoError(t, err)
		want := []lease.Intent{{ID: string(id), Kind: lease.Down, By: u.Env.Unit, From: string(id)}}
		assert.EventuallyWithT(t, func(c *assert.CollectT) { assert.Equal(c, want, units[0].record().Intents) }, time.Minute,
			20*time.Millisecond)
		u.kill(ovndb.NB)
		return failed
	}), failed)
	assert.Empty(t, units[0].record().Holder)
	assert.Len(t, units[0].record().Intents, 1)
	units[0].ClearEndedIntents(t.Context())
	assert.Len(t, units[0].record().Intents, 1)

	u.again(ovndb.NB)
	_, err := u.observer.AwaitMember(t.Context(), ovndb.NB, 2*time.Minute)
	require.NoError(t, err)
	u.ClearEndedIntents(t.Context())
	assert.Empty(t, u.record().Intents)
}

// J3: all units read from the database which member is about to leave.
func TestView_leave_intent_of_other_member(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 2, ovndb.NB)
	a, b := units[0], units[1]
	held := b.lockNB()
	held.intend(t, lease.Leave, b.id(ovndb.NB))
	held.intend(t, lease.Down, a.id(ovndb.NB))
	view, err := a.observer.View(t.Context(), a.nb(), nil)
	require.NoError(t, err)
	assert.Equal(t, []raft.ID{b.id(ovndb.NB)}, view.Leaving)
	held.release(t.Context(), nil, nil)
}
