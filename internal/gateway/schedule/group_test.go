package schedule_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// Gateways of one router need a chassis that has all their networks, and move together.
func TestRebalance_router_moves_as_one(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: []schedule.Chassis{
			chassis("c1", "provnet1", "provnet2"), chassis("c2", "provnet1", "provnet2"),
			chassis("c3", "provnet1"),
		},
		Groups: append(many(0, 3, "c1", "c2"), many(3, 1, "c2", "c1")...),
	}
	s.Groups = append(s.Groups, schedule.Group{
		Name: "neutron-r9", Storage: schedule.HAChassisGroup,
		Ports: []schedule.Port{
			{Name: "lrp-a", Router: "r9", Network: "provnet1"},
			{Name: "lrp-b", Router: "r9", Network: "provnet2"},
		},
		Candidates: []schedule.Candidate{{Chassis: "c1", Priority: 2}, {Chassis: "c2", Priority: 1}},
	})
	p := schedule.Reschedule(s, schedule.Options{})
	for _, c := range p.Changes {
		assert.NotEqual(t, "neutron-r9", c.Group, "c3 is not connected to provnet2")
	}
	s.Groups = append(many(0, 2, "c1"), s.Groups[4]) // nothing else can move
	p = schedule.Rebalance(s, schedule.Options{})
	require.Len(t, p.Changes, 1)
	assert.Equal(t, "neutron-r9", p.Changes[0].Group)
	assert.Equal(t, 1, p.Moves())
	assert.Equal(t, map[string]int{"c1": 2, "c2": 2, "c3": 0}, masters(applied(s, p)), "of both networks")
}

func TestReschedule_unschedulable_chassis(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*schedule.Chassis){
		"silent":   func(c *schedule.Chassis) { c.Unresponsive = true },
		"cordoned": func(c *schedule.Chassis) { c.Cordoned = true },
	} {
		s := two(6, 0)
		change(&s.Chassis[1])
		assert.True(t, schedule.Rebalance(s, schedule.Options{}).Empty(), name)
		assert.True(t, schedule.Reschedule(s, schedule.Options{}).Empty(), "%s: what it has, it keeps", name)
		s = two(0, 6)
		change(&s.Chassis[1])
		assert.Equal(t, 3, schedule.Rebalance(s, schedule.Options{}).Moves(), "%s: what it hosts may go", name)
	}
}

func TestReschedule_random_seed(t *testing.T) {
	t.Parallel()
	s := wide(rand.New(rand.NewPCG(4, 4)))
	with := func(seed uint64) schedule.Plan {
		return schedule.Reschedule(s, options(schedule.Random, seed))
	}
	again := with(1)
	assert.Equal(t, again, with(1))
	assert.NotEqual(t, with(1), with(2))
}

func TestReschedule_some_networks(t *testing.T) {
	t.Parallel()
	s := wide(rand.New(rand.NewPCG(5, 5)))
	ofOne := options(schedule.Random, 1)
	ofOne.Networks = []string{"provnet2"}
	for _, p := range []schedule.Plan{
		schedule.Reschedule(s, schedule.Options{Networks: []string{"provnet2"}}),
		schedule.Reschedule(s, ofOne),
	} {
		require.NotEmpty(t, p.Changes)
		for _, c := range p.Changes {
			assert.Equal(t, "provnet2", c.Ports[0].Network)
		}
		require.Len(t, p.After, 1)
	}
}

