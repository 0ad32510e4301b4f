package schedule

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Drain moves every group off a chassis and makes it the last candidate of every group that has it. It deletes no row,
// since Neutron would add the row again. The load of the other chassis is then as even as their candidates allow. A
// group that no other responding, uncordoned chassis could host stays as it is, and is in [Plan.Blocked] if the drain
// would interrupt it. A group moves again if the chassis that got it no longer responds. was has the changes of the
// chassis's unfinished drains: from the candidates before the first drain to the candidates that were written last.
func Drain(s State, chassis string, was []AppliedChange) Plan {
	d := &draining{
		instance: newInstance(s.WithCordon(chassis, true)), chassis: chassis,
		why:      finding.CandidateDrained,
		concerns: func(Group) bool { return true }, was: map[string]AppliedChange{},
	}
	for _, c := range was {
		d.was[c.Group] = c
	}
	p := d.plan()
	s.Pinned = filter(s.Pinned, func(p Pinned) bool { return !p.Disabled }) // OVN binds these nowhere
	p.Blocked = SortFindings(append(p.Blocked, s.Moves(chassis)...))
	return p
}

// Demote moves off a cordoned chassis the groups that it has got since it was cordoned, as [Drain] would. It leaves the
// groups in stay, and groups of which the chassis is a backup.
func Demote(s State, chassis string, stay []string) Plan {
	d := &draining{instance: newInstance(s.WithCordon(chassis, true)), chassis: chassis}
	d.why = finding.CordonedSince
	d.concerns = func(g Group) bool {
		names := g.Ranked()
		return len(names) > 0 && names[0] == chassis && !slices.Contains(stay, g.Name)
	}
	p := d.plan()
	p.Operation, p.Chassis = OperationDemote, "" // nothing is put back
	return p
}

func (d *draining) plan() Plan {
	d.drained = slices.IndexFunc(d.instance.chassis, func(c Chassis) bool { return c.Name == d.chassis })
	before := d.networkReports()
	d.moveMasters()
	d.chooseBackupsOfSeveral(d.touched)
	d.chooseFirstBackups(func(g *group) bool { return d.touched[g] }, false)
	p := Plan{
		Operation: OperationDrain, Chassis: d.chassis, Before: before, After: d.networkReports(),
		Changes: []Change{},
	}
	for _, g := range d.groups {
		if d.concerned[g] && !d.blocks[g.Name] {
			d.add(&p, g.Group, d.farBack(g.Group, d.last(g)), g.reasons)
		}
	}
	d.demoteNetworkless(&p)
	d.demoteExternals(&p)
	slices.SortStableFunc(p.Changes, func(a, b Change) int { // groups that carry traffic come first
		return cmp.Or(btoi(b.Interrupts)-btoi(a.Interrupts), cmp.Compare(a.Group, b.Group))
	})
	p.Blocked = SortFindings(d.blocked)
	p.Findings = SortFindings(d.findings)
	p.Cost = costOf(p.Changes)
	return p
}

type draining struct {
	*instance
	chassis string
	drained int // its number; -1 if the chassis does not exist
	// why is the reason for the change of the chassis; concerns reports whether a group should leave it.
	why      finding.ReasonCode
	concerns func(Group) bool
	was      map[string]AppliedChange
	blocked  []finding.Finding
	blocks   map[string]bool
	// concerned has the groups that have the chassis as a candidate; touched has those whose first two ranks change;
	// elsewhere has those that no other chassis could host, and that do not need it ([draining.isElsewhere]).
	concerned, touched, elsewhere map[*group]bool
}

