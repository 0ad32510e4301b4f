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
	r := rebalancing{
		instance: in, options: o, bounds: make([]Bound, len(in.networks)), separating: make([]int, len(in.networks)),
	}
	// With a bound on moves the loop may not end by itself: groups take moves from each other.
	for range len(in.groups) + 1 {
		for n := range in.networks {
			r.moveSinglePorts(n)
		}
		if !r.moveSeveralPorts() {
			break
		}
	}
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
	r.unbound = in.findOutage() == finding.NoGatewayBound
	p := in.plan(rebalance, o, before)
	for _, after := range p.After {
		n, _ := slices.BinarySearch(in.networks, after.Name)
		p.Bounds = append(p.Bounds, r.bound(r.bounds[n], n, moved, after))
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
	bounds  []Bound
	// separating has the moves in each network that only separate gateways of one router.
	separating []int
	limited    bool
	unbound    bool // no gateway is bound
}

func (g *group) moves() bool { return len(g.order) > 0 && g.order[0] != g.was[0] }

// left returns how many moves the bound leaves to the groups for which but is true, after the moves of all others.
func (r *rebalancing) left(but func(*group) bool) int {
	left := r.options.MaxMoves
	if left == 0 {
		return len(r.groups)
	}
	for _, g := range r.groups {
		if g.moves() && !but(g) {
			left--
		}
	}
	return left
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
	movable := func(g *group) bool { return len(g.order) > 0 && g.in(n) && g.single() && !g.held }
	loads := r.loads()
	load := slices.Clone(loads[n])
	var l jobList
	for _, g := range r.groups {
		if !movable(g) {
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
	total, slots := r.totals(loads), r.slots(n, loads[n])
	a := l.start(load, total, slots)
	a.Optimize()
	r.bounds[n] = Bound{Fewest: a.LowerBound()}
	if budget := r.left(movable); a.Moves() > budget {
		r.limited = true
		a = l.start(load, total, slots)
		a.OptimizeWithBudget(budget)
	}
	for i, g := range l.groups {
		r.promote(g, a.of(i), finding.Reason{})
	}
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
		instance: r.instance, load: r.loads()[n], shifts: true, left: r.left(func(*group) bool { return false }),
	}
	for _, g := range r.groups {
		switch {
		case !g.single():
			s.shifts = s.shifts && g.portsIn(n) == 0 // the places of these depend on each chassis's load
		case g.in(n) && !g.held && len(g.order) > 0:
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
		if g.single() || g.held || len(g.order) == 0 {
			continue
		}
		from, to := g.order[0], r.best(g, loads)
		if to == from {
			continue
		}
		if to != g.was[0] && from == g.was[0] && r.left(func(*group) bool { return false }) < 1 {
			r.limited = true
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

func (r *rebalancing) bound(b Bound, n int, moved map[*group]bool, after Network) Bound {
	b.Network, b.Spread = r.networks[n], after.Spread()
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
	if several > 0 { // a move takes at most the largest group along
		b.Fewest = (mincost.LowerBound(r.slotLoads(n, home)) + largest - 1) / largest
	}
	b.Separating = r.separating[n]
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
