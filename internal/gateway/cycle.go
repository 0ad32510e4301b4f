package gateway

import "slices"

// price weighs what a cycle changes: squares is the change of the sum of the squares
// of the loads, moves the change of the number of moves.
type price struct{ squares, moves int64 }

// lexical is the price where evenness comes first, whatever it costs.
func (t *table) lexical() price { return price{int64(len(t.seats)) + 1, 1} }

// cycle is places, by their numbers, of which each gives a seat to the next; where it is a way, the first
// one only gives, and the last one only takes.
type cycle struct {
	places         []int
	way            bool
	squares, moves int64
}

// cheaper finds a cycle of changes with a negative price, if there is one: by Bellman
// and Ford's algorithm, from all places at once. Place n stands for the outside, from
// which a place takes less, or to which it gives more.
func (t *table) cheaper(w *ways, p price) (cycle, bool) {
	n := w.n
	far, from := make([]int64, n+1), make([]int, n+1)
	for i := range from {
		from[i] = -1
	}
	for {
		changed := false
		relax := func(a, b int, cost int64) {
			if far[a]+cost < far[b] {
				far[b], from[b], changed = far[a]+cost, a, true
			}
		}
		for a := range n {
			if len(w.next[a]) > 0 {
				relax(n, a, -p.squares*int64(2*t.load[w.places[a]]-1))
			}
		}
		for a := range n {
			for _, b := range w.next[a] {
				relax(a, b, p.moves*int64(w.cost[a*n+b]))
			}
		}
		for a := range n {
			relax(a, n, p.squares*int64(2*t.load[w.places[a]]+1))
		}
		if !changed {
			return cycle{}, false
		}
		if ring := loop(from); ring != nil {
			return t.priced(w, ring), true
		}
	}
}

// loop is a cycle in which each comes from the one before; nil if there is none.
func loop(from []int) []int {
	seen := make([]int, len(from)) // 0 not yet, else the walk on which it was
	for start := range from {
		v := start
		for v >= 0 && seen[v] == 0 {
			seen[v] = start + 1
			v = from[v]
		}
		if v < 0 || seen[v] != start+1 {
			continue
		}
		ring := []int{v}
		for u := from[v]; u != v; u = from[u] {
			ring = append(ring, u)
		}
		for i, j := 0, len(ring)-1; i < j; i, j = i+1, j-1 {
			ring[i], ring[j] = ring[j], ring[i]
		}
		return ring
	}
	return nil
}

// priced makes a cycle of a ring, in which each place gives to the next.
func (t *table) priced(w *ways, ring []int) cycle {
	c := cycle{}
	for i, v := range ring {
		if v == w.n {
			ring = append(append([]int{}, ring[i+1:]...), ring[:i]...)
			c.way = true
			first, last := ring[0], ring[len(ring)-1]
			c.squares = int64(2*t.load[w.places[last]]+1) - int64(2*t.load[w.places[first]]-1)
			break
		}
	}
	c.places = ring
	for i := range c.steps() {
		a, b := c.step(i)
		c.moves += int64(w.cost[a*w.n+b])
	}
	return c
}

func (c cycle) steps() int {
	if c.way {
		return len(c.places) - 1
	}
	return len(c.places)
}

func (c cycle) step(i int) (a, b int) { return c.places[i], c.places[(i+1)%len(c.places)] }

// apply makes the changes of a cycle, and finds the ways from its places again.
func (t *table) apply(w *ways, c cycle) {
	moved := make([]int, c.steps())
	for i := range moved {
		a, b := c.step(i)
		moved[i] = int(w.seat[a*w.n+b])
	}
	for i, seat := range moved {
		a, b := c.step(i)
		t.move(seat, w.places[b])
		at := slices.Index(w.seated[a], seat)
		w.seated[a] = slices.Delete(w.seated[a], at, at+1)
		w.seated[b] = append(w.seated[b], seat)
	}
	for _, a := range c.places {
		t.leave(w, a)
	}
}

// settle makes the table even with the fewest moves: in the end no change is cheaper.
func (t *table) settle() {
	if t.even(); t.certain() {
		return
	}
	w := t.ways()
	for c, found := t.cheaper(w, t.lexical()); found; c, found = t.cheaper(w, t.lexical()) {
		if t.apply(w, c); t.certain() {
			return
		}
	}
}

// certain says that it needs no search to see that nothing is better: all have the same
// choices; or nothing has moved, and no place that has a seat to give has more than one
// above one that may take it; or the loads are within one of each other, and who had too
// much gave no more than that.
func (t *table) certain() bool {
	if len(t.load) == 0 || len(t.listed.seat) == 0 && len(t.crowds) <= 1 {
		return true
	}
	moves := t.moves()
	if moves == 0 && t.difference() <= 1 {
		return true
	}
	return slices.Max(t.load)-slices.Min(t.load) <= 1 && moves == t.fewest()
}

// difference is that between the fullest place that may give and the emptiest that may
// take something.
func (t *table) difference() int {
	lowest, highest := slices.Max(t.load), 0
	for _, s := range t.seats {
		if s.at < 0 || len(s.may) == 0 {
			continue
		}
		highest = max(highest, t.load[s.at])
		if t.known[&s.may[0]] == nil {
			lowest = min(lowest, t.load[t.least(s.may, -1)])
		}
	}
	for _, c := range t.crowds {
		lowest = min(lowest, t.load[t.least(c.may, -1)])
	}
	return highest - lowest
}

// fewest is the number of moves without which the loads can't be even.
func (t *table) fewest() int {
	home := slices.Clone(t.load)
	for _, s := range t.seats {
		if s.at >= 0 {
			home[s.at]--
		}
		if s.home >= 0 {
			home[s.home]++
		}
	}
	return fewest(home)
}

// fewest is the number of moves of one each without which loads can't be within one of
// each other: what is above the larger of the two loads has to go, and so has one from
// each place that has the larger one, where there are more of these than can keep it.
func fewest(home []int) int {
	if len(home) == 0 {
		return 0
	}
	total := 0
	for _, l := range home {
		total += l
	}
	floor := total / len(home)
	moves, larger := 0, -total%len(home)
	for _, l := range home {
		if l > floor {
			moves += l - floor - 1
			larger++
		}
	}
	return moves + max(0, larger)
}