// moveMasters takes the chassis out of the orders, and replaces it in the groups that it hosts. It replaces it in these
// before the standIns: groups that it would host next, as a backup of unschedulable chassis, and whose traffic it does
// not carry now.
func (d *draining) moveMasters() {
	d.blocks, d.elsewhere = map[string]bool{}, map[*group]bool{}
	d.concerned, d.touched = map[*group]bool{}, map[*group]bool{}
	var moving, standIns []*group
	rank := map[*group]int{}
	for _, g := range d.groups {
		names := g.Ranked()
		at := slices.Index(names, d.chassis)
		switch {
		case at < 0 || !d.concerns(g.Group):
			continue
		case len(g.open()) == 0:
			if d.elsewhere[g] = d.isElsewhere(g.Group); !d.elsewhere[g] {
				d.block(g.Name, d.whyNo(g, func(c int) bool { return c == d.drained })...)
			}
			continue
		}
		r := d.takeOut(g, names[:at])
		switch {
		case slices.ContainsFunc(g.order[:r], g.accepts):
			d.touched[g] = r == 1
		case d.isOnBackup(g, at):
			d.touched[g] = true
			d.host(g, 0, g.was[g.works])
		case r == 0 || g.works > 0 && g.was[g.works] == d.drained:
			d.touched[g], rank[g] = true, r
			moving = append(moving, g)
		default:
			d.touched[g], rank[g] = true, r
			standIns = append(standIns, g)
		}
	}
	for _, groups := range [][]*group{moving, standIns} {
		d.place(groups, true, func(_ int, total []int) []int { return total },
			func(g *group, c int) { d.host(g, rank[g], c) })
	}
	for g := range d.concerned {
		if slices.Contains(g.was, d.drained) {
			g.order = append(g.order, d.drained)
		}
	}
}

// isOnBackup reports whether the chassis is the group's master, but a backup hosts the group and may become its master.
func (d *draining) isOnBackup(g *group, rank int) bool {
	return rank == 0 && g.works > 0 && g.accepts(g.was[g.works])
}

// takeOut takes the chassis out of a group's order. It returns the rank that the chassis had among the remaining ones,
// or 0 if the group has to leave its master.
func (d *draining) takeOut(g *group, before []string) int {
	d.concerned[g] = true
	g.order = without(g.was, d.drained)
	if why := d.silentMaster(g); !why.IsZero() {
		g.reasons[d.instance.chassis[g.order[0]].Name] = why
		return 0
	}
	return len(filter(g.order, func(c int) bool { return slices.Contains(before, d.instance.chassis[c].Name) }))
}

// silentMaster returns why a group has to leave a master whose ovn-controller is not responding; no reason if the
// group may stay. If the group is bound nowhere, all chassis may be waiting for that master. And a chassis that has
// claimed a moved group may have died before it had set the flows: the other chassis hear its tunnels, and do not take
// over (measured: tests/dataplane).
func (d *draining) silentMaster(g *group) finding.Reason {
	if len(g.order) == 0 || !d.instance.chassis[g.order[0]].Unresponsive {
		return finding.Reason{}
	}
	switch {
	case g.nowhere:
		return d.silent(finding.NotBound, g.order[0])
	case g.was[g.works] == g.order[0] && d.moved(g):
		return d.silent(finding.MayNotCarry, g.order[0])
	}
	return finding.Reason{}
}

// moved reports whether the group is as this drain last wrote it, and has a master that took it over from the drained
// chassis.
func (d *draining) moved(g *group) bool {
	was, written := d.was[g.Name]
	base, last := Ranked(was.Before), Ranked(was.After)
	at := slices.Index(base, d.chassis)
	if !written || at < 0 || len(last) == 0 || !slices.Equal(last, g.Ranked()) {
		return false
	}
	first := slices.Index(base, last[0])
	return first < 0 || at < first
}

// last returns the names of a group's candidates, with the drained chassis last. Invalid candidates keep their places,
// except those that would take the group over: they go behind the valid ones, those without its network to the end.
func (d *draining) last(g *group) []string {
	order := without(g.order, d.drained)
	g.reasons[d.chassis] = finding.Reason{Code: d.why}
	var names, late, back []string
	for _, name := range distinct(g.Ranked()) {
		switch {
		case name == d.chassis:
		case slices.Contains(g.gone, name) && d.responds(name) && g.unconnected(d.instance.chassis[d.number[name]]) != "":
			g.reasons[name] = d.invalid(g, name)
			back = append(back, name)
		case slices.Contains(g.gone, name) && d.takesOver(g, name, names):
			g.reasons[name] = d.invalid(g, name)
			late = append(late, name)
		case slices.Contains(g.gone, name):
			names = append(names, name)
		case len(order) > 0:
			names, order = append(names, d.instance.chassis[order[0]].Name), order[1:]
		}
	}
	return append(slices.Concat(names, d.names(order), late, back), d.chassis)
}

