package gateway

import "container/heap"

// listed are seats with choices of their own, by where they are and where they may go.
// Some have gone meanwhile.
type listed struct {
	// places are those that matter; number is 1 more than where one stands among them.
	places []int
	number []int32
	// head is the first entry for each pair of places; entries are numbered from 1.
	head []int32
	seat []int32
	next []int32
}

// newListed is for the seats of which own says that they have choices of their own.
func newListed(places int, seats []seat, own func(seat) bool) listed {
	var l listed
	entries := 0
	count := func(p int) {
		if p >= 0 && l.number[p] == 0 {
			l.places = append(l.places, p)
			l.number[p] = int32(len(l.places))
		}
	}
	for _, s := range seats {
		if !own(s) {
			continue
		}
		if l.number == nil {
			l.number = make([]int32, places)
		}
		entries += len(s.may)
		count(s.at)
		for _, p := range s.may {
			count(p)
		}
	}
	if entries > 0 {
		l.head = make([]int32, len(l.places)*len(l.places))
		l.seat, l.next = make([]int32, 1, entries+1), make([]int32, 1, entries+1)
	}
	return l
}

func (l *listed) add(from, to, seat int) {
	k := (int(l.number[from])-1)*len(l.places) + int(l.number[to]) - 1
	l.seat, l.next = append(l.seat, int32(seat)), append(l.next, l.head[k])
	l.head[k] = int32(len(l.seat) - 1)
}

// best is the emptiest place that one of the seats at a may go to.
func (l *listed) best(t *table, a int) (seat, place int) {
	seat, place = -1, -1
	if l.number == nil || l.number[a] == 0 {
		return seat, place
	}
	row := (int(l.number[a]) - 1) * len(l.places)
	for i, b := range l.places {
		k := row + i
		if l.head[k] == 0 || place >= 0 && !t.less(b, place) {
			continue
		}
		for l.head[k] != 0 && t.seats[l.seat[l.head[k]]].at != a {
			l.head[k] = l.next[l.head[k]]
		}
		if l.head[k] != 0 {
			seat, place = int(l.seat[l.head[k]]), b
		}
	}
	return seat, place
}

// fullest gives places in the order of their loads, the fullest first.
type fullest struct {
	at  [][]int
	top int
}

// newFullest has the places at which there is a seat.
func newFullest(seats []seat, load []int) *fullest {
	q := &fullest{top: -1}
	there := make([]bool, len(load))
	for _, s := range seats {
		if s.at >= 0 {
			there[s.at] = true
		}
	}
	for p, seated := range there {
		if seated {
			q.add(p, load[p])
		}
	}
	return q
}

func (q *fullest) add(place, load int) {
	for len(q.at) <= load {
		q.at = append(q.at, nil)
	}
	q.at[load] = append(q.at[load], place)
	q.top = max(q.top, load)
}

// next forgets entries whose place has another load by now.
func (q *fullest) next(load []int) (place int, found bool) {
	for ; q.top >= 0; q.top-- {
		for n := len(q.at[q.top]); n > 0; n = len(q.at[q.top]) {
			place, q.at[q.top] = q.at[q.top][n-1], q.at[q.top][:n-1]
			if load[place] == q.top {
				return place, true
			}
		}
	}
	return 0, false
}

// emptiest gives places in the order of their loads, the emptiest first, where loads
// only grow.
type emptiest struct {
	load, tie []int
	queue     []weighed
}

// weighed is a place with what it carried when it was weighed.
type weighed struct{ load, place int }

func newEmptiest(load, tie, places []int) *emptiest {
	q := &emptiest{load: load, tie: tie, queue: make([]weighed, len(places))}
	for i, p := range places {
		q.queue[i] = weighed{load[p], p}
	}
	heap.Init(q)
	return q
}

// take is the emptiest place that is not to be left out; -1 if there is none.
func (q *emptiest) take(leave func(place int) bool) int {
	var aside []weighed
	taken := -1
	for taken < 0 && len(q.queue) > 0 {
		top := &q.queue[0]
		switch {
		case top.load != q.load[top.place]:
			top.load = q.load[top.place]
			heap.Fix(q, 0)
		case leave(top.place):
			aside = append(aside, heap.Pop(q).(weighed))
		default:
			taken = top.place
		}
	}
	for _, w := range aside {
		heap.Push(q, w)
	}
	return taken
}

// The methods of heap.Interface.
func (q *emptiest) Len() int { return len(q.queue) }

func (q *emptiest) Less(i, j int) bool {
	a, b := q.queue[i], q.queue[j]
	switch {
	case a.load != b.load:
		return a.load < b.load
	case q.tie != nil && q.tie[a.place] != q.tie[b.place]:
		return q.tie[a.place] < q.tie[b.place]
	}
	return a.place < b.place
}

func (q *emptiest) Swap(i, j int) { q.queue[i], q.queue[j] = q.queue[j], q.queue[i] }

func (q *emptiest) Push(x any) { q.queue = append(q.queue, x.(weighed)) }

func (q *emptiest) Pop() any {
	last := q.queue[len(q.queue)-1]
	q.queue = q.queue[:len(q.queue)-1]
	return last
}
