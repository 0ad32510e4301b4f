package gateway

// seat is something that is at one place and may be at others.
type seat struct {
	// home is where it was at first; nowhere is -1, and going from nowhere is no move.
	home, at int
	// may are the places where it may go. Many seats may have the same slice.
	may []int
}

// table is seats at places. It finds how to spread the seats as evenly as can be,
// with the fewest moves that can bring that about.
//
// Even means: the least sum of the squares of the loads. That is the best for every
// other measure of evenness, the largest load included (Harvey, Ladner, Lovász,
// Tamir: Semi-matchings for bipartite graphs and load balancing, J. Algorithms 59,
// 2006). It is a flow of least cost, and a flow is of least cost just if no cycle of
// changes makes it cheaper.
type table struct {
	// load is that of each place, what can't be moved included; tie decides between
	// places of the same load.
	load, tie []int
	seats     []seat
	// crowds are the seats with the same choices, in the order in which they came.
	crowds []*crowd
	known  map[*int]*crowd
	listed listed
}

// crowd is the seats that have the same choices.
type crowd struct {
	may []int
	// at are the seats at each place; some have gone meanwhile.
	at map[int][]int
	// next gives those places first that have least to carry.
	next *emptiest
}

// shared is how many seats must have the same choices for a search to look at them
// together.
const shared = 2

// newTable puts the seats where they are; each that is nowhere goes to the place with
// the least load.
func newTable(load, tie []int, seats []seat) *table {
	t := &table{load: load, tie: tie, seats: seats, known: map[*int]*crowd{}}
	for _, s := range seats {
		if s.at >= 0 {
			t.load[s.at]++
		}
	}
	count := map[*int]int{}
	for _, s := range seats {
		if len(s.may) > 0 {
			count[&s.may[0]]++
		}
	}
	for _, s := range seats {
		if len(s.may) == 0 || count[&s.may[0]] < shared && len(s.may) <= 2*MaxCandidates {
			continue
		}
		if t.known[&s.may[0]] == nil {
			c := &crowd{may: s.may, at: map[int][]int{}, next: newEmptiest(t.load, t.tie, s.may)}
			t.known[&s.may[0]], t.crowds = c, append(t.crowds, c)
		}
	}
	t.listed = newListed(len(load), seats, func(s seat) bool { return len(s.may) > 0 && t.known[&s.may[0]] == nil })
	for i := range seats {
		s := &t.seats[i]
		if s.at < 0 && len(s.may) > 0 {
			if c := t.known[&s.may[0]]; c != nil {
				s.at = c.next.take(func(int) bool { return false })
			} else {
				s.at = t.least(s.may, -1)
			}
			t.load[s.at]++
		}
		if s.at >= 0 && len(s.may) > 0 {
			t.list(i)
		}
	}
	return t
}

// list notes where a seat may go from where it is.
func (t *table) list(i int) {
	s := t.seats[i]
	if c := t.known[&s.may[0]]; c != nil {
		c.at[s.at] = append(c.at[s.at], i)
		return
	}
	for _, b := range s.may {
		if b != s.at {
			t.listed.add(s.at, b, i)
		}
	}
}

// less orders places: the one with less to carry first.
func (t *table) less(a, b int) bool {
	switch {
	case t.load[a] != t.load[b]:
		return t.load[a] < t.load[b]
	case t.tie != nil && t.tie[a] != t.tie[b]:
		return t.tie[a] < t.tie[b]
	}
	return a < b
}

// least is the place of least load, but for one; -1 if there is no other.
func (t *table) least(places []int, but int) int {
	best := -1
	for _, p := range places {
		if p != but && (best < 0 || t.less(p, best)) {
			best = p
		}
	}
	return best
}

// move takes a seat to another place.
func (t *table) move(i, to int) {
	t.load[t.seats[i].at]--
	t.seats[i].at = to
	t.load[to]++
	t.list(i)
}

// moves counts the seats that are not where they were.
func (t *table) moves() int {
	n := 0
	for _, s := range t.seats {
		if s.home >= 0 && s.home != s.at {
			n++
		}
	}
	return n
}

// even moves seats from the fullest place to the emptiest that they may go to, as
// long as it makes a difference. Where all have the same choices, that is the best
// there is: no chain of moves does more than its first and its last place.
func (t *table) even() {
	queue := newFullest(t.seats, t.load)
	for {
		a, found := queue.next(t.load)
		if !found {
			return
		}
		seat, b := t.best(a)
		if b < 0 || t.load[a]-t.load[b] < 2 {
			continue
		}
		t.move(seat, b)
		queue.add(a, t.load[a])
		queue.add(b, t.load[b])
	}
}

// best is the emptiest place that a seat of a may go to.
func (t *table) best(a int) (seat, place int) {
	seat, place = t.listed.best(t, a)
	for _, c := range t.crowds {
		there := c.at[a]
		for len(there) > 0 && t.seats[there[len(there)-1]].at != a {
			there = there[:len(there)-1]
		}
		if c.at[a] = there; len(there) == 0 {
			continue
		}
		if b := t.least(c.may, a); b >= 0 && (place < 0 || t.less(b, place)) {
			seat, place = there[len(there)-1], b
		}
	}
	return seat, place
}
