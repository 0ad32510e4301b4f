package drift_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

const hold = 2 * time.Minute

// world is the contents of the databases, and agents that observe it, of which one acts.
type world struct {
	t       *testing.T
	now     time.Duration
	chassis map[string]schedule.Chassis
	groups  []schedule.Group
	agents  []*drift.Detector
	acting  int // -1: no agent
	plans   []schedule.Plan
	// given is called with each plan right before the plan is carried out.
	given func(schedule.Plan)
}

func newWorld(t *testing.T, chassis, gateways, agents int) *world {
	t.Helper()
	w := &world{t: t, now: time.Hour, chassis: map[string]schedule.Chassis{}}
	for n := range chassis {
		w.add(n)
	}
	for n := range gateways {
		name := fmt.Sprintf("lrp-%03d", n)
		w.groups = append(w.groups, gateway(name))
	}
	w.apply(schedule.Reschedule(w.state(), schedule.Options{}))
	for range agents {
		w.agents = append(w.agents, &drift.Detector{HoldDown: hold})
	}
	w.passes(hold + time.Second)
	w.plans = nil
	return w
}

func gateway(name string) schedule.Group {
	return schedule.Group{
		Name: name, Storage: schedule.GatewayChassis,
		Ports: []schedule.Port{{Name: name, Router: "r" + name, Network: "net"}},
	}
}

func (w *world) add(n int) {
	name := fmt.Sprintf("c%03d", n)
	w.chassis[name] = schedule.Chassis{Name: name, Hostname: "h", Gateway: true, Networks: []string{"net"}}
}

func (w *world) change(name string, change func(*schedule.Chassis)) {
	if c, found := w.chassis[name]; found {
		change(&c)
		w.chassis[name] = c
	}
}

func (w *world) remove(n int) { delete(w.chassis, fmt.Sprintf("c%03d", n)) }

func (w *world) state() schedule.State {
	s := schedule.State{Groups: slices.Clone(w.groups)}
	for _, c := range w.chassis {
		s.Chassis = append(s.Chassis, c)
	}
	return s
}

func (w *world) apply(p schedule.Plan) {
	for _, c := range p.Changes {
		i := slices.IndexFunc(w.groups, func(g schedule.Group) bool { return g.Name == c.Group })
		w.groups[i].Candidates = c.After
	}
}

// look lets all agents observe, and lets the acting agent do the due work.
func (w *world) look() {
	for i, d := range w.agents {
		d.Observe(w.state(), w.now)
		if !d.Due(w.now) {
			continue
		}
		p := d.Plan(w.state(), drift.All)
		switch {
		case p.Empty():
			d.Done(w.now)
		case i == w.acting:
			w.plans = append(w.plans, p)
			if w.given != nil {
				w.given(p)
			}
			w.apply(p)
		}
	}
}

// run lets time pass, with a look each second.
func (w *world) run(d time.Duration) {
	for end := w.now + d; w.now < end; w.now += time.Second {
		w.look()
	}
}

func TestDetector_rolling_restart(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 20, 60, 1)
	for n := range 20 {
		w.remove(n)
		w.run(hold - time.Second)
		w.add(n)
		w.run(time.Second)
	}
	w.run(3 * hold)
	assert.Empty(t, w.plans)
}

func TestDetector_burst_is_one_plan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6, 30, 1)
	for n := range 3 {
		w.remove(n)
		w.run(20 * time.Second)
	}
	w.add(17)
	w.run(hold - time.Second)
	assert.Empty(t, w.plans, "the last one is held down")
	w.run(4 * hold)
	require.Len(t, w.plans, 1)
	assert.True(t, schedule.Reschedule(w.state(), schedule.Options{}).Empty())
}

func TestDetector_unsettled_chassis(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6, 30, 1)
	w.remove(0)
	for n := 0; len(w.plans) == 0; n++ {
		require.Less(t, n, 25)
		w.remove(9)
		w.run(10 * time.Second)
		w.add(9)
		w.run(10 * time.Second)
	}
	for _, c := range w.plans[0].Changes {
		assert.NotEqual(t, "c009", c.To(), "and gets nothing")
	}
}

// 003-7: a change is found even without an event.
func TestDetector_change_between_agents(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5, 20, 2)
	w.acting = -1
	w.remove(2)
	w.run(10 * hold)
	require.Empty(t, w.plans)
	w.acting = 1
	w.agents[1].Everything(w.now)
	w.run(time.Second)
	require.Len(t, w.plans, 1)
	w.acting = 0
	w.agents[0].Everything(w.now)
	w.run(10 * hold)
	assert.Len(t, w.plans, 1, "the one after it finds it done")
}

// A new agent doesn't know how long a chassis has been away.
func TestDetector_new_agent_waits(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5, 20, 1)
	w.remove(2)
	w.agents[0] = &drift.Detector{HoldDown: hold}
	w.agents[0].Everything(w.now)
	w.run(hold - 10*time.Second)
	w.add(2)
	w.run(3 * hold)
	assert.Empty(t, w.plans)
	w.remove(2)
	w.agents[0] = &drift.Detector{HoldDown: hold}
	w.run(hold + 2*time.Second)
	assert.Len(t, w.plans, 1)
}

