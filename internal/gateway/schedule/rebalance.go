package schedule

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/mincost"
)

// Rebalance moves gateways from chassis that host many of a network to chassis that host at least two fewer. It moves
// them only to chassis that already are candidates, unless new ones are allowed. Each move interrupts the gateway's
// traffic, so it makes as few moves as possible.
func Rebalance(s State, o Options) Plan {
	if o.MaxMoves > 0 {
		unbounded := o
		unbounded.MaxMoves = 0
		if p := Rebalance(s, unbounded); p.Moves() <= o.MaxMoves {
			return p
		}
	}
	in := newInstance(s)
	in.hold(o)
	in.leaveDeadMasters()
	before := in.networkReports()
	r := rebalancing{instance: in, options: o, separating: make([]int, len(in.networks))}
	for moved := true; moved; moved = r.moveSeveralPorts() { // each time the load is more even
		for n := range in.networks {
			r.moveSinglePorts(n)
		}
	}
	r.keepWithinBound()
	r.separateAll()
	moved, touched := map[*group]bool{}, map[int]bool{}
	for _, g := range in.groups {
		if !g.moves() {
			continue
		}
		moved[g] = true
		for _, s := range g.weight {
			touched[s.network] = true
		}
	}
	in.chooseFirstBackups(func(g *group) bool { return touched[g.weight[0].network] }, false)
	in.findLostFollowers()
	in.findCutOff(in.behind)
	r.unbound = in.findOutage() == finding.NoGatewayBound
	p := in.plan(rebalance, o, before)
	for _, after := range p.After {
		n, _ := slices.BinarySearch(in.networks, after.Name)
		p.Bounds = append(p.Bounds, r.bound(n, moved, after))
	}
	return p
}

// leaveDeadMasters holds the groups that a backup hosts because their master does not respond: a move would interrupt
// them and relieve no chassis. A drain of the master puts them in order.
func (in *instance) leaveDeadMasters() {
	left := map[int][]Port{}
	in.loadBackups(func(g *group) {
		if !g.held {
			left[g.was[0]] = append(left[g.was[0]], g.Ports...)
		}
		g.held = true
	})
	for c, ports := range left {
		in.find(finding.GatewaysOnBackups, in.chassis[c].Name,
			finding.Args{Count: len(ports), Detail: finding.Said(named(ports))})
	}
}

type rebalancing struct {
	*instance
	options Options
	// separating has the moves in each network that only separate gateways of one router.
	separating []int
	limited    bool // by [Options.MaxMoves]
	unbound    bool // no gateway is bound
}

func (g *group) moves() bool { return len(g.order) > 0 && g.order[0] != g.was[0] }

// left returns how many more moves are allowed.
func (r *rebalancing) left() int {
	moved := len(filter(r.groups, (*group).moves))
	if r.options.MaxMoves == 0 {
		return len(r.groups) - moved
	}
	return r.options.MaxMoves - moved
}

func (r *rebalancing) destinations(g *group) []int {
	if r.anywhere(g) {
		return filter(g.class.schedulable, g.serves)
	}
	return filter(g.was[1:], func(c int) bool { return g.accepts(c) && g.serves(c) })
}

func (r *rebalancing) anywhere(g *group) bool {
	return r.options.AllowNewCandidates && len(g.class.schedulable) > 0
}

func (r *rebalancing) moveSinglePorts(n int) {
	loads := r.loads()
	load := slices.Clone(loads[n])
	var l jobList
	for _, g := range r.groups {
		if !g.in(n) || !g.single() || !g.movable() {
			continue
		}
		load[g.order[0]]--
		var class int
		if r.anywhere(g) {
			class = l.sharedClass(g.class, r.destinations(g))
		} else {
			class = l.class(r.destinations(g))
		}
		l.add(g, g.was[0], class)
	}
	a := l.start(load, r.totals(loads), r.slots(n, loads[n]))
	a.Optimize()
	for i, g := range l.groups {
		r.promote(g, a.of(i), finding.Reason{})
	}
}

func (g *group) movable() bool { return len(g.order) > 0 && !g.held }

// keepWithinBound starts over if there are more moves than [Options.MaxMoves]: it makes the moves that help most, one
// after the other.
func (r *rebalancing) keepWithinBound() {
	if r.limited = r.left() < 0; !r.limited {
		return
	}
	var movable []choice
	for _, g := range r.groups {
		if g.movable() {
			r.promote(g, g.was[0], finding.Reason{})
			movable = append(movable, choice{g, r.destinations(g), g.was[0]})
		}
	}
	loads := r.loads()
	for range r.options.MaxMoves {
		i, to := r.mostHelpful(movable, loads)
		if i < 0 {
			return
		}
		g := movable[i].group
		put(loads, g, g.was[0], -1)
		put(loads, g, to, 1)
		r.promote(g, to, finding.Reason{})
		movable = slices.Delete(movable, i, i+1)
	}
}

