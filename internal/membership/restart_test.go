//go:build programs

package membership

import (
	"context"
	"errors"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// again starts a unit's server on its file, without waiting.
func (u *realUnit) again(d ovndb.Database) {
	u.t.Helper()
	u.servers[d].Begin(u.t)
}

// restart takes a unit's server down and brings it back.
func (u *realUnit) restart(ctx context.Context, d ovndb.Database) error {
	u.kill(d)
	u.again(d)
	_, err := u.observer.AwaitMember(ctx, d, 2*time.Minute)
	return err
}

// record returns nb's lock as the unit's own server has it.
func (u *realUnit) record() lease.Record {
	u.t.Helper()
	r, err := lease.Parse(u.noted()[observe.LockKey])
	require.NoError(u.t, err)
	return r
}

// R5: units that restart at the same time take turns, and the cluster always has a leader, or soon gets one.
func TestR5_concurrent_restarts_take_turns(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	var (
		wg       sync.WaitGroup
		mu       sync.Mutex
		down     int
		most     int
		turns    []string
		failures = make([]error, len(units))
	)
	count := func(change int) {
		mu.Lock()
		defer mu.Unlock()
		down += change
		most = max(most, down)
	}
	ids, models := map[string]raft.ID{}, map[string]observe.Application{}
	for _, u := range units { // as long as all of them answer
		ids[u.Env.Unit], models[u.Env.Unit] = u.id(ovndb.NB), model(u, units...)
	}
	for i, u := range units {
		wg.Go(func() {
			failures[i] = u.WithLock(t.Context(), models[u.Env.Unit], ovndb.NB, true, func(ctx context.Context, _ Gate) error {
				count(1)
				defer count(-1)
				mu.Lock()
				turns = append(turns, u.Env.Unit)
				mu.Unlock()
				return u.restart(ctx, ovndb.NB)
			})
		})
	}
	wg.Wait()
	for _, err := range failures {
		assert.NoError(t, err)
	}
	assert.Equal(t, 1, most, "two were down at once")
	assert.Len(t, turns, 3)
	for _, u := range units {
		u.until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() && len(s.Servers) == 3 })
		assert.Equal(t, ids[u.Env.Unit], u.id(ovndb.NB))
	}
	assert.Empty(t, units[0].record().Holder, "the lock is given back")
}

// R5: while a server is slow to come back, the other units have to wait: the lock is renewed through their members.
func TestR5_lock_is_renewed_through_other_members(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	slow, other := units[1], units[2]
	m := model(slow, units...)
	err := slow.WithLock(t.Context(), m, ovndb.NB, true, func(ctx context.Context, _ Gate) error {
		slow.kill(ovndb.NB)
		held := other.record()
		assert.Equal(t, slow.Env.Unit, held.Holder)
		seen := other.observer.ObserveServer(ctx, ovndb.NB)
		assert.Eventually(t, func() bool { // a member is down
			view, err := other.observer.View(ctx, seen, nil)
			return err == nil && view.ChangedBy == slow.Env.Unit
		}, held.TTL(), 100*time.Millisecond)
		assert.Eventually(t, func() bool { // it is renewed after each third of its TTL
			now := other.record()
			return now.Holder == slow.Env.Unit && now.Sequence > held.Sequence
		}, held.TTL(), 100*time.Millisecond)
		impatient, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		assert.Error(t, other.WithLock(impatient, model(other, other), ovndb.NB, true, other.forbidden))
		slow.again(ovndb.NB)
		_, err := slow.observer.AwaitMember(ctx, ovndb.NB, 2*time.Minute)
		return err
	})
	require.NoError(t, err)
	assert.Empty(t, other.record().Holder)
}

func TestR1_restart_without_majority_of_others(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	m := model(units[0], units...)
	units[2].kill(ovndb.NB)
	units[0].until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() && !s.Hears(shortOf(m, units[2])) })
	err := units[0].WithLock(t.Context(), m, ovndb.NB, true, units[0].forbidden)
	require.Equal(t, []string{"nb QUORUM_WOULD_BE_LOST"}, findingtest.Codes(err))
	assert.Equal(t, finding.Tally{Up: 1, Members: 3}, finding.Reasons(err)[0].Args.After)
	assert.Empty(t, units[1].record().Holder, "the lock is given back")

	ran := false
	require.NoError(t, units[0].WithLock(t.Context(), m, ovndb.NB, false, func(context.Context, Gate) error {
		ran = true
		return nil
	}), "what takes no server down needs no majority of others")
	assert.True(t, ran)
}

