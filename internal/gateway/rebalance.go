package gateway

import (
	"cmp"
	"fmt"
	"slices"
)

// Bound says of a network why a rebalancing takes the moves that it takes.
type Bound struct {
	Network string `json:"network" yaml:"network"`
	// Moves is how many groups move. Fewest is the least number that could make the load
	// even, if every gateway could go everywhere.
	Moves  int `json:"moves" yaml:"moves"`
	Fewest int `json:"fewest" yaml:"fewest"`
	// Spread is the difference between the largest and the smallest load in the end.
	Spread int `json:"spread" yaml:"spread"`
	// Proof is why nothing better is possible, for people.
	Proof string `json:"proof" yaml:"proof"`
}

// Rebalance moves gateways from chassis that host many of a network to those that host
// few: only where there are at least two fewer, and only to chassis that are candidates
// already, unless new ones are allowed. Each move interrupts the gateway's traffic, so
// that it takes as few as can be.
func Rebalance(s State, o Options) Plan {
	if o.MaxMoves > 0 {
		unbounded := o
		unbounded.MaxMoves = 0
		if p := Rebalance(s, unbounded); p.Moves() <= o.MaxMoves {
			return p
		}
	}
	w := newScene(s)
	w.hold(o)
	before := w.report()
	r := rebalancing{scene: w, options: o, bounds: make([]Bound, len(w.networks))}
	// Each round makes the load evener, except that a bound on moves could have groups
	// take them from each other for ever.
	for again, rounds := true, 0; again && rounds <= len(w.groups); again, rounds = r.several(), rounds+1 {
		for n := range w.networks {
			r.singles(n)
		}
	}
	moved := map[*group]bool{}
	for _, g := range w.groups {
		if len(g.order) > 0 && g.order[0] != g.was[0] {
			moved[g] = true
		}
	}
	touched := map[int]bool{}
	for g := range moved {
		for _, s := range g.weight {
			touched[s.network] = true
		}
	}
	w.seconds(func(g *group) bool { return touched[g.weight[0].network] }, false)
	w.follow()
	p := w.plan(rebalance, o, before)
	for _, after := range p.After {
		n, _ := slices.BinarySearch(w.networks, after.Name)
		p.Bounds = append(p.Bounds, r.judge(r.bounds[n], n, moved, after))
	}
	return p
}

// rebalancing is one on its way.
type rebalancing struct {
	*scene
	options Options
	bounds  []Bound
	// limited says that there would be more to move than is allowed.
	limited bool
}

// left is how many moves are allowed beside those of other groups than these.
func (r *rebalancing) left(but func(*group) bool) int {
	left := r.options.MaxMoves
	if left == 0 {
		return len(r.groups)
	}
	for _, g := range r.groups {
		if len(g.order) > 0 && g.order[0] != g.was[0] && !but(g) {
			left--
		}
	}
	return left
}

// destinations are the chassis that the group may be moved to.
func (r *rebalancing) destinations(g *group) []int {
	if r.options.AllowNewCandidates {
		return g.kind.open
	}
	return slices.DeleteFunc(slices.Clone(g.was[1:]), func(c int) bool { return !g.accepts(c) })
}

// singles moves the groups that are one port of the network.
func (r *rebalancing) singles(n int) {
	movable := func(g *group) bool { return len(g.order) > 0 && g.in(n) && g.single() && !g.held }
	loads := r.loads()
	load := slices.Clone(loads[n])
	var seats []seat
	var seated []*group
	for _, g := range r.groups {
		if movable(g) {
			load[g.order[0]]--
			seats, seated = append(seats, seat{home: g.was[0], at: g.was[0], may: r.destinations(g)}), append(seated, g)
		}
	}
	total := r.totals(loads)
	t := r.table(n, -1, load, total, slices.Clone(seats), false)
	t.settle()
	r.bounds[n] = Bound{Fewest: t.fewest()}
	if most := r.left(movable); t.moves() > most {
		r.limited = true
		t = r.table(n, -1, load, total, seats, false)
		t.within(most)
	}
	for i, g := range seated {
		r.promote(g, t.chassis(i))
	}
}

