package agent

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/config"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Time spent waiting for a server does not lengthen the pause.
func TestPauseAfterPass_limits_share_of_processor(t *testing.T) {
	t.Parallel()
	const never = -1
	assert.Equal(t, passPause, pauseAfterPass(0, never))
	assert.Equal(t, passPause, pauseAfterPass(time.Millisecond, never))
	assert.Equal(t, 20*time.Second, pauseAfterPass(400*time.Millisecond, never))
	assert.Equal(t, 5*time.Second, pauseAfterPass(400*time.Millisecond, 5*time.Second))
	assert.Equal(t, 20*time.Second, pauseAfterPass(400*time.Millisecond, time.Minute))
	assert.Equal(t, passPause, pauseAfterPass(400*time.Millisecond, 0))
}

func TestShortened_keeps_first_reasons(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"a", "b"}, shortened([]string{"a", "b"}))
	assert.Equal(t, []string{"a", "b", "c", "d", "e", "and 2 more"},
		shortened([]string{"a", "b", "c", "d", "e", "f", "g"}))
}

func TestNeedsPass_same_record_only_if_work_is_left(t *testing.T) {
	t.Parallel()
	g := new(gateways)
	assert.True(t, g.needsPass("a"))
	assert.False(t, g.needsPass("a"))
	g.missed = true
	assert.True(t, g.needsPass("a"))
	g.missed = false
	assert.True(t, g.needsPass("b"))
}

func TestWanted(t *testing.T) {
	t.Parallel()
	options := config.Config{}
	wants := func(mode config.Mode, ids map[string]string) []*work {
		live := options
		live.Mode = mode
		return wanted(live, cloud(ids, 0, 0, "c2"), func(string) bool { return false },
			[]schedule.Change{{Group: "foreign"}}, false)
	}
	note := maintenance.Note{By: "a test"}
	cordon := maintenance.CordonHosting("c2", note, nil).Set
	stays := maintenance.CordonHosting("c2", note, []string{"lrp"}).Set
	drain := maintenance.Begin("c1", note, maintenance.Limits{})
	undrain := maintenance.BeginUndrain("c1", maintenance.Drain{}, note)
	assert.Empty(t, wants(config.On, nil))
	assert.Equal(t, []*work{continuation}, wants(config.Advise, drain.Set))
	assert.Empty(t, wants(config.On, undrain.Set))
	assert.Equal(t, []*work{demotion}, wants(config.On, cordon))
	assert.Empty(t, wants(config.On, stays))
	assert.Empty(t, wants(config.Advise, cordon))
	options.CordonNew = true
	assert.Equal(t, []*work{admission}, wants(config.On, nil), "new chassis are cordoned")
	assert.Empty(t, wants(config.Advise, nil))
	all := wanted(config.Config{Mode: config.On}, drainedCloud(7, 7, "c1"), func(string) bool { return true },
		[]schedule.Change{{Group: "lrp"}}, true)
	assert.Equal(t, []*work{continuation, endOfRuns, rescheduling}, all)
}

func TestGateways_execute_after_failure_waits_for_retry(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	g := a.gateways
	g.retry = *now + retryPause
	for next, again := range map[time.Duration]time.Duration{0: g.retry, *now + time.Second: *now + time.Second} {
		x := turn{acts: true, inventory: drainedCloud(7, 7, "c1"), work: []*work{demotion}, next: next}
		assert.Equal(t, again, g.execute(t.Context(), x))
	}
}

func TestGateways_takeover_during_pass_causes_another(t *testing.T) {
	t.Parallel()
	a, _ := newTestAgent(t)
	g := a.gateways
	assert.False(t, g.becameLeader(), "it does not act")
	acts(a)
	assert.False(t, g.becameLeader(), "its own wake-up covers that")
	g.missed = true
	assert.True(t, g.becameLeader())
}