// R0, R1: a server that hangs for a moment votes afterwards.
func TestR1_restart_of_server_that_hangs_for_a_moment(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	u, off := units[1], units[2]
	m, id := model(u, units...), off.id(ovndb.NB)
	off.kill(ovndb.NB)
	u.until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() && !s.Hears(id.Short()) })
	u.Control.Timeout = time.Second
	server := u.servers[ovndb.NB]
	require.NoError(t, server.Signal(syscall.SIGSTOP))
	u.Progress = func(context.Context, string) {
		u.Control.Timeout = 0
		assert.NoError(t, server.Signal(syscall.SIGCONT))
	}
	err := u.WithLock(t.Context(), m, ovndb.NB, true, u.forbidden)
	assert.True(t, finding.Has(finding.Reasons(err), finding.QuorumWouldBeLost), "%v", err)
}

// R7: if one database refuses, neither server is touched, and no clients are waited for. The remedy is the one for the
// cause, also if only one database is judged: the other one shows that the machine is on.
func TestR7_refused_restart_names_each_database(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB, ovndb.SB)
	m := model(units[0], units...)
	units[0].Clients = func() (map[ovndb.Database]ovndb.Clients, error) {
		t.Error("a refusal waits for clients")
		return map[ovndb.Database]ovndb.Clients{}, nil
	}
	down := units[2].Env.Unit
	restarts := finding.If(finding.IfThisLasts, plan.RestartOn(down, ovndb.ServiceOf(ovndb.SB))).For(down)
	for _, test := range []struct {
		refusing []ovndb.Database
		first    finding.Remedy
	}{
		{[]ovndb.Database{ovndb.SB}, restarts},
		{[]ovndb.Database{ovndb.NB, ovndb.SB}, finding.ByHand(finding.StartMachine).For(down)},
	} {
		refusing, lost := test.refusing, test.refusing[0]
		units[2].kill(lost)
		short := m.Published[units[2].Env.Unit][lost].Server.Short()
		units[0].until(lost, func(s raft.Status) bool { return s.HasLeader() && !s.Hears(short) })
		err := units[0].WithLocks(t.Context(), m, ovndb.Databases(), true, units[0].forbidden)
		var want []string
		for _, db := range refusing {
			want = append(want, db.Short()+" QUORUM_WOULD_BE_LOST")
		}
		assert.Equal(t, want, findingtest.Codes(err))
		assert.Empty(t, units[1].record().Holder, "the lock is given back")

		alone := units[0].WithLock(t.Context(), m, ovndb.SB, true, units[0].forbidden)
		for _, err := range []error{err, alone} {
			assert.Equal(t, test.first, finding.Reasons(err)[0].Remedies[0])
		}
	}
}

// R1: the judgement of the first database may be minutes old when the second may be taken down.
func TestR1_first_database_is_judged_again(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB, ovndb.SB)
	u, lost := units[0], units[2]
	m, looked := model(u, units...), 0
	u.Clients = func() (map[ovndb.Database]ovndb.Clients, error) {
		if looked++; looked == 2 { // when it counts the clients of sb
			lost.kill(ovndb.NB)
			u.until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() && !s.Hears(shortOf(m, lost)) })
		}
		return map[ovndb.Database]ovndb.Clients{}, nil
	}
	err := u.WithLocks(t.Context(), m, ovndb.Databases(), true, u.forbidden)
	assert.Equal(t, []string{"nb QUORUM_WOULD_BE_LOST"}, findingtest.Codes(err))
	assert.Empty(t, units[1].record().Holder, "the lock is given back")
}

func shortOf(m observe.Application, u *realUnit) string {
	return m.Published[u.Env.Unit][ovndb.NB].Server.Short()
}

// R5: a server that did not answer in time may be a member, so it is not touched without the lock.
func TestR5_nothing_is_done_after_timeout(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 1, ovndb.NB)
	ended, cancel := context.WithCancel(t.Context())
	m := model(units[0], units...)
	cancel()
	err := units[0].WithLock(ended, m, ovndb.NB, true, units[0].forbidden)
	require.ErrorIs(t, err, context.Canceled)
}

