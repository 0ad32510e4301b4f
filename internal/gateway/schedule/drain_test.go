package schedule_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// order is a group's candidates, best first.
func order(s schedule.State, group string) []string {
	i := slices.IndexFunc(s.Groups, func(g schedule.Group) bool { return g.Name == group })
	return s.Groups[i].Ranked()
}

// cordon cordons a chassis or takes that back.
func cordon(s schedule.State, name string, cordoned bool) schedule.State {
	s.Chassis = slices.Clone(s.Chassis)
	for i := range s.Chassis {
		if s.Chassis[i].Name == name {
			s.Chassis[i].Cordoned = cordoned
		}
	}
	return s
}

// drained is a state after a chassis was cordoned and drained, the changes, and the plan.
func drained(s schedule.State, name string) (schedule.State, []schedule.AppliedChange, schedule.Plan) {
	s = cordon(s, name, true)
	p := schedule.Drain(s, name, nil)
	return applied(s, p), taken(p), p
}

// Every group of the chassis goes to one that lives, or the plan names it; no other choice among the candidates is
// evener; a second drain does nothing.
func TestDrain_even_by_brute_force(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 8))
		s := small(r)
		for i := range s.Chassis {
			s.Chassis[i].Unresponsive, s.Chassis[i].Cordoned = r.IntN(8) == 0, r.IntN(8) == 0
		}
		after, _, p := drained(s, "c0")
		require.Equal(t, fewestSquares(cordon(s, "c0", true), "c0"), spreadOf(after), "seed %d: %+v\n%s", seed, s,
			document.Plan(p))
		again := schedule.Drain(after, "c0", nil)
		require.True(t, again.Empty(), "seed %d: %s", seed, document.Plan(again))
	}
}

// Two drains at the same time do not put the two nodes behind each other for ever.
func TestDrain_two_at_once_end(t *testing.T) {
	t.Parallel()
	written := 0
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 16))
		s, was := cordon(cordon(small(r), "c0", true), "c1", true), map[string][]schedule.AppliedChange{}
		for round := 0; ; round++ {
			require.Less(t, round, 4, "seed %d: %+v", seed, s)
			quiet := true
			for _, name := range []string{"c0", "c1"} {
				p := schedule.Drain(s, name, was[name])
				quiet, written = quiet && p.Empty(), written+len(p.Changes)
				was[name] = append(was[name], taken(p)...)
				s = applied(s, p)
			}
			if quiet {
				break
			}
		}
	}
	require.Greater(t, written, 500, "there was something to do")
}

// If a chassis dies right after gateways were moved to it, those that wait for it move on; the others stay.
func TestDrain_new_host_dies(t *testing.T) {
	t.Parallel()
	s := schedule.State{}
	for _, name := range []string{"c0", "c1", "c2", "c3"} {
		s.Chassis = append(s.Chassis, schedule.Chassis{
			Name: name, Gateway: true, Networks: []string{"n"},
			Cordoned: name == "c0", Unresponsive: name == "c1",
		})
	}
	candidates := []schedule.Candidate{
		{Chassis: "c1", Priority: 3},
		{Chassis: "c2", Priority: 2},
		{Chassis: "c0", Priority: 1},
	}
	for name, active := range map[string]string{"waits": "", "works": "c2"} {
		s.Groups = append(s.Groups, schedule.Group{
			Name: name, Candidates: candidates,
			Ports: []schedule.Port{{Name: name, Network: "n", Active: active, Router: "r"}},
		})
	}
	p := schedule.Drain(s, "c0", nil)
	require.Len(t, p.Changes, 1)
	assert.Equal(t, []string{"c2", "c1", "c0"}, order(applied(s, p), "waits"))
	rows := p.Changes[0].Rows
	at := slices.IndexFunc(rows, func(r schedule.Row) bool { return r.Chassis == "c1" })
	assert.Equal(t, "not bound to any chassis: ovn-controller on c1 is not responding", rows[at].Reason)
	again := schedule.Drain(applied(s, p), "c0", nil)
	assert.True(t, again.Empty(), document.Plan(again))
}