func TestReschedule_keeps_priorities(t *testing.T) {
	t.Parallel()
	c := func(name string, priority int) schedule.Candidate {
		return schedule.Candidate{Chassis: name, Priority: priority}
	}
	for name, x := range map[string]struct{ before, want []schedule.Candidate }{
		"room below": {
			[]schedule.Candidate{c("c1", 100), c("c2", 50)},
			[]schedule.Candidate{c("c1", 100), c("c2", 50), c("c3", 49)},
		},
		"no room below": {
			[]schedule.Candidate{c("c1", 100), c("c2", 0)},
			[]schedule.Candidate{c("c1", 3), c("c2", 2), c("c3", 1)},
		},
		"one has gone": {
			[]schedule.Candidate{c("c9", 100), c("c1", 70), c("c2", 50), c("c3", 20)},
			[]schedule.Candidate{c("c1", 70), c("c2", 50), c("c3", 20)},
		},
	} {
		g := hosted(0)
		g.Candidates = x.before
		s := schedule.State{Chassis: pool("provnet1", "c1", "c2", "c3"), Groups: []schedule.Group{g}}
		p := schedule.Reschedule(s, schedule.Options{})
		require.Len(t, p.Changes, 1, name)
		after := p.Changes[0].After
		if name != "one has gone" { // any chassis may be the first backup
			after[1].Chassis, after[2].Chassis = x.want[1].Chassis, x.want[2].Chassis
		}
		assert.Equal(t, x.want, after, name)
	}
}

// The other candidates wait for a master that they hear, even if its ovn-controller is dead.
func TestReschedule_bound_nowhere(t *testing.T) {
	t.Parallel()
	s := schedule.State{Chassis: pool("provnet1", "c1", "c2", "c3")}
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
	assert.Contains(t, document.Plan(p), "ovn-controller on c1 ")
	assert.True(t, schedule.Reschedule(after, schedule.Options{}).Empty())

	for i := range s.Groups { // if nothing is bound, perhaps no ovn-controller runs
		s.Groups[i] = bind(s.Groups[i], "")
	}
	assert.Equal(t, "c1", top(applied(s, schedule.Reschedule(s, schedule.Options{})).Groups[1].Candidates))
}

// A move to the chassis where the gateway already works interrupts nothing.
func TestRebalance_counts_interruptions(t *testing.T) {
	t.Parallel()
	s := two(2, 0)
	s.Groups = []schedule.Group{bind(s.Groups[0], "c2"), bind(s.Groups[1], "c2")}
	p := schedule.Rebalance(s, schedule.Options{})
	require.Len(t, p.Changes, 1)
	assert.Zero(t, p.Moves())
}

// crowded returns a state of one gateway with these candidates, best first.
func crowded(storage schedule.Storage, active string, chassis ...string) schedule.State {
	g := bind(hosted(0, chassis...), active)
	g.Name, g.Storage = "g", storage
	return schedule.State{
		Chassis: pool("provnet1", "c1", "c2", "c3", "c4", "c5", "c6", "c7"), Groups: []schedule.Group{g},
	}
}

func TestReschedule_repeated_candidate(t *testing.T) {
	t.Parallel()
	p := schedule.Reschedule(crowded(schedule.HAChassisGroup, "c1", "c1", "c2", "c1", "c3", "c4", "c5"),
		schedule.Options{})
	require.Len(t, p.Changes, 1)
	c := p.Changes[0]
	assert.False(t, c.Interrupts)
	assert.Equal(t, candidates("c1", "c2", "c3", "c4", "c5"), c.After)
	dropped := 0
	for _, r := range c.Rows {
		if r.After == nil {
			dropped++
			assert.Equal(t, "c1", r.Chassis)
			assert.Equal(t, 4, *r.Before)
		}
	}
	assert.Equal(t, 1, dropped)
	mended := crowded(schedule.HAChassisGroup, "c1", "c1", "c2", "c3", "c4", "c5")
	assert.Empty(t, schedule.Reschedule(mended, schedule.Options{}).Changes)
}

// Of candidates with the same priority the one with the larger name hosts the group. It stays, and each candidate gets
// a priority of its own. Other operations leave the priorities.
func TestReschedule_tied_candidates(t *testing.T) {
	t.Parallel()
	s := crowded(schedule.HAChassisGroup, "c2", "c2", "c1", "c3", "c4", "c5")
	s.Groups[0].Candidates[1].Priority = s.Groups[0].Candidates[0].Priority
	p := schedule.Reschedule(s, schedule.Options{})
	require.Len(t, p.Changes, 1)
	assert.Equal(t, candidates("c2", "c1", "c3", "c4", "c5"), p.Changes[0].After)
	assert.Zero(t, p.Moves())
	assert.Empty(t, schedule.Rebalance(s, schedule.Options{}).Changes)
}