// several moves the groups of several ports, each as long as it makes the load of its
// networks evener. They hang together, so that no order of moves is known to be best.
func (r *rebalancing) several() (moved bool) {
	loads := r.loads()
	for _, g := range r.groups {
		if g.single() || g.held || len(g.order) == 0 {
			continue
		}
		from, to := g.order[0], -1
		gain := 0
		for _, c := range append([]int{g.was[0]}, r.destinations(g)...) {
			if d := g.evener(loads, from, c); d > gain {
				gain, to = d, c
			}
		}
		if to < 0 {
			continue
		}
		if to != g.was[0] && from == g.was[0] && r.left(func(*group) bool { return false }) < 1 {
			r.limited = true
			continue
		}
		for _, s := range g.weight {
			loads[s.network][from] -= s.ports
			loads[s.network][to] += s.ports
		}
		r.promote(g, to)
		moved = true
	}
	return moved
}

// evener is by how much the squares of the loads get less if the group moves.
func (g *group) evener(loads [][]int, from, to int) (gain int) {
	if from == to {
		return 0
	}
	for _, s := range g.weight {
		gain += 2 * s.ports * (loads[s.network][from] - loads[s.network][to] - s.ports)
	}
	return gain
}

// judge says why the moves are those that they are.
func (r *rebalancing) judge(b Bound, n int, moved map[*group]bool, after Network) Bound {
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
			home[g.was[0]] += g.weight[at].ports
		}
	}
	if several > 0 { // each move takes no more than the largest group along
		b.Fewest = (fewest(r.places(n, home)) + largest - 1) / largest
	}
	switch {
	case r.limited:
		b.Proof = fmt.Sprintf("as even as max-moves=%d allows", r.options.MaxMoves)
	case b.Moves == 0 && b.Spread <= 1:
		b.Proof = "the load is even already"
	case b.Spread <= 1 && b.Moves == b.Fewest:
		b.Proof = fmt.Sprintf("the load is even, and no fewer than %d moves make it so: who hosts too many has to give as many", b.Fewest)
	case several > 0:
		b.Proof = fmt.Sprintf("best for the gateways of one port; no best is known for %s of several ports, which move together", count(several, "group"))
	default:
		b.Proof = "no chain of moves among the candidates makes the load evener, or as even with fewer moves"
	}
	return b
}

// places are the loads of the chassis that a network's gateways may be on, or are.
func (r *rebalancing) places(n int, load []int) (all []int) {
	for c, l := range load {
		if _, open := slices.BinarySearch(r.open(n), c); open || l > 0 {
			all = append(all, l)
		}
	}
	return all
}

// promote makes a chassis the master of the candidates that there were; who was it takes
// its place.
func (w *scene) promote(g *group, c int) {
	old := g.was[0]
	g.order = slices.Clone(g.was)
	clear(g.reasons)
	for _, name := range g.gone {
		g.reasons[name] = w.invalid(g.Group, name)
	}
	if c == old {
		return
	}
	reason := fmt.Sprintf("%s hosts more than %s", w.chassis[old].Name, w.chassis[c].Name)
	g.reasons[w.chassis[c].Name], g.reasons[w.chassis[old].Name] = reason, reason
	if at := slices.Index(g.order, c); at > 0 {
		g.order[0], g.order[at] = c, old
		return
	}
	g.order = slices.Insert(g.order, 0, c)
	if len(g.order) > MaxCandidates {
		g.reasons[w.chassis[g.order[MaxCandidates]].Name] = reason
		g.order = g.order[:MaxCandidates]
	}
}

// within makes the table as even as a number of moves can: what gives most for each
// move comes first.
func (t *table) within(most int) {
	w := t.ways()
	for left := most; left > 0; left = most - t.moves() {
		c, found := t.cheaper(w, t.lexical())
		if !found {
			return
		}
		for c.moves > 0 { // a better one, in squares for each move
			better, found := t.cheaper(w, price{c.moves, -c.squares})
			if !found || better.squares*c.moves >= c.squares*better.moves {
				break
			}
			c = better
		}
		if c.moves > int64(left) {
			var direct bool
			if c, direct = t.direct(w); !direct {
				return
			}
		}
		t.apply(w, c)
	}
}

// direct is the single move that makes the load evenest.
func (t *table) direct(w *ways) (best cycle, found bool) {
	for a := range w.n {
		for _, b := range w.next[a] {
			if t.load[w.places[a]]-t.load[w.places[b]] < 2 {
				continue
			}
			c := t.priced(w, []int{w.n, a, b})
			if !found || cmp.Or(cmp.Compare(c.squares, best.squares), cmp.Compare(c.moves, best.moves)) < 0 {
				best, found = c, true
			}
		}
	}
	return best, found
}
