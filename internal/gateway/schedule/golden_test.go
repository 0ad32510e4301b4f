package schedule_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

var writeGolden = flag.Bool("write-golden", false,
	"write testdata/marked-neutron.txt anew: only for a change of the plans that is meant")

// markedCloud is a cloud of Neutron alone in which every gateway chassis has its mark: what the planner was first
// written for.
func markedCloud(r *rand.Rand) schedule.State {
	s := anyState(r)
	for i := range s.Chassis {
		s.Chassis[i].Gateway = true
	}
	names := []string{"", "c0", "c1", "c2"}
	if r.IntN(2) == 0 { // nothing is bound
		return s
	}
	for i, g := range s.Groups {
		on := names[r.IntN(len(names))]
		if len(g.Candidates) > 0 && r.IntN(4) > 0 {
			on = top(g.Candidates)
		}
		for p := range g.Ports {
			s.Groups[i].Ports[p].Active = on
		}
	}
	return s
}

// planLine is the changes of a plan, in one line.
func planLine(p schedule.Plan) string {
	var b strings.Builder
	for _, c := range p.Changes {
		fmt.Fprintf(&b, " |%s", c.Group)
		for _, x := range c.After {
			fmt.Fprintf(&b, " %s=%d", x.Chassis, x.Priority)
		}
		if c.Interrupts {
			b.WriteString(" interrupts")
		}
	}
	for _, f := range p.Blocked {
		fmt.Fprintf(&b, " |%s blocked", f.Subject.Name)
	}
	return b.String()
}

// The plans of marked Neutron clouds are as before owners, sets of networks and kinds of groups.
func TestPlans_golden_marked_neutron(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for seed := range uint64(60) {
		s := markedCloud(rand.New(rand.NewPCG(seed, 37)))
		mended := applied(s, schedule.Reschedule(s, schedule.Options{})) // a drain puts what lacks the network behind now
		for name, p := range []schedule.Plan{
			schedule.Reschedule(s, options(schedule.LeastLoaded, 1)), schedule.Reschedule(s, options(schedule.Random, 1)),
			schedule.Rebalance(s, schedule.Options{}), schedule.Rebalance(s, schedule.Options{
				AllowNewCandidates: true,
				MaxMoves:           2,
			}),
			schedule.Drain(mended, "c0", nil), schedule.Demote(mended, "c0",
				nil), schedule.Clear(mended.WithCordon("c0", true), "c0"),
		} {
			fmt.Fprintf(&b, "%d %d %s%s\n", seed, name, p.Operation, planLine(p))
		}
	}
	file := "testdata/marked-neutron.txt"
	if *writeGolden {
		require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	got, were := strings.Split(b.String(), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(got), len(were)) {
		require.Equal(t, were[i], got[i], "line %d", i+1)
	}
	assert.Len(t, got, len(were))
}
