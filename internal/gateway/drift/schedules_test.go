package drift_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/drift"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// passes lets time pass as an agent does: the agent observes when something happens, and when its detector expects a
// plan to be due.
func (w *world) passes(d time.Duration) {
	end := w.now + d
	for w.look(); ; w.look() {
		next := end
		for _, a := range w.agents {
			if at := a.Next(w.now); at > w.now && at < next {
				next = at
			}
		}
		if w.now = next; next == end {
			return
		}
	}
}

// event makes something happen to chassis, to agents, or by another client.
func (w *world) event(r *rand.Rand) {
	n := r.IntN(8)
	switch r.IntN(9) {
	case 0, 1:
		w.remove(n)
	case 2:
		w.add(n)
	case 3:
		w.change(fmt.Sprintf("c%03d", n), func(c *schedule.Chassis) {
			c.Unresponsive, c.Gateway = r.IntN(3) == 0, r.IntN(4) > 0
		})
	case 4: // another client removes candidates
		if g := &w.groups[r.IntN(len(w.groups))]; len(g.Candidates) > 1 {
			g.Candidates = g.Candidates[:1]
		}
	case 5: // Neutron writes its own choice of the existing chassis
		g := &w.groups[r.IntN(len(w.groups))]
		g.Candidates = nil
		for _, i := range r.Perm(8) {
			if name := fmt.Sprintf("c%03d", i); w.chassis[name].Gateway && len(g.Candidates) < 5 {
				g.Candidates = append(g.Candidates, schedule.Candidate{Chassis: name, Priority: 5 - len(g.Candidates)})
			}
		}
	case 6: // Neutron makes a gateway
		w.groups = append(w.groups, gateway(fmt.Sprintf("new-%03d", len(w.groups))))
	case 7:
		w.acting = -1
	case 8:
		w.acting = r.IntN(2)
		if r.IntN(2) == 0 {
			w.agents[w.acting] = &drift.Detector{HoldDown: hold}
		}
		w.agents[w.acting].Everything(w.now)
	}
}

// played is the number of schedules that `go test` plays; EXPLORE multiplies it.
const played = 1000

// Chassis come, go, lag and change, Neutron writes, agents hand over, start again and miss events. In the end each
// gateway has the right candidates. Agents act once on each event, and on nothing else.
func TestDetector_random_schedules(t *testing.T) {
	t.Parallel()
	reordered, acted := 0, 0
	for seed := range played * exploretest.Factor(t) {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		w := newWorld(t, 3+r.IntN(4), 2+r.IntN(4), 2)
		const events = 6
		for range events {
			w.event(r)
			w.passes(time.Duration(r.IntN(200)) * time.Second)
		}
		if w.acting < 0 {
			w.acting = 0
			w.agents[0].Everything(w.now)
		}
		w.passes(4 * hold)
		require.LessOrEqual(t, len(w.plans), events+1, "seed %d", seed)
		acted += len(w.plans)

		// A plan covers only what the events concern. A complete plan may order the backups of other gateways more evenly,
		// and may give a share to a chassis that no group names since Neutron wrote. Nothing else may be left.
		left := schedule.Reschedule(w.state(), schedule.Options{})
		named := map[string]bool{}
		for _, g := range w.groups {
			for _, name := range chassisOf(g.Candidates) {
				named[name] = true
			}
		}
		for _, c := range left.Changes {
			require.Equal(t, c.From(), c.To(), "seed %d: %+v", seed, c)
			require.Len(t, c.After, len(c.Before), "seed %d: %+v", seed, c)
			for _, name := range chassisOf(c.After) {
				require.True(t, !named[name] || slices.Contains(chassisOf(c.Before), name), "seed %d: %s in %+v", seed, name, c)
			}
		}
		done := len(w.plans)
		w.passes(3 * hold)
		require.Len(t, w.plans, done, "seed %d: nothing happens, and something is done", seed)

		// The next agent that takes over plans for everything: it makes just these changes, once.
		w.acting = 1 - w.acting
		w.agents[w.acting].Everything(w.now)
		w.passes(3 * hold)
		require.Empty(t, schedule.Reschedule(w.state(), schedule.Options{}).Changes, "seed %d", seed)
		if left.Empty() {
			require.Len(t, w.plans, done, "seed %d: there was nothing to do", seed)
		} else {
			reordered++
			require.Len(t, w.plans, done+1, "seed %d", seed)
		}
	}
	require.Greater(t, acted, played, "this test can fail")
	t.Logf("%d plans; in %d schedules backups were ordered anew by the next that took over", acted, reordered)
}

// 001-2: a cordoned chassis gets no gateway and becomes no candidate. It may keep what it has.
func TestDetector_cordoned_chassis(t *testing.T) {
	t.Parallel()
	planned, waited := 0, 0
	for seed := range uint64(100 * exploretest.Factor(t)) {
		r := rand.New(rand.NewPCG(seed, 9))
		w := newWorld(t, 3+r.IntN(4), 2+r.IntN(4), 2)
		cordoned := func(name string) bool { return w.chassis[name].Cordoned }
		w.given = func(p schedule.Plan) {
			planned++
			for _, c := range p.Changes {
				before := chassisOf(c.Before)
				for _, name := range chassisOf(c.After) {
					require.True(t, !cordoned(name) || slices.Contains(before, name), "seed %d: %s in %+v", seed, name, c)
				}
				if cordoned(c.To()) { // it was first, or all before it are gone, so that OVN itself has moved the traffic there
					for _, name := range before[:slices.Index(before, c.To())] {
						require.NotContains(t, chassisOf(c.After), name, "seed %d: %+v", seed, c)
					}
				}
			}
		}
		for range 8 {
			w.event(r)
			w.change(fmt.Sprintf("c%03d", r.IntN(8)), func(c *schedule.Chassis) { // even a new chassis
				c.Cordoned = r.IntN(2) == 0
				waited++
			})
			w.passes(time.Duration(r.IntN(200)) * time.Second)
		}
		w.acting = 0
		w.agents[0].Everything(w.now)
		w.passes(4 * hold)
	}
	require.Greater(t, planned, 100, "this test can fail")
	require.Positive(t, waited)
}

func chassisOf(candidates []schedule.Candidate) (names []string) {
	for _, c := range candidates {
		names = append(names, c.Chassis)
	}
	return names
}