// takesOver reports whether a candidate responds and would take the group over behind those that are ranked before it.
func (d *draining) takesOver(g *group, name string, before []string) bool {
	return d.responds(name) && d.bound && !g.boundTo(name) && !slices.ContainsFunc(before, d.responds)
}

// isElsewhere reports whether a group works on a responding chassis ranked before the drained one. That chassis keeps
// the group even if no plan would choose it. If it is cordoned, it keeps what this drain has moved to it: the rest may
// have to leave it. Ports of a disabled router are bound nowhere: for these it is enough that a chassis ranked before
// the drained one responds.
func (d *draining) isElsewhere(g Group) bool {
	ranked := g.Ranked()
	before := ranked[:max(0, slices.Index(ranked, d.chassis))]
	if _, written := d.was[g.Name]; !written {
		before = slices.DeleteFunc(before, func(name string) bool { return !d.open(name) })
	}
	return len(g.Ports) > 0 && !slices.ContainsFunc(g.Ports, func(p Port) bool {
		if p.Disabled {
			return !slices.ContainsFunc(before, d.responds)
		}
		return !slices.Contains(before, p.Active) || !d.responds(p.Active)
	})
}

func (d *draining) block(name string, why ...finding.Reason) {
	d.blocks[name] = true
	d.blocked = append(d.blocked, finding.About(finding.GatewayStays, name, finding.Args{Reasons: why}))
}

// demoteNetworkless adds the changes of gateways without a provider network. They go only to a candidate: no other
// chassis is known to be able to host them.
func (d *draining) demoteNetworkless(p *Plan) {
	for i, g := range d.unplanned {
		if !d.concerns(g) {
			continue
		}
		changes := len(p.Changes)
		d.demote(p, g, func(c int) bool {
			x := d.instance.chassis[c]
			return x.takesOver() && g.unconnected(x) == ""
		}, nil, finding.Because(finding.NoCandidateAlive)...)
		if len(p.Changes) > changes {
			d.unplanned[i].Candidates = p.Changes[changes].After
		}
	}
}

// demoteExternals adds the changes of groups of external ports. They go where the gateway that they follow goes.
func (d *draining) demoteExternals(p *Plan) {
	for _, g := range d.externals {
		lead := d.lead(g)
		switch {
		case !slices.Contains(g.Ranked(), d.chassis) || !d.concerns(g.Group):
		case lead == nil || d.elsewhere[lead]:
			d.demote(p, g.Group, func(c int) bool { return g.accepts(c) && c != d.drained }, g.class.schedulable,
				d.whyExternalsStay(g)...)
		case d.blocks[lead.Name] && (g.Ranked()[0] == d.chassis || g.boundTo(d.chassis)):
			d.block(g.Name, finding.Reason{Code: finding.FollowsBlocked, Name: lead.Name})
		case d.concerned[lead] && !d.blocks[lead.Name] ||
			lead.order[0] != d.drained && !slices.Contains(lead.Ranked(), d.chassis):
			d.demoteFollower(p, g)
		}
	}
}

func (d *draining) whyExternalsStay(g *group) []finding.Reason {
	if !g.networked(true) {
		return finding.Because(finding.NoCandidateAlive)
	}
	return d.whyNo(g, func(c int) bool { return c == d.drained })
}

// demoteFollower moves external ports with the gateway that they follow.
func (d *draining) demoteFollower(p *Plan, g *group) {
	names := d.last(g)
	if d.follow(g); !slices.Equal(g.order, g.was) {
		names = behind(append(d.names(g.order), d.chassis), d.chassis)
	}
	d.add(p, g.Group, d.farBack(g.Group, names), g.reasons)
}

