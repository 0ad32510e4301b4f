package gateway_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

// taken is what a journal keeps of a plan.
func taken(p gateway.Plan) (all []gateway.Taken) {
	for _, c := range p.Changes {
		all = append(all, gateway.Taken{Group: c.Group, Storage: c.Storage, Before: c.Before, After: c.After})
	}
	return all
}

func TestRebalancingIsTakenBackWholly(t *testing.T) {
	t.Parallel()
	s := gateway.State{
		Chassis: []gateway.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")},
		Groups:  many(0, 9, "c1", "c2", "c3"),
	}
	p := gateway.Rebalance(s, gateway.Options{})
	require.Equal(t, 6, p.Moves())
	after := applied(s, p)
	back := gateway.Revert(after, gateway.Options{}, taken(p))
	assert.Equal(t, 6, back.Moves())
	assert.Empty(t, back.Problems)
	assert.Equal(t, s, applied(after, back), "priorities and all")
	assert.True(t, gateway.Revert(s, gateway.Options{}, taken(p)).Empty(), "what is back stays")

	bounded := gateway.Revert(after, gateway.Options{MaxMoves: 2}, taken(p))
	assert.Equal(t, 2, bounded.Moves())
	assert.Len(t, bounded.Problems, 4)
}

func TestRevertFollowsTheRulesOfTheOthers(t *testing.T) {
	t.Parallel()
	all := []gateway.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")}
	without := func(change func(c *gateway.Chassis)) []gateway.Chassis {
		some := slices.Clone(all)
		change(&some[0])
		return some
	}
	name := hosted(0).Name
	for title, x := range map[string]struct {
		chassis       []gateway.Chassis
		before, after []string
		now           []string
		options       gateway.Options
		// want is the order in the end; nil is that nothing changes.
		want    []string
		problem string
	}{
		"a master that is a candidate comes back": {before: []string{"c1", "c2"}, after: []string{"c2", "c1"}, want: []string{"c1", "c2"}},
		"somebody has changed it since": {
			before: []string{"c1", "c2"}, after: []string{"c2", "c1"}, now: []string{"c3", "c2", "c1"},
			problem: "somebody has changed its candidates since then; it stays as it is",
		},
		"a master that is gone": {
			chassis: all[1:], before: []string{"c1", "c2"}, after: []string{"c2", "c1"}, problem: "c1 can't host it any more: there is no such chassis",
		},
		"a master whose ovn-controller is silent": {
			chassis: without(func(c *gateway.Chassis) { c.Silent = true }), before: []string{"c1", "c2"}, after: []string{"c2", "c1"},
			problem: "c1 takes nothing new",
		},
		"a master that is no candidate any more": {
			before: []string{"c1", "c2"}, after: []string{"c3", "c2"},
			problem: "c1 hosted it before and is no candidate of it now; allow new candidates to take it back",
		},
		"the same where new candidates are allowed": {
			before: []string{"c1", "c2"}, after: []string{"c3", "c2"}, options: gateway.Options{AllowNewCandidates: true}, want: []string{"c1", "c2", "c3"},
		},
		"a backup that lost its flag": {
			chassis: without(func(c *gateway.Chassis) { c.Gateway = false }), before: []string{"c3", "c1", "c2"}, after: []string{"c2", "c3", "c1"},
			want: []string{"c3", "c2"}, problem: "c1 can't host it any more: it has no enable-chassis-as-gw",
		},
		"candidates that were only added stay": {before: []string{"c1"}, after: []string{"c1", "c2", "c3"}},
		"nobody hosted it":                     {before: nil, after: []string{"c1"}, problem: "it had no candidates before; it stays as it is"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			if x.chassis == nil {
				x.chassis = all
			}
			if x.now == nil {
				x.now = x.after
			}
			s := gateway.State{Chassis: x.chassis, Groups: []gateway.Group{hosted(0, x.now...)}}
			was := gateway.Taken{Group: name, Before: hosted(0, x.before...).Candidates, After: hosted(0, x.after...).Candidates}
			p := gateway.Revert(s, x.options, []gateway.Taken{was})
			if x.want == nil {
				assert.Empty(t, p.Changes)
			} else {
				require.Len(t, p.Changes, 1)
				assert.Equal(t, hosted(0, x.want...).Candidates, p.Changes[0].After)
			}
			if x.problem == "" {
				assert.Empty(t, p.Problems)
			} else {
				assert.Contains(t, p.Problems, gateway.Problem{Where: name, Text: x.problem})
			}
		})
	}
	p := gateway.Revert(gateway.State{Chassis: all}, gateway.Options{}, []gateway.Taken{{Group: name}})
	assert.Equal(t, []gateway.Problem{{Where: name, Text: "there is no such gateway any more"}}, p.Problems)
	s := gateway.State{Chassis: all, Groups: []gateway.Group{hosted(0, "c2", "c1")}}
	p = gateway.Revert(s, gateway.Options{Networks: []string{"physnet7"}}, []gateway.Taken{{
		Group: name, Before: hosted(0, "c1", "c2").Candidates, After: hosted(0, "c2", "c1").Candidates,
	}})
	assert.Empty(t, p.Changes, "of another network than was asked for")
}

// The backup that was swapped for one on a chassis that was added comes back.
func TestSharesOfAnAddedChassisAreTakenBack(t *testing.T) {
	t.Parallel()
	s := gateway.State{Groups: many(0, 12, "c1", "c2", "c3", "c4", "c5")}
	for _, name := range []string{"c1", "c2", "c3", "c4", "c5", "c6"} {
		s.Chassis = append(s.Chassis, chassis(name, "provnet1"))
	}
	p := gateway.Reschedule(s, gateway.Options{})
	assert.Equal(t, []string{"c6"}, p.Added)
	after := applied(s, p)
	assert.Equal(t, s, applied(after, gateway.Revert(after, gateway.Options{}, taken(p))))
}

// Whatever there is: no gateway loses a candidate that it needs, a master moves only to
// a candidate that lives, and there is nothing to take back twice.
func TestRevertKeepsToTheRulesWhateverThereIs(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, s gateway.State) {
		t.Helper()
		p := gateway.Reschedule(s, gateway.Options{})
		if r.IntN(2) == 0 {
			s = applied(s, p)
			p = gateway.Rebalance(s, gateway.Options{AllowNewCandidates: r.IntN(2) == 0})
		}
		s = applied(s, p)
		for i := range s.Chassis { // time goes by
			s.Chassis[i].Silent = s.Chassis[i].Silent || r.IntN(9) == 0
			s.Chassis[i].Gateway = s.Chassis[i].Gateway && r.IntN(9) > 0
		}
		back := gateway.Revert(s, gateway.Options{}, taken(p))
		known, groups := byName(s), map[string]gateway.Group{}
		for _, g := range s.Groups {
			groups[g.Name] = g
		}
		for _, c := range back.Changes {
			if c.Interrupts {
				assert.True(t, slices.ContainsFunc(c.Before, func(b gateway.Candidate) bool { return b.Chassis == c.To() }), c)
				assert.False(t, known[c.To()].Silent, c)
			}
			may := func(x gateway.Candidate) bool { return mayHost(known[x.Chassis], groups[c.Group]) }
			valid := 0
			for _, b := range c.Before {
				if may(b) {
					valid++
				}
			}
			assert.GreaterOrEqual(t, len(c.After), min(valid, gateway.MaxCandidates), c)
			for _, a := range c.After {
				assert.True(t, may(a), c)
			}
		}
		assert.Empty(t, gateway.Revert(applied(s, back), gateway.Options{}, taken(p)).Changes)
	})
}