// mostHelpful returns the index of the group whose move makes the load most even, and its new chassis. The index is -1
// if no move helps.
func (r *rebalancing) mostHelpful(movable []choice, loads [][]int) (group, to int) {
	// Of the groups on a chassis that may go everywhere, one is enough.
	type alike struct {
		class         *class
		network, from int
	}
	seen := map[alike]bool{}
	group, gain := -1, 0
	for i, m := range movable {
		if r.anywhere(m.group) && m.group.single() {
			key := alike{m.group.class, m.group.weight[0].network, m.at}
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		for _, c := range m.among {
			if d := m.group.gain(loads, m.at, c); d > gain {
				group, to, gain = i, c, d
			}
		}
	}
	return group, to
}

// separateAll gives gateways of one router to different chassis, after the fewest moves that balance the load.
func (r *rebalancing) separateAll() {
	if r.limited {
		return
	}
	for n := range r.networks {
		r.separate(n)
	}
}

func (r *rebalancing) separate(n int) {
	s := separation{
		instance: r.instance, load: r.loads()[n], shifts: true, left: r.left(),
	}
	for _, g := range r.groups {
		switch {
		case !g.single():
			s.shifts = s.shifts && g.portsIn(n) == 0 // the places of these depend on each chassis's load
		case g.in(n) && g.movable():
			s.groups, s.options = append(s.groups, g), append(s.options, slices.Concat(r.destinations(g), g.was[:1]))
			s.home, s.at = append(s.home, g.was[0]), append(s.at, g.order[0])
		}
	}
	left := s.left
	s.run()
	r.separating[n] = left - s.left
	for i, g := range s.groups {
		if s.at[i] != g.order[0] {
			r.promote(g, s.at[i], finding.Reason{Code: finding.SeparatesRouter})
		}
	}
}

// moveSeveralPorts moves the groups of several ports, each as long as that makes the load of its networks more even.
// They depend on each other: no order of moves is known to be best.
func (r *rebalancing) moveSeveralPorts() (moved bool) {
	loads := r.loads()
	for _, g := range r.groups {
		if g.single() || !g.movable() {
			continue
		}
		from, to := g.order[0], r.best(g, loads)
		if to == from {
			continue
		}
		put(loads, g, from, -1)
		put(loads, g, to, 1)
		r.promote(g, to, finding.Reason{})
		moved = true
	}
	return moved
}

// best returns the chassis on which the group makes the loads most even.
func (r *rebalancing) best(g *group, loads [][]int) int {
	best, gain := g.order[0], 0
	for _, c := range append([]int{g.was[0]}, r.destinations(g)...) {
		if d := g.gain(loads, g.order[0], c); d > gain {
			gain, best = d, c
		}
	}
	return best
}

// gain returns by how much the sum of squares shrinks if the group moves.
func (g *group) gain(loads [][]int, from, to int) (gain int) {
	if from == to {
		return 0
	}
	for _, s := range g.weight {
		gain += 2 * s.ports * (loads[s.network][from] - loads[s.network][to] - s.ports)
	}
	return gain
}

func (r *rebalancing) bound(n int, moved map[*group]bool, after Network) Bound {
	b := Bound{Network: r.networks[n], Spread: after.Spread(), Separating: r.separating[n]}
	several, largest := 0, 1
	home := make([]int, len(r.chassis))
	for _, g := range r.groups {
		at := slices.IndexFunc(g.weight, func(s share) bool { return s.network == n })
		if at < 0 {
			continue
		}
		if moved[g] {
			b.Moves++
		}
		if !g.single() {
			several++
		}
		largest = max(largest, g.weight[at].ports)
		if len(g.was) > 0 {
			home[g.was[g.loads]] += g.weight[at].ports
		}
	}
	// A move takes at most the largest group along.
	b.Fewest = (mincost.LowerBound(r.slotLoads(n, home)) + largest - 1) / largest
	b.Why = r.proof(b, n, several)
	all := []finding.Reason{b.Why}
	if b.Separating > 0 {
		all = append(all, finding.Reason{Code: finding.BoundSeparating, Value: Count(b.Separating, "move")})
	}
	b.Proof = finding.Texts(all)
	return b
}

// proof returns the reason why no plan is more even, or as even with fewer moves.
func (r *rebalancing) proof(b Bound, n, several int) finding.Reason {
	moves := b.Moves - b.Separating
	switch {
	case r.limited:
		return finding.Reason{Code: finding.BoundByMaxMoves, Count: r.options.MaxMoves}
	case moves == 0 && len(r.schedulable[n]) == 0:
		return finding.Reason{Code: finding.BoundByChassis}
	case moves == 0 && r.unbound:
		return finding.Reason{Code: finding.BoundUnhosted}
	case moves == 0 && b.Spread <= 1:
		return finding.Reason{Code: finding.BoundBalanced}
	case b.Spread <= 1 && moves == b.Fewest:
		return finding.Reason{
			Code: finding.BoundFewestMoves, Value: Count(b.Fewest, "move"), Name: Count(b.Fewest, "gateway"),
		}
	case several > 0:
		return finding.Reason{Code: finding.BoundOfSingle, Value: Count(several, "group")}
	}
	return finding.Reason{Code: finding.BoundOfAll}
}

// slotLoads returns the loads of the chassis that may host a network's gateways, or host some now.
func (r *rebalancing) slotLoads(n int, load []int) (all []int) {
	for c, l := range load {
		if _, open := slices.BinarySearch(r.schedulable[n], c); open || l > 0 {
			all = append(all, l)
		}
	}
	return all
}

// promote makes a chassis the master; the old one takes its place. The reason is that the old one hosts more, unless
// there is another one.
func (in *instance) promote(g *group, c int, reason finding.Reason) {
	old := g.was[0]
	g.order = slices.Clone(g.was)
	clear(g.reasons)
	for _, name := range g.gone {
		g.reasons[name] = in.invalid(g, name)
	}
	if c == old {
		return
	}
	if reason.IsZero() {
		reason = finding.Reason{Code: finding.HostsMore, Name: in.chassis[old].Name, Value: in.chassis[c].Name}
	}
	g.reasons[in.chassis[old].Name] = reason
	in.lift(g, c, reason)
}
