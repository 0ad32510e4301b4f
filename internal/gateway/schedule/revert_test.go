package schedule_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// taken is what a journal keeps of a plan.
func taken(p schedule.Plan) (all []schedule.AppliedChange) {
	for _, c := range p.Changes {
		all = append(all, schedule.AppliedChange{Group: c.Group, Storage: c.Storage, Before: c.Before, After: c.After})
	}
	return all
}

func TestRevert_rebalance(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")},
		Groups:  many(0, 9, "c1", "c2", "c3"),
	}
	p := schedule.Rebalance(s, schedule.Options{})
	require.Equal(t, 6, p.Moves())
	after := applied(s, p)
	back := schedule.Revert(after, schedule.Options{}, taken(p))
	assert.Equal(t, 6, back.Moves())
	assert.Empty(t, back.Findings)
	assert.Equal(t, s, applied(after, back), "priorities and all")
	assert.True(t, schedule.Revert(s, schedule.Options{}, taken(p)).Empty(), "what is back stays")

	bounded := schedule.Revert(after, schedule.Options{MaxMoves: 2}, taken(p))
	assert.Equal(t, 2, bounded.Moves())
	assert.Len(t, bounded.Findings, 4)
	for _, f := range bounded.Findings {
		assert.Equal(t, "info MOVES_USED_UP "+f.Subject.Name+" Count=2", findingtest.Brief(f))
	}
}

func TestRevert(t *testing.T) {
	t.Parallel()
	all := []schedule.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")}
	without := func(change func(c *schedule.Chassis)) []schedule.Chassis {
		some := slices.Clone(all)
		change(&some[0])
		return some
	}
	name := hosted(0).Name
	for title, x := range map[string]struct {
		chassis       []schedule.Chassis
		before, after []string
		now           []string
		options       schedule.Options
		// want is the order in the end; nil is that nothing changes.
		want    []string
		problem string
	}{
		"master is candidate": {
			before: []string{"c1", "c2"}, after: []string{"c2", "c1"},
			want: []string{"c1", "c2"},
		},
		"changed by another client": {
			before: []string{"c1", "c2"}, after: []string{"c2", "c1"}, now: []string{"c3", "c2", "c1"},
			problem: "CANDIDATES_CHANGED NAME",
		},
		"master gone": {
			chassis: all[1:], before: []string{"c1", "c2"}, after: []string{
				"c2",
				"c1",
			}, problem: "GATEWAY_NOT_RESTORED NAME Value=c1 Detail=c1 can no longer host it: the chassis does not exist",
		},
		"master unresponsive": {
			chassis: without(func(c *schedule.Chassis) { c.Unresponsive = true }), before: []string{
				"c1",
				"c2",
			}, after: []string{"c2", "c1"},
			problem: "GATEWAY_NOT_RESTORED NAME Value=c1 Detail=c1 is unschedulable: " +
				"its ovn-controller is not responding (nb_cfg is stale)",
		},
		"master no candidate": {
			before: []string{"c1", "c2"}, after: []string{"c3", "c2"},
			problem: "NEW_CANDIDATE_NEEDED NAME Value=c1",
		},
		"master no candidate, new ones allowed": {
			before: []string{"c1", "c2"}, after: []string{
				"c3",
				"c2",
			}, options: schedule.Options{AllowNewCandidates: true}, want: []string{"c1", "c2", "c3"},
		},
		"backup without mark": {
			chassis: without(func(c *schedule.Chassis) { c.Gateway = false }), before: []string{
				"c3", "c1",
				"c2",
			}, after: []string{"c2", "c3", "c1"},
			want:    []string{"c3", "c2"},
			problem: "GATEWAY_NOT_RESTORED NAME Value=c1 Detail=c1 can no longer host it: it has no enable-chassis-as-gw",
		},
		"candidates only added": {before: []string{"c1"}, after: []string{"c1", "c2", "c3"}},
		"no candidates before": {
			before: nil, after: []string{"c1"},
			problem: "GATEWAY_NOT_RESTORED NAME Detail=it had no candidates",
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			if x.chassis == nil {
				x.chassis = all
			}
			if x.now == nil {
				x.now = x.after
			}
			s := schedule.State{Chassis: x.chassis, Groups: []schedule.Group{hosted(0, x.now...)}}
			was := schedule.AppliedChange{
				Group: name, Before: hosted(0, x.before...).Candidates,
				After: hosted(0, x.after...).Candidates,
			}
			p := schedule.Revert(s, x.options, []schedule.AppliedChange{was})
			if x.want == nil {
				assert.Empty(t, p.Changes)
			} else {
				require.Len(t, p.Changes, 1)
				assert.Equal(t, hosted(0, x.want...).Candidates, p.Changes[0].After)
			}
			if x.problem == "" {
				assert.Empty(t, p.Findings)
			} else {
				assert.Contains(t, findingtest.All(p.Findings), "info "+strings.Replace(x.problem, "NAME", name, 1))
			}
		})
	}
	p := schedule.Revert(schedule.State{Chassis: all}, schedule.Options{}, []schedule.AppliedChange{{Group: name}})
	assert.Equal(t, []string{"info GATEWAY_GONE " + name}, findingtest.All(p.Findings))
	s := schedule.State{Chassis: all, Groups: []schedule.Group{hosted(0, "c2", "c1")}}
	p = schedule.Revert(s, schedule.Options{Networks: []string{"physnet7"}}, []schedule.AppliedChange{{
		Group: name, Before: hosted(0, "c1", "c2").Candidates, After: hosted(0, "c2", "c1").Candidates,
	}})
	assert.Empty(t, p.Changes, "of another network than was asked for")
}