func TestDrain_behind_repeated_candidate(t *testing.T) {
	t.Parallel()
	s := crowded(schedule.HAChassisGroup, "c2", "c1", "c1", "c1", "c2")
	s.Chassis[0].Unresponsive = true
	p := schedule.Drain(s, "c2", nil)
	require.Len(t, p.Changes, 1)
	assert.Equal(t, []string{"c1", "c3", "c2"}, order(applied(s, p), "g"))
}

// LP#2139143: a group grew beyond five candidates.
func TestEvaluate_too_many_candidates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		storage schedule.Storage
		active  string
		command string
	}{
		{
			schedule.HAChassisGroup, "c1",
			"ovn-nbctl ha-chassis-group-remove-chassis g c7 -- ha-chassis-group-remove-chassis g c6",
		},
		{schedule.GatewayChassis, "c7", "ovn-nbctl lrp-del-gateway-chassis g c6 -- lrp-del-gateway-chassis g c5"},
	} {
		s := schedule.Evaluate(crowded(test.storage, test.active, "c1", "c2", "c3", "c4", "c5", "c6", "c7"),
			schedule.Options{})
		var found []string
		for _, f := range s.Findings {
			if f.Code == finding.CandidatesTooMany {
				found = append(found, juju.Version{}.Render(f.Remedies[0].Command))
			}
		}
		assert.Equal(t, []string{test.command}, found)
	}
	gone := crowded(schedule.HAChassisGroup, "c1", "gone", "c1", "c2", "c3", "c4", "c5")
	assert.False(t, finding.Has(schedule.Evaluate(gone, schedule.Options{}).Findings, finding.CandidatesTooMany),
		"a reschedule drops the one that is gone")
	lxd := crowded(schedule.HAChassisGroup, "c1", "c1", "c2", "c3", "c4", "c5", "c6", "c7")
	lxd.Groups[0].Name, lxd.Groups[0].Owner = "lxd-net49", schedule.Other
	assert.Empty(t, schedule.Evaluate(lxd, schedule.Options{}).Findings, "LXD makes all servers candidates")
}

// A chassis of another OVN hosts nothing, so that its marks do not count: chassis without marks stay candidates.
func TestEligible_marks_of_another_OVN(t *testing.T) {
	t.Parallel()
	far := schedule.Chassis{Name: "far", Gateway: true, External: true, Remote: true, Networks: []string{"n"}}
	for _, kind := range []schedule.Kind{schedule.RouterPorts, schedule.ExternalPorts} {
		s := schedule.State{Chassis: append(pool("n", "c1", "c2"), far), Groups: []schedule.Group{{
			Name: "g", Kind: kind, Candidates: candidates("c1", "c2"),
			Ports: []schedule.Port{{Name: "p", Network: "n", External: kind == schedule.ExternalPorts}},
		}}}
		s.Chassis[0].Gateway, s.Chassis[1].Gateway = false, false
		assert.Empty(t, schedule.Reschedule(s, schedule.Options{}).Changes, kind)
		assert.False(t, finding.Has(schedule.Evaluate(s, schedule.Options{}).Findings, finding.CandidateInvalid), kind)
	}
}