// A controller that lags for a moment is alive; one that stays behind nb_cfg is not.
func TestDetector_lagging_controller(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4, 20, 1)
	lags := func(name string, times int, duration time.Duration) {
		for range times {
			w.change(name, func(c *schedule.Chassis) { c.Unresponsive = true })
			w.run(duration)
			w.change(name, func(c *schedule.Chassis) { c.Unresponsive = false })
			w.run(30 * time.Second)
		}
	}
	lags("c001", 20, 5*time.Second)
	w.add(9) // it settles although it lags now and then
	lags("c009", 5, 30*time.Second)
	require.Len(t, w.plans, 1)
	assert.Equal(t, []string{"c009"}, w.plans[0].Added)
}

func TestDetector_concerned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 7, 20, 1)
	w.acting = -1
	short := w.groups[0]
	w.groups[0].Candidates = short.Candidates[:2] // another program removes candidates
	w.agents[0].Observe(w.state(), w.now)
	gone := short.Candidates[0].Chassis
	delete(w.chassis, gone)
	w.agents[0].Observe(w.state(), w.now)
	w.run(hold + 2*time.Second)
	concerned := w.agents[0].Concerned(w.state())
	for _, g := range w.groups {
		named := slices.ContainsFunc(g.Candidates, func(c schedule.Candidate) bool { return c.Chassis == gone })
		assert.Equal(t, named || g.Name == short.Name, concerned[g.Name], g.Name)
	}
}

// 004: a change of the data that ovn-controller reports about its machine counts once it has lasted for the hold-down,
// but not if it is undone before.
func TestDetector_holds_options_down(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(c *schedule.Chassis){
		"bridge mappings":      func(c *schedule.Chassis) { c.Networks = []string{"other"} },
		"availability zones":   func(c *schedule.Chassis) { c.Zones = []string{"az2"} },
		"enable-chassis-as-gw": func(c *schedule.Chassis) { c.Gateway = false },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 6, 20, 1)
			for name := range w.chassis {
				w.change(name, func(c *schedule.Chassis) { c.Zones = []string{"az1"} })
			}
			for i := range w.groups {
				w.groups[i].Zones = []string{"az1"}
			}
			w.run(4 * hold)
			w.plans = nil
			const name = "c001"
			uses := func() bool {
				return slices.ContainsFunc(w.groups, func(g schedule.Group) bool { return slices.Contains(g.Ranked(), name) })
			}
			was := w.chassis[name]
			require.True(t, uses())
			for range 5 { // as during the rollout and rollback of a configuration
				w.change(name, change)
				w.run(hold - 10*time.Second)
				w.chassis[name] = was
				w.run(10 * time.Second)
			}
			w.run(2 * hold)
			require.Empty(t, w.plans)

			w.change(name, change)
			w.run(hold - 10*time.Second)
			require.Empty(t, w.plans, "it is held down")
			w.run(30 * time.Second)
			require.Len(t, w.plans, 1)
			assert.False(t, uses())
			w.chassis[name] = was
			w.run(3 * hold)
			assert.True(t, uses(), "it is used again")
			assert.True(t, schedule.Reschedule(w.state(), schedule.Options{}).Empty())
		})
	}
}

// An ovn-controller that has just begun to lag gets nothing new, but its gateways wait for it until the hold-down is
// over.
func TestDetector_lagging_chassis_keeps_gateways_for_a_while(t *testing.T) {
	t.Parallel()
	unbound, bound := gateway("lrp-1"), gateway("lrp-2")
	unbound.Candidates = []schedule.Candidate{{Chassis: "c000", Priority: 2}, {Chassis: "c001", Priority: 1}}
	bound.Candidates = []schedule.Candidate{{Chassis: "c001", Priority: 2}, {Chassis: "c000", Priority: 1}}
	bound.Ports[0].Active = "c001"
	w := &world{chassis: map[string]schedule.Chassis{}, groups: []schedule.Group{unbound, bound}}
	w.add(0)
	w.add(1)
	d := drift.Detector{HoldDown: hold}
	d.Observe(w.state(), time.Second)
	d.Observe(w.state(), hold+2*time.Second)
	w.change("c000", func(c *schedule.Chassis) { c.Unresponsive = true })
	d.Observe(w.state(), hold+3*time.Second)
	d.Everything(hold + 3*time.Second)
	assert.Empty(t, d.Plan(w.state(), drift.All).Changes)
	d.Observe(w.state(), 2*hold+4*time.Second)
	changes := d.Plan(w.state(), drift.All).Changes
	require.Len(t, changes, 1)
	assert.Equal(t, "lrp-1", changes[0].Group)
	assert.Equal(t, "c001", changes[0].To())
}
