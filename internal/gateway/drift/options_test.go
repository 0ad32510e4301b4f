package drift_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// candidate counts the gateways that have the chassis as a candidate.
func (w *world) candidate(chassis string) (n int) {
	for _, g := range w.groups {
		if slices.ContainsFunc(g.Candidates, func(c schedule.Candidate) bool { return c.Chassis == chassis }) {
			n++
		}
	}
	return n
}

// zoned is a world of six chassis in two zones, in one of which half of the gateways are to be.
func zoned(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, 6, 20, 1)
	for name, c := range w.chassis {
		c.Zones = []string{"az1"}
		if name > "c002" {
			c.Zones = []string{"az2"}
		}
		w.chassis[name] = c
	}
	for i := range w.groups[:10] {
		w.groups[i].Zones = []string{"az1"}
	}
	w.run(4 * hold)
	w.plans = nil
	require.True(t, schedule.Reschedule(w.state(), schedule.Options{}).Empty())
	return w
}

// 004: a change of what ovn-controller reports about its machine counts once it has lasted for the hold-down, and not
// if it is taken back before.
func TestDetector_holds_options_down(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(c *schedule.Chassis){
		"bridge mappings":      func(c *schedule.Chassis) { c.Networks = []string{"other"} },
		"availability zones":   func(c *schedule.Chassis) { c.Zones = []string{"az2"} },
		"enable-chassis-as-gw": func(c *schedule.Chassis) { c.Gateway = false },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := zoned(t)
			const name = "c001"
			was, before := w.chassis[name], w.candidate(name)
			require.Positive(t, before)
			changed := was
			change(&changed)
			for range 5 { // as while a configuration is rolled out and back
				w.chassis[name] = changed
				w.run(hold - 10*time.Second)
				w.chassis[name] = was
				w.run(10 * time.Second)
			}
			w.run(2 * hold)
			require.Empty(t, w.plans)

			w.chassis[name] = changed
			w.run(hold - 10*time.Second)
			require.Empty(t, w.plans, "it is held down")
			w.run(30 * time.Second)
			require.Len(t, w.plans, 1)
			assert.Less(t, w.candidate(name), before)
			for _, g := range w.groups {
				if len(g.Zones) > 0 || what != "availability zones" {
					assert.False(t, slices.ContainsFunc(g.Candidates, func(c schedule.Candidate) bool { return c.Chassis == name }),
						g.Name)
				}
			}
			w.chassis[name] = was
			w.run(3 * hold)
			assert.Positive(t, w.candidate(name), "once it is as it was, it is used again")
			assert.True(t, schedule.Reschedule(w.state(), schedule.Options{}).Empty())
		})
	}
}