// demote puts the chassis behind the other candidates of a group, if one of these may take the group over, or one of
// others. why has the reasons why none may.
func (d *draining) demote(p *Plan, g Group, may func(int) bool, others []int, why ...finding.Reason) {
	names := g.Ranked()
	at := slices.Index(names, d.chassis)
	if at < 0 {
		return
	}
	next := slices.IndexFunc(names, func(name string) bool {
		c, found := d.number[name]
		return found && may(c)
	})
	switch {
	case next < 0 && d.isElsewhere(g):
		return
	case next < 0 && len(others) == 0:
		d.block(g.Name, why...)
		return
	case next < 0:
		next = len(names)
		names = append(names, d.instance.chassis[others[0]].Name)
	}
	host := names[next]
	if next > at { // the candidates between would host it, and are dead or may not
		names = slices.Insert(slices.Delete(slices.Clone(names), next, next+1), at, host)
	}
	reasons := map[string]finding.Reason{d.chassis: {Code: d.why}, host: {Code: finding.TakesOverFrom, Name: d.chassis}}
	d.add(p, g, d.farBack(g, behind(names, d.chassis)), reasons)
}

// farBack returns names, the planned order, unless the present order differs from it only in cordoned chassis that are
// behind the drained one, which this drain had put last. Then it returns the present order: another drain has put its
// chassis there, and two drains would otherwise reorder each other's chassis for ever.
func (d *draining) farBack(g Group, names []string) []string {
	ranked := g.Ranked()
	at := slices.Index(ranked, d.chassis)
	if _, written := d.was[g.Name]; written && at > 0 && slices.Equal(behind(ranked, d.chassis), names) &&
		!slices.ContainsFunc(ranked[at+1:], d.open) {
		return ranked
	}
	return names
}

// open reports whether a candidate is not cordoned.
func (d *draining) open(name string) bool {
	c, found := d.number[name]
	return !found || !d.instance.chassis[c].Cordoned
}

func behind(names []string, name string) []string {
	if !slices.Contains(names, name) {
		return names
	}
	return append(without(names, name), name)
}

func (d *draining) host(g *group, r, c int) {
	g.order = without(g.order, c)
	if len(g.order) >= MaxCandidates-1 && !slices.Contains(g.was, c) {
		dropped := g.order[len(g.order)-1]
		g.reasons[d.instance.chassis[dropped].Name] = finding.Reason{Code: finding.OneTooMany}
		g.order = g.order[:len(g.order)-1]
	}
	g.order = slices.Insert(g.order, min(r, len(g.order)), c)
	g.reasons[d.instance.chassis[c].Name] = finding.Reason{Code: finding.TakesOverFrom, Name: d.chassis}
}

// Clear removes a drained chassis from the candidates of every group. It leaves a group, and adds it to [Plan.Blocked],
// if the chassis hosts it, if the chassis is its first candidate, if no other candidate responds and is not cordoned,
// or if another chassis would then host it without its network.
func Clear(s State, chassis string) Plan {
	p := Plan{Operation: OperationClear, Chassis: chassis, Changes: []Change{}}
	living := map[string]bool{}
	for _, c := range s.Chassis {
		living[c.Name] = c.Name != chassis && c.takesOver()
	}
	in := newInstance(s)
	stays := func(g Group, why finding.ReasonCode) {
		p.Blocked = append(p.Blocked, finding.About(finding.CandidateStays, g.Name,
			finding.Args{Value: chassis, Reasons: finding.Because(why)}))
	}
	for _, g := range s.Groups {
		names := g.Ranked()
		rest := without(names, chassis)
		host, _ := in.claimant(g.Candidates)
		switch {
		case len(rest) == len(names):
		case names[0] == chassis:
			stays(g, finding.IsFirst)
		case !slices.ContainsFunc(rest, func(name string) bool { return living[name] }):
			stays(g, finding.NoOtherAlive)
		case host.Name == chassis && g.boundTo(chassis):
			stays(g, finding.HostsIt)
		case in.isStray(g, prioritized(nil, rest)):
			stays(g, finding.WouldStray)
		default:
			p.Changes = append(p.Changes, changed(g, prioritized(g.Candidates, rest),
				map[string]finding.Reason{chassis: {Code: finding.TakenOut}}))
		}
	}
	slices.SortFunc(p.Changes, func(a, b Change) int { return cmp.Compare(a.Group, b.Group) })
	p.Blocked = SortFindings(p.Blocked)
	p.Cost = costOf(p.Changes)
	return p
}
