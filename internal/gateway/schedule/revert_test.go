package schedule_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// taken returns what a journal keeps of a plan.
func taken(p schedule.Plan) (all []schedule.AppliedChange) {
	for _, c := range p.Changes {
		all = append(all, schedule.AppliedChange{Group: c.Group, Storage: c.Storage, Before: c.Before, After: c.After})
	}
	return all
}

func TestRevert_rebalance(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2", "c3"), Groups: many(0, 9, "c1", "c2", "c3")}
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
	backwards := func(o schedule.Options, chassis []schedule.Chassis, before, after, now string) schedule.Plan {
		s := schedule.State{Chassis: chassis}
		if now != "" {
			s.Groups = []schedule.Group{hosted(0, strings.Fields(now)...)}
		}
		return schedule.Revert(s, o, []schedule.AppliedChange{{
			Group: hosted(0).Name, Before: candidates(strings.Fields(before)...), After: candidates(strings.Fields(after)...),
		}})
	}
	const notRestored = "GATEWAY_NOT_RESTORED NAME "
	unchanged := func(*schedule.Chassis) {}
	for title, x := range map[string]struct {
		c1            func(*schedule.Chassis)
		before, after string
		now           string // the present order if it is not after
		// want is the order in the end; empty means that nothing changes.
		want    string
		finding string
		options schedule.Options
	}{
		"master is candidate": {unchanged, "c1 c2", "c2 c1", "", "c1 c2", "", schedule.Options{}},
		"changed by another client": {
			unchanged, "c1 c2", "c2 c1", "c3 c2 c1", "", "CANDIDATES_CHANGED NAME", schedule.Options{},
		},
		"master gone": {
			func(c *schedule.Chassis) { c.Name = "c9" }, "c1 c2", "c2 c1", "", "",
			notRestored + "Value=c1 Reasons=CAN_NO_LONGER_HOST c1 (CHASSIS_ABSENT)",
			schedule.Options{},
		},
		"master unresponsive": {
			func(c *schedule.Chassis) { c.Unresponsive = true }, "c1 c2", "c2 c1", "", "", notRestored +
				"Value=c1 Reasons=UNSCHEDULABLE c1 (CHASSIS_SILENT)", schedule.Options{},
		},
		"master no candidate": {
			unchanged, "c1 c2", "c3 c2", "", "", "NEW_CANDIDATE_NEEDED NAME Value=c1", schedule.Options{},
		},
		"master no candidate, new ones allowed": {
			unchanged, "c1 c2", "c3 c2", "", "c1 c2 c3", "", schedule.Options{AllowNewCandidates: true},
		},
		"backup without mark": {
			func(c *schedule.Chassis) { c.Gateway = false }, "c3 c1 c2", "c2 c3 c1", "", "c3 c2", notRestored +
				"Value=c1 Reasons=CAN_NO_LONGER_HOST c1 (NO_GATEWAY_CHASSIS)", schedule.Options{},
		},
		"candidates only added": {unchanged, "c1", "c1 c2 c3", "", "", "", schedule.Options{}},
		"no candidates before": {
			unchanged, "", "c1", "", "", notRestored + "Reasons=HAD_NO_CANDIDATES", schedule.Options{},
		},
		"another network": {
			unchanged, "c1 c2", "c2 c1", "", "", "", schedule.Options{Networks: []string{"physnet7"}},
		},
	} {
		chassis := pool("provnet1", "c1", "c2", "c3")
		x.c1(&chassis[0])
		p := backwards(x.options, chassis, x.before, x.after, cmp.Or(x.now, x.after))
		if x.want == "" {
			assert.Empty(t, p.Changes, title)
		} else {
			require.Len(t, p.Changes, 1, title)
			assert.Equal(t, candidates(strings.Fields(x.want)...), p.Changes[0].After, title)
		}
		if x.finding != "" {
			assert.Contains(t, findingtest.All(p.Findings), "info "+strings.Replace(x.finding, "NAME", hosted(0).Name, 1), title)
		}
	}
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2"), Groups: []schedule.Group{hosted(0, "c1", "c2")}}
	s.Groups[0].Ports[0].Network = "" // so that no record names the chassis that may host it
	layout := map[string][]string{hosted(0).Name: {"c2", "c1"}}
	assert.Contains(t, findingtest.All(schedule.Restore(s, schedule.Options{}, layout).Findings),
		"info "+strings.Replace(notRestored, "NAME", hosted(0).Name, 1)+"Reasons=HOSTS_NOT_RECORDED")
	assert.Equal(t, finding.ChassisMissing, s.Unavailable("gone").Code)
	p := backwards(schedule.Options{}, nil, "", "", "")
	assert.Equal(t, []string{"info GATEWAY_GONE " + hosted(0).Name}, findingtest.All(p.Findings))
}

// The backup that a new chassis has replaced comes back.
func TestRevert_shares_of_new_chassis(t *testing.T) {
	t.Parallel()
	all := []string{"c1", "c2", "c3", "c4", "c5", "c6"}
	s := schedule.State{Chassis: pool("provnet1", all...), Groups: many(0, 12, all[:5]...)}
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
		keepMarks(s)
		back := schedule.Revert(s, schedule.Options{}, taken(p))
		keepsToTheRules(t, s, back)
		assert.Empty(t, schedule.Revert(applied(s, back), schedule.Options{}, taken(p)).Changes)
	})
}

// keepMarks marks a chassis if a group would have no marked one with its networks: then all with these are eligible.
func keepMarks(s schedule.State) {
	for _, g := range s.Groups {
		marked := func(c schedule.Chassis) bool { return c.Gateway && !c.Remote && reaches(c, g) }
		if !slices.ContainsFunc(s.Chassis, marked) {
			s.Chassis[0].Gateway, s.Chassis[0].Remote, s.Chassis[0].Networks = true, false, all(s)
		}
	}
}

// all returns the networks of all gateways.
func all(s schedule.State) (networks []string) {
	for _, g := range s.Groups {
		for _, p := range g.Ports {
			networks = append(networks, p.Network)
		}
	}
	return networks
}

// keepsToTheRules judges a plan that restores candidates.
func keepsToTheRules(t *testing.T, s schedule.State, back schedule.Plan) {
	t.Helper()
	known := byName(s)
	for _, c := range back.Changes {
		if c.Interrupts {
			assert.True(t, slices.ContainsFunc(c.Before, func(b schedule.Candidate) bool { return b.Chassis == c.To() }), c)
			assert.False(t, known[c.To()].Unresponsive, c)
		}
		may := func(x schedule.Candidate) bool { return mayHost(known[x.Chassis], groupOf(s, c.Group)) }
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

// Changes by another client are undone by the same rules, and groups that can't be restored are named.
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
		keepMarks(s)
		back := schedule.Restore(s, schedule.Options{}, layout)
		keepsToTheRules(t, s, back)
		said := subjects(back.Findings)
		for _, g := range applied(s, back).Groups {
			assert.True(t, said[g.Name] || slices.Equal(layout[g.Name], g.Ranked()), "%s: %v then, %v now", g.Name,
				layout[g.Name], g.Ranked())
		}
		assert.Empty(t, schedule.Restore(applied(s, back), schedule.Options{}, layout).Changes)
	})
}
