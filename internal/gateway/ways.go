package gateway

// none is a cost that stands for no way.
const none = 2

// ways are the cheapest moves between places: cost is 1 for a seat that leaves its
// home, -1 for one that comes home, 0 for one that is not at home and does not come.
type ways struct {
	// places are those that a seat may leave or come to; the others don't matter, and
	// all that follows goes by where a place stands among these.
	places []int
	number []int32
	n      int
	cost   []int8
	seat   []int32
	next   [][]int
	seated [][]int
}

func (t *table) ways() *ways {
	w := &ways{number: make([]int32, len(t.load))}
	for _, s := range t.seats {
		if s.at >= 0 {
			w.count(s.at, s.home)
			if t.crowd(s) == nil {
				w.count(s.may...)
			}
		}
	}
	for _, c := range t.crowds {
		w.count(c.may...)
	}
	n := len(w.places)
	w.n, w.cost, w.seat, w.next, w.seated = n, make([]int8, n*n), make([]int32, n*n), make([][]int, n), make([][]int, n)
	for i := range w.cost {
		w.cost[i] = none
	}
	for i, s := range t.seats {
		if s.at >= 0 {
			a := w.number[s.at] - 1
			w.seated[a] = append(w.seated[a], i)
		}
	}
	for a := range n {
		t.leave(w, a)
	}
	return w
}

// count has places take part.
func (w *ways) count(places ...int) {
	for _, p := range places {
		if p >= 0 && w.number[p] == 0 {
			w.places = append(w.places, p)
			w.number[p] = int32(len(w.places))
		}
	}
}

// leave finds the ways from one place.
func (t *table) leave(w *ways, a int) {
	for _, b := range w.next[a] {
		w.cost[a*w.n+b] = none
	}
	w.next[a] = w.next[a][:0]
	var cheapest map[*crowd]int
	for _, i := range w.seated[a] {
		s := t.seats[i]
		if away := s.home >= 0 && s.home != s.at; away {
			w.add(a, s.home, -1, i)
		}
		c := t.crowd(s)
		if c == nil {
			for _, b := range s.may {
				w.add(a, b, s.leaving(b), i)
			}
			continue
		}
		if best, found := cheapest[c]; !found || s.leaving(-1) < t.seats[best].leaving(-1) {
			if cheapest == nil {
				cheapest = map[*crowd]int{}
			}
			cheapest[c] = i
		}
	}
	for _, c := range t.crowds {
		if i, found := cheapest[c]; found {
			for _, b := range c.may {
				w.add(a, b, t.seats[i].leaving(b), i)
			}
		}
	}
}

// crowd is the seat's, if it is of one.
func (t *table) crowd(s seat) *crowd {
	if len(s.may) == 0 {
		return nil
	}
	return t.known[&s.may[0]]
}

// add notes that a seat may go from a place, by its number, to another.
func (w *ways) add(a, to int, cost int8, seat int) {
	b := int(w.number[to]) - 1
	k := a*w.n + b
	if a == b || w.cost[k] <= cost {
		return
	}
	if w.cost[k] == none {
		w.next[a] = append(w.next[a], b)
	}
	w.cost[k], w.seat[k] = cost, int32(seat)
}

// leaving is what it costs to move the seat to b.
func (s seat) leaving(b int) int8 {
	switch {
	case s.home < 0:
		return 0
	case s.home == b:
		return -1
	case s.home == s.at:
		return 1
	}
	return 0
}