// The backup that a new chassis has replaced comes back.
func TestRevert_shares_of_new_chassis(t *testing.T) {
	t.Parallel()
	s := schedule.State{Groups: many(0, 12, "c1", "c2", "c3", "c4", "c5")}
	for _, name := range []string{"c1", "c2", "c3", "c4", "c5", "c6"} {
		s.Chassis = append(s.Chassis, chassis(name, "provnet1"))
	}
	p := schedule.Reschedule(s, schedule.Options{})
	assert.Equal(t, []string{"c6"}, p.Added)
	after := applied(s, p)
	assert.Equal(t, s, applied(after, schedule.Revert(after, schedule.Options{}, taken(p))))
}

// No gateway loses a candidate that it needs, a master moves only to a live candidate, and a second revert does
// nothing.
func TestRevert_random_states(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, s schedule.State) {
		t.Helper()
		p := schedule.Reschedule(s, schedule.Options{})
		if r.IntN(2) == 0 {
			s = applied(s, p)
			p = schedule.Rebalance(s, schedule.Options{AllowNewCandidates: r.IntN(2) == 0})
		}
		s = applied(s, p)
		for i := range s.Chassis { // time goes by
			s.Chassis[i].Unresponsive = s.Chassis[i].Unresponsive || r.IntN(9) == 0
			s.Chassis[i].Gateway = s.Chassis[i].Gateway && r.IntN(9) > 0
		}
		back := schedule.Revert(s, schedule.Options{}, taken(p))
		keepsToTheRules(t, s, back)
		assert.Empty(t, schedule.Revert(applied(s, back), schedule.Options{}, taken(p)).Changes)
	})
}

// keepsToTheRules judges a plan that restores candidates.
func keepsToTheRules(t *testing.T, s schedule.State, back schedule.Plan) {
	t.Helper()
	known, groups := byName(s), map[string]schedule.Group{}
	for _, g := range s.Groups {
		groups[g.Name] = g
	}
	for _, c := range back.Changes {
		if c.Interrupts {
			assert.True(t, slices.ContainsFunc(c.Before, func(b schedule.Candidate) bool { return b.Chassis == c.To() }), c)
			assert.False(t, known[c.To()].Unresponsive, c)
		}
		may := func(x schedule.Candidate) bool { return mayHost(known[x.Chassis], groups[c.Group]) }
		valid := 0
		for _, b := range c.Before {
			if may(b) {
				valid++
			}
		}
		assert.GreaterOrEqual(t, len(c.After), min(valid, schedule.MaxCandidates), c)
		for _, a := range c.After {
			assert.True(t, may(a), c)
		}
	}
}

// Whatever another client has changed is restored by the same rules, and the rest is named.
func TestRestore_random_states(t *testing.T) {
	each(t, func(t *testing.T, r *rand.Rand, s schedule.State) {
		t.Helper()
		layout := map[string][]string{}
		for _, g := range s.Groups {
			layout[g.Name] = g.Ranked()
		}
		assert.Empty(t, schedule.Restore(s, schedule.Options{}, layout).Changes, "it is there")
		s.Chassis, s.Groups = slices.Clone(s.Chassis), slices.Clone(s.Groups)
		for i, g := range s.Groups {
			all := slices.Clone(g.Candidates)
			r.Shuffle(len(all), func(i, j int) { all[i].Chassis, all[j].Chassis = all[j].Chassis, all[i].Chassis })
			s.Groups[i].Candidates = all[min(len(all), r.IntN(2)):]
		}
		for i := range s.Chassis {
			s.Chassis[i].Unresponsive = s.Chassis[i].Unresponsive || r.IntN(9) == 0
			s.Chassis[i].Cordoned = s.Chassis[i].Cordoned || r.IntN(9) == 0
			s.Chassis[i].Gateway = s.Chassis[i].Gateway && r.IntN(9) > 0
		}
		back := schedule.Restore(s, schedule.Options{}, layout)
		keepsToTheRules(t, s, back)
		said := map[string]bool{}
		for _, f := range back.Findings {
			said[f.Subject.Name] = true
		}
		for _, g := range applied(s, back).Groups {
			assert.True(t, said[g.Name] || slices.Equal(layout[g.Name], g.Ranked()), "%s: %v then, %v now", g.Name,
				layout[g.Name], g.Ranked())
		}
		assert.Empty(t, schedule.Restore(applied(s, back), schedule.Options{}, layout).Changes)
	})
}
