package schedule_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// names are the chassis of candidates, best first.
func names(candidates []schedule.Candidate) []string {
	return schedule.Group{Candidates: candidates}.Ranked()
}

// The others wait for a master that they hear, though its ovn-controller is dead.
func TestReschedule_bound_nowhere(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: []schedule.Chassis{
		chassis("c1", "provnet1"), chassis("c2", "provnet1"),
		chassis("c3", "provnet1"),
	}}
	s.Chassis[0].Unresponsive = true
	s.Groups = []schedule.Group{
		bind(hosted(0, "c2", "c3", "c1"), "c2"), hosted(1, "c1", "c2", "c3"), hosted(2, "c1"),
		bind(hosted(3, "c1", "c3", "c2"), "c1"),
	}
	p := schedule.Reschedule(s, schedule.Options{})
	assert.Zero(t, p.Moves(), "nothing works there")
	after := applied(s, p)
	assert.Equal(t, "c2", top(after.Groups[1].Candidates))
	assert.NotEqual(t, "c1", top(after.Groups[2].Candidates))
	assert.Equal(t, "c1", top(after.Groups[3].Candidates), "it works there: its flows stay")
	assert.Contains(t, document.Plan(p), "not bound to any chassis: ovn-controller on c1 is not responding")
	assert.True(t, schedule.Reschedule(after, schedule.Options{}).Empty())

	for i := range s.Groups { // where nothing is known to be anywhere, there is nothing to wake
		s.Groups[i] = bind(s.Groups[i], "")
	}
	assert.Equal(t, "c1", top(applied(s, schedule.Reschedule(s, schedule.Options{})).Groups[1].Candidates))
}

// A move to where the gateway works already interrupts nothing.
func TestRebalance_counts_interruptions(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: []schedule.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1")}}
	s.Groups = []schedule.Group{bind(hosted(0, "c1", "c2"), "c2"), bind(hosted(1, "c1", "c2"), "c2")}
	p := schedule.Rebalance(s, schedule.Options{})
	require.Len(t, p.Changes, 1)
	assert.Zero(t, p.Moves())
}

// Valid hosts keep their gateways, also if they are backups of dead masters.
func TestG1_reschedule_interrupts_nothing(t *testing.T) {
	for _, scheduler := range []schedule.Scheduler{schedule.LeastLoaded, schedule.Random} {
		t.Run(string(scheduler), func(t *testing.T) {
			each(t, func(t *testing.T, r *rand.Rand, s schedule.State) {
				t.Helper()
				known := byName(s)
				dead := map[string][]string{}
				for i, g := range s.Groups {
					valid := slices.DeleteFunc(slices.Clone(g.Candidates),
						func(c schedule.Candidate) bool { return !mayHost(known[c.Chassis], g) })
					if len(valid) == 0 || r.IntN(4) == 0 {
						continue
					}
					slices.SortFunc(valid, func(a, b schedule.Candidate) int { return b.Priority - a.Priority })
					rank := r.IntN(len(valid))
					dead[g.Name] = names(valid[:rank])
					s.Groups[i] = bind(g, valid[rank].Chassis)
				}
				p := schedule.Reschedule(s, options(scheduler, 1))
				assert.Zero(t, p.Moves())
				for _, c := range p.Changes {
					if c.Ports[0].Active == "" {
						continue
					}
					after := slices.DeleteFunc(names(c.After), func(name string) bool { return slices.Contains(dead[c.Group], name) })
					require.NotEmpty(t, after)
					assert.Equal(t, c.Ports[0].Active, after[0], c)
				}
				again := schedule.Reschedule(applied(s, p), options(scheduler, 2))
				assert.Empty(t, again.Changes)
			})
		})
	}
}