// Gateways that have left do not block a drain, even if their new chassis is cordoned. A gateway that comes back does.
func TestDrain_new_host_cordoned(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: []schedule.Chassis{
		{Name: "c0", Gateway: true, Networks: []string{"n"}},
		{Name: "c1", Gateway: true, Networks: []string{"n"}},
	}}
	candidates := []schedule.Candidate{{Chassis: "c0", Priority: 2}, {Chassis: "c1", Priority: 1}}
	for _, name := range []string{"planned", "external"} {
		s.Groups = append(s.Groups, schedule.Group{
			Name: name, Candidates: candidates,
			Ports: []schedule.Port{{Name: name, Network: "n", Active: "c0", Router: "r"}},
		})
	}
	s.Groups[1].Kind, s.Groups[1].Ports[0].External = schedule.ExternalPorts, true
	moved, ranks, _ := drained(s, "c0")
	for i := range moved.Groups {
		moved.Groups[i].Ports = slices.Clone(moved.Groups[i].Ports)
		moved.Groups[i].Ports[0].Active = "c1"
	}
	was := ranks
	for name, test := range map[string]struct {
		change  func(*schedule.State)
		blocked int
	}{
		"cordoned":            {func(*schedule.State) {}, 0},
		"it does not respond": {func(s *schedule.State) { s.Chassis[1].Unresponsive = true }, 2},
		"one has come back":   {func(s *schedule.State) { s.Groups[0].Ports[0].Active = "c0" }, 1},
		"one is not bound":    {func(s *schedule.State) { s.Groups[1].Ports[0].Active = "" }, 1},
		"its router is disabled": {func(s *schedule.State) {
			s.Groups[1].Ports[0].Active, s.Groups[1].Ports[0].Disabled = "", true
		}, 0},
		"the node is first again":   {func(s *schedule.State) { s.Groups[0].Candidates = candidates }, 1},
		"its drain begins only now": {func(*schedule.State) { was = nil }, 2},
	} {
		now := cordon(moved, "c1", true)
		now.Groups = slices.Clone(now.Groups)
		for i := range now.Groups {
			now.Groups[i].Ports = slices.Clone(now.Groups[i].Ports)
		}
		was = ranks
		test.change(&now)
		p := schedule.Drain(now, "c0", was)
		assert.Len(t, p.Blocked, test.blocked, "%s: %v", name, p.Blocked)
		assert.Empty(t, p.Changes, name)
	}
}

// fewestSquares is the least sum of squares of the masters that a drain can bring about.
func fewestSquares(s schedule.State, chassis string) int {
	load := map[string]int{}
	var choices [][]string
	open := func(name string) bool {
		c := byName(s)[name]
		return c.Name != "" && !c.Cordoned && !c.Unresponsive
	}
	var all []string
	for _, c := range s.Chassis {
		if open(c.Name) {
			all = append(all, c.Name)
		}
	}
	for _, g := range s.Groups {
		names := g.Ranked()
		candidates := slices.DeleteFunc(slices.Clone(names[1:]), func(n string) bool { return !open(n) })
		switch {
		case names[0] != chassis || len(all) == 0:
			load[names[0]]++
		case len(candidates) > 0:
			choices = append(choices, candidates)
		default:
			choices = append(choices, all)
		}
	}
	return fewest(load, choices)
}

// R12, on states in which not all is as it should be.
func TestR12_drain_keeps_living_chassis(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		s = cordon(s, "c0", true)
		chassis := byName(s)
		p := schedule.Drain(s, "c0", nil)
		after := applied(s, p)
		blocked := map[string]bool{}
		for _, f := range p.Blocked {
			blocked[f.Subject.Name] = true
		}
		for i, g := range s.Groups {
			names := g.Ranked()
			to := after.Groups[i].Ranked()
			at := slices.Index(names, "c0")
			if at < 0 || blocked[g.Name] {
				assert.Equal(t, g.Candidates, after.Groups[i].Candidates, "%s is not touched", g.Name)
				continue
			}
			assert.Equal(t, "c0", to[len(to)-1], g.Name)
			assert.True(t, slices.ContainsFunc(to, func(name string) bool {
				c := chassis[name]
				return mayHost(c, g) && !c.Cordoned && !c.Unresponsive ||
					slices.ContainsFunc(g.Ports, func(schedule.Port) bool {
						return c.Name != "" && !c.Cordoned && !c.Unresponsive &&
							!c.Remote
					})
			}), "%s: %v", g.Name, to)
			if len(names) < schedule.MaxCandidates {
				for _, name := range names {
					assert.Contains(t, to, name, "%s: no row is deleted", g.Name)
				}
			}
		}
		assert.True(t, schedule.Drain(after, "c0", nil).Empty(), "it is idempotent")
		assert.Equal(t, p, schedule.Drain(s, "c0", nil), "it is deterministic")
	})
}

// Drains and undrains in any order restore the state.
func TestUndrain_after_several_drains(t *testing.T) {
	t.Parallel()
	for seed := range uint64(600) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := small(r)
		base := map[string][]schedule.Candidate{}
		for _, g := range s.Groups {
			base[g.Name] = g.Candidates
		}
		now, was := s, map[string][]string{}
		names := []string{"c0", "c1"}
		r.Shuffle(2, func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			next, _, p := drained(now, name)
			now = next
			for _, c := range p.Changes {
				was[name] = append(was[name], c.Group)
			}
		}
		r.Shuffle(2, func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			now = cordon(now, name, false)
			var back []schedule.AppliedChange
			for _, g := range now.Groups {
				if slices.Contains(was[name], g.Name) {
					back = append(back, schedule.AppliedChange{Group: g.Name, Before: base[g.Name], After: g.Candidates})
				}
			}
			p := schedule.Undrain(now, name, back)
			assert.Empty(t, p.Blocked)
			now = applied(now, p)
		}
		require.Equal(t, fmt.Sprint(s), fmt.Sprint(now), "seed %d", seed)
	}
}

