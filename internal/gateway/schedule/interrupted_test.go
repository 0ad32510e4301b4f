package schedule_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// A run may end after any batch: the next one writes the rest, and changes nothing that was written.
func TestReschedule_finishes_partial_plan(t *testing.T) {
	t.Parallel()
	finished := func(s schedule.State, written int) (judged bool) {
		p := schedule.Reschedule(s, schedule.Options{})
		all := p.Changes
		p.Changes = all[:written]
		done, used := map[string]bool{}, map[string]bool{}
		for _, c := range p.Changes {
			done[c.Group] = true
			for _, candidate := range c.After {
				used[candidate.Chassis] = true
			}
		}
		if len(used) < len(s.Chassis) {
			return false // an empty chassis counts as added and gets its share
		}
		again := schedule.Reschedule(applied(s, p), schedule.Options{})
		require.Len(t, again.Changes, len(all)-written)
		for _, c := range again.Changes {
			require.False(t, done[c.Group], c.Group)
		}
		return true
	}
	judged, tried := 0, instances/2*exploretest.Factor(t)
	for seed := range uint64(tried) {
		r := rand.New(rand.NewPCG(seed, 5))
		gateways := 1 + r.IntN(120)
		if finished(cloud(gateways, 2+r.IntN(12)), r.IntN(gateways+1)) {
			judged++
		}
	}
	t.Logf("%d of %d judged", judged, tried)
	require.Greater(t, judged, tried*4/5)
	for _, written := range []int{100, 3000, 8200} {
		require.True(t, finished(cloud(10_000, 200), written), written)
	}
}

// New gateways do not change the backups of others.
func TestReschedule_new_gateways(t *testing.T) {
	t.Parallel()
	s := cloud(10_000, 200)
	s = applied(s, schedule.Reschedule(s, schedule.Options{}))
	r := rand.New(rand.NewPCG(1, 6))
	fresh := map[string]bool{}
	for i := range s.Groups {
		if r.IntN(12) == 0 {
			fresh[s.Groups[i].Name], s.Groups[i].Candidates = true, nil
		}
	}
	p := schedule.Reschedule(s, schedule.Options{})
	require.Len(t, p.Changes, len(fresh))
	for _, c := range p.Changes {
		require.True(t, fresh[c.Group], c.Group)
	}
}
