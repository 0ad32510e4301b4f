package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// board is the databases, with Neutron as another client, and the journal of the drain of c0.
type board struct {
	state schedule.State
	ranks map[string]schedule.AppliedChange
	// wanted has the last candidates that Neutron wrote for each gateway.
	wanted map[string][]schedule.Candidate
	made   int
}

func (b *board) neutron(r *rand.Rand) {
	var names []string
	for _, c := range r.Perm(len(b.state.Chassis))[:1+r.IntN(len(b.state.Chassis))] {
		names = append(names, b.state.Chassis[c].Name)
	}
	b.state.Groups = slices.Clone(b.state.Groups)
	n := len(b.state.Groups)
	switch what := r.IntN(4); {
	case what == 0 || n == 0:
		b.made++
		g := hosted(100+b.made, names...)
		b.state.Groups = append(b.state.Groups, g)
		b.wanted[g.Name] = g.Candidates
	case what == 1:
		i := r.IntN(n)
		delete(b.wanted, b.state.Groups[i].Name)
		b.state.Groups = slices.Delete(b.state.Groups, i, i+1)
	default:
		i := r.IntN(n)
		b.state.Groups[i].Candidates = hosted(0, names...).Candidates
		b.wanted[b.state.Groups[i].Name] = b.state.Groups[i].Candidates
	}
}

// write applies a plan as one transaction: only if its groups have not changed.
func (b *board) write(from schedule.State, p schedule.Plan) bool {
	now := map[string]schedule.Group{}
	for _, g := range b.state.Groups {
		now[g.Name] = g
	}
	for _, g := range from.Groups {
		if slices.ContainsFunc(p.Changes, func(c schedule.Change) bool { return c.Group == g.Name }) &&
			!slices.Equal(now[g.Name].Candidates, g.Candidates) {
			return false
		}
	}
	for _, c := range p.Changes {
		was, again := b.ranks[c.Group]
		if !again || !slices.Equal(was.After, c.Before) { // Neutron's last write counts as the state before
			was = schedule.AppliedChange{Group: c.Group, Before: c.Before}
		}
		was.After = c.After
		b.ranks[c.Group] = was
	}
	b.state = applied(b.state, p)
	return true
}

// Neutron writes between reading and writing. No candidate that it wanted is deleted, in the end the node is first for
// no gateway, and the undrain restores the last ranks that Neutron wanted there.
func TestDrain_beside_neutron(t *testing.T) {
	t.Parallel()
	refused := 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 15))
		b := &board{
			state: small(r).WithCordon("c0", true), ranks: map[string]schedule.AppliedChange{},
			wanted: map[string][]schedule.Candidate{},
		}
		for _, g := range b.state.Groups {
			b.wanted[g.Name] = g.Candidates
		}
		drain := func(interrupted int) bool {
			from := b.state
			p := schedule.Drain(from, "c0", nil)
			for range interrupted {
				b.neutron(r)
			}
			return b.write(from, p)
		}
		for range 10 {
			if !drain(r.IntN(3)) {
				refused++
			}
		}
		require.True(t, drain(0), "seed %d", seed)
		at := fmt.Sprintf("seed %d: %+v", seed, b.state)
		require.True(t, schedule.Drain(b.state, "c0", nil).Empty(), at)
		require.Len(t, b.state.Groups, len(b.wanted), at)
		for _, g := range b.state.Groups {
			names := g.Ranked()
			for _, c := range b.wanted[g.Name] {
				require.Contains(t, names, c.Chassis, at)
			}
			require.NotEqual(t, "c0", names[0], "%s: %v, %s", g.Name, names, at)
		}
		b.state = b.state.WithCordon("c0", false)
		var ranks []schedule.AppliedChange
		for _, was := range b.ranks {
			ranks = append(ranks, was)
		}
		p := schedule.Undrain(b.state, "c0", ranks)
		require.True(t, b.write(b.state, p), at)
		for _, g := range b.state.Groups {
			if top(b.wanted[g.Name]) == "c0" {
				require.Equal(t, "c0", g.Ranked()[0], "%s: Neutron wanted %v, %s", g.Name, b.wanted[g.Name], at)
			}
		}
	}
	require.Greater(t, refused, 500, "it really was interrupted")
}