func TestUndrain_leaves_changes_by_others(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")},
		Groups:  many(0, 4, "c1", "c2", "c3"),
	}
	after, ranks, p := drained(s, "c1")
	require.Equal(t, 4, p.Moves())
	names := []string{s.Groups[0].Name, s.Groups[1].Name, s.Groups[2].Name, s.Groups[3].Name}
	after.Groups[0] = hosted(0, "c3", "c2", "c1") // the same candidates in another order
	after.Groups[1] = hosted(1, "c3", "c2")       // it is no candidate any more
	after.Groups = slices.Delete(after.Groups, 2, 3)

	stays := schedule.Undrain(after, "c1", ranks)
	assert.True(t, stays.Empty(), "a chassis that is cordoned gets nothing back")
	assert.Len(t, stays.Blocked, 4)

	back := schedule.Undrain(cordon(after, "c1", false), "c1", ranks)
	restored := applied(cordon(after, "c1", false), back)
	assert.Equal(t, []string{"c1", "c3", "c2"}, order(restored, names[0]))
	assert.Equal(t, []string{"c3", "c2"}, order(restored, names[1]))
	assert.Equal(t, []string{"c1", "c2", "c3"}, order(restored, names[3]))
	assert.Equal(t, []string{
		"info CANDIDATES_CHANGED " + names[0] + " Value=c1 Detail=only the rank of c1 is put back",
		"info GATEWAY_NOT_RESTORED " + names[1] + " Value=c1 Detail=c1 is no longer a candidate", "info GATEWAY_GONE " +
			names[2],
	}, findingtest.All(back.Blocked))
}

// A chassis that was a backup, and is first since, stays first.
func TestUndrain_keeps_better_rank(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")},
		Groups:  many(0, 1, "c2", "c1", "c3"),
	}
	after, ranks, _ := drained(s, "c1")
	require.Equal(t, []string{"c2", "c3", "c1"}, order(after, s.Groups[0].Name))
	after.Groups[0] = hosted(0, "c1", "c2")
	p := schedule.Undrain(cordon(after, "c1", false), "c1", ranks)
	assert.True(t, p.Empty(), document.Plan(p))
}

// Gateways without a provider network, and external ports, go too.
func TestDrain_unplanned_groups(t *testing.T) {
	t.Parallel()
	external := func(name string, follows string, names ...string) schedule.Group {
		g := hosted(0, names...)
		g.Name, g.Follows, g.Kind, g.Ports = name, follows, schedule.ExternalPorts, []schedule.Port{{
			Name:   name + "-port",
			Active: names[0], External: true,
		}}
		return g
	}
	lead := hosted(1, "c1", "c2", "c3")
	tunnelled := hosted(2, "c1", "c3")
	tunnelled.Ports[0].Network = ""
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c1", "provnet1"), chassis("c2", "provnet1"), chassis("c3", "provnet1")},
		Groups: []schedule.Group{
			lead, tunnelled, external("x-follows", lead.Name, "c1", "c2", "c3"),
			external("x-alone", "", "c1", "c2"), external("x-stuck", "", "c1", "c9"),
		},
	}
	after, _, p := drained(s, "c1")
	master := order(after, lead.Name)[0]
	assert.Equal(t, master, order(after, "x-follows")[0], "external ports go where the gateway goes")
	for _, name := range []string{lead.Name, tunnelled.Name, "x-follows", "x-alone"} {
		o := order(after, name)
		assert.Equal(t, "c1", o[len(o)-1], name)
	}
	assert.Equal(t, []string{"error GATEWAY_STAYS x-stuck Detail=none of its other candidates is alive and not cordoned"},
		findingtest.All(p.Blocked))
	assert.Contains(t, document.Plan(p), "blocked\n  no other chassis can host x-stuck (")
	assert.Equal(t, map[string][]string{"c1": {"x-stuck"}}, schedule.Dependent(s))
}

func TestClear_keeps_living_candidate(t *testing.T) {
	each(t, func(t *testing.T, _ *rand.Rand, s schedule.State) {
		s = cordon(s, "c0", true)
		p := schedule.Clear(s, "c0")
		after, blocked := applied(s, p), map[string]bool{}
		for _, f := range p.Blocked {
			blocked[f.Subject.Name] = true
		}
		for i, g := range s.Groups {
			if names := after.Groups[i].Ranked(); blocked[g.Name] {
				assert.Equal(t, g.Candidates, after.Groups[i].Candidates)
			} else {
				assert.NotContains(t, names, "c0")
				if len(g.Candidates) > 0 {
					assert.NotEmpty(t, names)
				}
			}
		}
		assert.Zero(t, p.Moves())
		assert.True(t, schedule.Clear(after, "c0").Empty())
	})
}