func TestRestart_two_members_release_lock(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 2, ovndb.NB)
	for _, u := range units { // the leader, then the follower
		require.NoError(t, u.WithLock(t.Context(), model(u, units...), ovndb.NB, true,
			func(ctx context.Context, _ Gate) error {
				return u.restart(ctx, ovndb.NB)
			}))
		u.until(ovndb.NB, func(s raft.Status) bool { return s.HasLeader() })
		assert.Empty(t, u.record().Holder)
	}
	failed := errors.New("it does not start")
	err := units[0].WithLock(t.Context(), model(units[0], units...), ovndb.NB, true,
		func(context.Context, Gate) error { return failed })
	require.ErrorIs(t, err, failed)
	assert.Empty(t, units[1].record().Holder, "it is released after a failure, too")
}

func TestRestart_without_other_members(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 1, ovndb.NB)
	m := model(units[0], units...)
	for name, prepare := range map[string]func(){
		"the only member": func() {},
		"no server":       func() { units[0].kill(ovndb.NB) },
	} {
		prepare()
		ran := errors.New("it ran")
		assert.ErrorIs(t, units[0].WithLock(t.Context(), m, ovndb.NB, true, func(context.Context, Gate) error { return ran }),
			ran, name)
	}
}

// A server that was kicked while it was down waits for a leader for ever. It learns from the other members' record
// that it was kicked, and leaves.
func TestLeaveRemoved_kicked_while_down(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	gone := units[2]
	id, m := gone.id(ovndb.NB), model(units[0], units...)
	delete(m.Goal, gone.Env.Unit)
	delete(m.Published, gone.Env.Unit)
	require.False(t, gone.observer.RemovedElsewhere(t.Context(), gone.nb(), observe.Cache{}))
	gone.kill(ovndb.NB)
	require.Eventually(t, func() bool { // until it counts as down
		results, err := units[0].Kick(t.Context(), m, kickNB(id))
		require.NoError(t, err)
		return results[0].Outcome == Removed
	}, 20*time.Second, 100*time.Millisecond)
	gone.again(ovndb.NB)
	require.Eventually(t, func() bool {
		return gone.observer.RemovedElsewhere(t.Context(), gone.nb(), observe.Cache{})
	}, 20*time.Second, 50*time.Millisecond)
	_, err := gone.observer.AwaitMember(t.Context(), ovndb.NB, 500*time.Millisecond)
	require.ErrorContains(t, err, "500ms: ")
	require.NoError(t, gone.LeaveRemoved(t.Context(), model(gone, gone), gone.nb()))
	assert.Equal(t, ovndb.Left, gone.nb().Condition)
}

// Clients that another unit's restart has disconnected come to this server. A restart waits under the lock until they
// have settled, but not for ever.
func TestRestart_waits_for_clients(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 3, ovndb.NB)
	u, m := units[1], model(units[1], units...)
	for name, c := range map[string]struct {
		looks  func(n int) ovndb.Clients
		ahead  time.Duration // of the clock, after the third count
		looked int
	}{
		"no clients":        {func(int) ovndb.Clients { return ovndb.Clients{} }, 0, 1},
		"they have come":    {func(n int) ovndb.Clients { return ovndb.Clients{Connected: min(n, 4)} }, 0, 8},
		"they have all":     {func(n int) ovndb.Clients { return ovndb.Clients{Connected: 9, Busy: max(0, 9-n)} }, 0, 9},
		"some never settle": {func(int) ovndb.Clients { return ovndb.Clients{Connected: 9, Busy: 9} }, clientsPatience, 4},
	} {
		looked, ran := 0, false
		u.Clients = func() (map[ovndb.Database]ovndb.Clients, error) {
			looked++
			assert.Equal(t, u.Env.Unit, units[0].record().Holder, name)
			return map[ovndb.Database]ovndb.Clients{ovndb.NB: c.looks(looked)}, nil
		}
		u.Now = func() time.Time {
			if looked > 3 {
				return time.Now().Add(c.ahead)
			}
			return time.Now()
		}
		require.NoError(t, u.WithLock(t.Context(), m, ovndb.NB, true,
			func(context.Context, Gate) error { ran = true; return nil }), name)
		assert.True(t, ran, name)
		assert.Equal(t, c.looked, looked, name)
	}
	u.Clients = func() (map[ovndb.Database]ovndb.Clients, error) { return nil, errors.New("no table") }
	u.Now = time.Now
	require.NoError(t, u.WithLock(t.Context(), m, ovndb.NB, true, allowed))
}