func TestOwns(t *testing.T) {
	t.Parallel()
	candidate := map[string]ovsdb.CandidateRow{"c": {UUID: "c", Chassis: "c1", Priority: 1}}
	inv := gateway.BuildInventory(ovsdb.Northbound{GatewayChassis: candidate, RouterPorts: []ovsdb.LogicalRouterPort{
		{UUID: "1", Name: "own", GatewayChassis: []string{"c"}},
		{
			UUID: "2", Name: "neutrons", GatewayChassis: []string{"c"},
			ExternalIDs: map[string]string{"neutron:router_name": "r"},
		},
	}}, ovsdb.Southbound{})
	g := new(gateways)
	owned := func(mode config.Mode, neutrons bool) (all []string) {
		owns := g.owner(config.Config{Mode: mode, NeutronGateways: neutrons}, inv)
		for _, key := range []string{"own", "neutrons"} {
			if owns(key) {
				all = append(all, key)
			}
		}
		return all
	}
	assert.Empty(t, owned(config.Advise, true))
	assert.Equal(t, []string{"own"}, owned(config.On, false))
	assert.Equal(t, []string{"own", "neutrons"}, owned(config.On, true))
	for n := range 2 {
		group := schedule.Group{Name: "neutrons", Candidates: []schedule.Candidate{{Chassis: "c1", Priority: 1}}}
		g.undone.Wrote(group, nil)
		group.Candidates = nil
		g.undone.Observe([]schedule.Group{group}, nil, time.Duration(1+n)*time.Minute)
	}
	assert.Equal(t, []string{"own"}, owned(config.On, true))
}

// 001-2: a chassis that was cordoned after the observation gets no gateway.
func TestPlan_excludes_chassis_cordoned_since_observation(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	g := a.gateways
	g.detector.HoldDown = time.Minute
	state := schedule.State{Groups: []schedule.Group{{
		Name: "lrp", Storage: schedule.GatewayChassis, Ports: []schedule.Port{{Name: "lrp", Router: "r", Network: "net"}},
		Candidates: []schedule.Candidate{{Chassis: "c1", Priority: 1}},
	}}}
	for _, name := range []string{"c1", "c2", "c3"} {
		state.Chassis = append(state.Chassis, schedule.Chassis{Name: name, Gateway: true, Networks: []string{"net"}})
	}
	g.detector.Observe(state, *now)
	*now += time.Minute
	g.detector.Observe(state, *now)
	planned := func() (names []string) {
		for _, change := range g.plan(state, drift.All).Changes {
			for _, c := range change.After {
				names = append(names, c.Chassis)
			}
		}
		return names
	}
	assert.ElementsMatch(t, []string{"c1", "c2", "c3"}, planned())
	state.Chassis[2].Cordoned = true
	assert.Equal(t, []string{"c1", "c2"}, planned())
}

// A pass over a large cloud keeps the servers so busy that the unit may not act for a moment, each time. That is no
// reason for another pass, or to abandon drains.
func TestGateways_pass_that_delays_lease_still_counts(t *testing.T) {
	t.Parallel()
	for name, during := range map[string]bool{"until all is read": false, "for longer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, now := newTestAgent(t)
			g, p := a.gateways, simulateDrains(a)
			acts(a)
			value, _ := a.guard()
			g.needsPass(value)
			g.acted = value
			p.Left = 1
			g.pass(t.Context(), reading{inventory: drainedCloud(7, 7, "c1")})
			confirm := func() {
				a.updateElection(func(e *lease.Election, now time.Duration) { e.ObserveRecord(value, now) })
				a.step()
			}
			reads := 0
			for again := true; again && reads < 9; reads++ {
				*now += 10 * time.Second
				a.step()
				_, ok := a.guard()
				require.False(t, ok, "it does not act while it reads")
				if during {
					p.closing = confirm
				} else {
					confirm()
				}
				next := g.pass(t.Context(), reading{inventory: drainedCloud(7, 7, "c1")})
				again = len(g.wake) > 0 || next != 0 && next <= *now
			}
			assert.Equal(t, 1, reads)
			assert.Equal(t, 1, p.steps)
			assert.Len(t, g.drains.status(*now), 1)
		})
	}
}

// R17: the reads themselves may interrupt the lease.
func TestWait_nothing_shortens_pause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := make(simulatedEvents, 1)
		g := &gateways{wake: make(chan struct{}, 1)}
		for _, wake := range []chan struct{}{g.wake, f} {
			begun := time.Now()
			wake <- struct{}{}
			require.NoError(t, g.wait(t.Context(), f, 20*time.Second, nil))
			assert.Equal(t, 20*time.Second, time.Since(begun))
		}
		begun := time.Now()
		require.NoError(t, g.wait(t.Context(), f, time.Second, time.After(time.Minute)))
		assert.Equal(t, time.Minute, time.Since(begun))
	})
}

// simulatedEvents signals changes.
type simulatedEvents chan struct{}

func (f simulatedEvents) Changed() <-chan struct{}            { return f }
func (f simulatedEvents) Lost(ovndb.Database) <-chan struct{} { return nil }