// This is the table of docs/reference/gateway-hosts.md: c1 and c2 have the network, c3 has another one.
func TestEligible(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		owner schedule.Owner
		kind  schedule.Kind
		// marked has the chassis with enable-chassis-as-gw, external those with enable-chassis-as-extport-host.
		marked, external string
		// fresh has the candidates that a group without candidates gets; kept has what a group keeps of c1, c2 and c3.
		fresh, kept string
	}{
		"Neutron, one marked":              {schedule.Neutron, schedule.RouterPorts, "c1", "", "c1", "c1"},
		"Neutron, none marked":             {schedule.Neutron, schedule.RouterPorts, "", "", "", "c1 c2"},
		"Neutron, another network marked":  {schedule.Neutron, schedule.RouterPorts, "c3", "", "", "c1 c2"},
		"earlier, one marked":              {schedule.EarlierNeutron, schedule.RouterPorts, "c1", "", "c1", "c1"},
		"earlier, none marked":             {schedule.EarlierNeutron, schedule.RouterPorts, "", "", "c1 c2", "c1 c2"},
		"earlier, another network marked":  {schedule.EarlierNeutron, schedule.RouterPorts, "c3", "", "c1 c2", "c1 c2"},
		"others, one marked":               {schedule.Other, schedule.RouterPorts, "c1", "", "c1 c2", "c1 c2"},
		"others, none marked":              {schedule.Other, schedule.RouterPorts, "", "", "c1 c2", "c1 c2"},
		"external, gateways marked":        {schedule.Neutron, schedule.ExternalPorts, "c1", "", "c1", "c1"},
		"external, another network marked": {schedule.Neutron, schedule.ExternalPorts, "c3", "", "", "c1 c2"},
		"external, none marked":            {schedule.EarlierNeutron, schedule.ExternalPorts, "", "", "", "c1 c2"},
		"external, hosts for them":         {schedule.Neutron, schedule.ExternalPorts, "c1", "c2", "c2", "c2"},
		"external, hosts for them, routed": {schedule.Neutron, schedule.RoutedExternalPorts, "c1", "c2", "c1", "c1"},
		"external, others":                 {schedule.Other, schedule.ExternalPorts, "c1", "c2", "c1 c2", "c1 c2"},
	} {
		s := schedule.State{Chassis: append(pool("n", "c1", "c2"), chassis("c3", "other"))}
		for i, c := range s.Chassis {
			s.Chassis[i].Gateway = strings.Contains(x.marked, c.Name)
			s.Chassis[i].External = strings.Contains(x.external, c.Name)
		}
		g := schedule.Group{
			Name: "g", Owner: x.owner, Kind: x.kind,
			Ports: []schedule.Port{{Name: "p", Network: "n", External: x.kind != schedule.RouterPorts}},
		}
		given := func(chassis ...string) string {
			g.Candidates = candidates(chassis...)
			s.Groups = []schedule.Group{g}
			return strings.Join(order(applied(s, schedule.Reschedule(s, schedule.Options{})), "g"), " ")
		}
		assert.Equal(t, x.fresh, given(), "%s: without candidates", name)
		assert.Equal(t, x.kept, given("c1", "c2", "c3"), name)
	}
}

// A run may end after any batch: the next one writes the rest, and changes nothing that was already written.
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

// A group that no other chassis may host does not block the drain of a backup: it stays where it works.
func TestDrain_backup_of_group_that_no_plan_hosts(t *testing.T) {
	t.Parallel()
	s := schedule.State{
		Chassis: []schedule.Chassis{chassis("c0", "provnet1"), chassis("c1", "provnet1", "provnet2")},
		Groups:  []schedule.Group{bind(hosted(0, "c0", "c1"), "c0")},
	}
	s.Groups[0].Ports = append(s.Groups[0].Ports, schedule.Port{Name: "second", Network: "provnet2", Active: "c0"})
	p := schedule.Drain(s, "c1", nil)
	assert.Empty(t, p.Blocked)
	assert.Empty(t, p.Changes)
	for name, change := range map[string]func(s schedule.State){
		"it is the host":            func(s schedule.State) { s.Groups[0] = bind(s.Groups[0], "c1") },
		"the host does not respond": func(s schedule.State) { s.Chassis[0].Unresponsive = true },
	} {
		changed := schedule.State{Chassis: slices.Clone(s.Chassis), Groups: slices.Clone(s.Groups)}
		change(changed)
		assert.Len(t, schedule.Drain(changed, "c1", nil).Blocked, 1, name)
	}
}
