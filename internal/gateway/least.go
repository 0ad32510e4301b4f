package gateway

import (
	"cmp"
	"fmt"
	"slices"
)

// leastLoaded chooses who has least to carry.
type leastLoaded struct{}

// masters hosts what is hosted nowhere on the chassis of each network with the fewest
// masters; of these on the one that is the first backup of fewest, for what fails over to a
// chassis adds to what it carries; and of these on the one with the fewest in all networks.
// Without that a plan that was carried out in part would be finished with other masters than
// it had, and the first backups that were chosen for those would have to change.
func (leastLoaded) masters(w *scene) {
	var singles []*group
	loads := w.loads()
	for _, g := range w.unhosted() {
		if g.single() {
			singles = append(singles, g)
			continue
		}
		best := slices.MinFunc(g.kind.open, func(a, b int) int {
			return cmp.Or(cmp.Compare(g.carried(loads, a), g.carried(loads, b)), cmp.Compare(a, b))
		})
		g.append(w, best)
		for _, s := range g.weight {
			loads[s.network][best] += s.ports
		}
	}
	total := w.totals(loads)
	for n := range w.networks {
		var seats []seat
		var seated []*group
		for _, g := range singles {
			if g.weight[0].network == n {
				seats, seated = append(seats, seat{home: -1, at: -1, may: g.kind.open}), append(seated, g)
			}
		}
		tie, unit := w.firsts(n), 1+slices.Max(append([]int{0}, total...))
		for c := range tie {
			tie[c] = tie[c]*unit + total[c]
		}
		t := w.table(n, -1, loads[n], tie, seats, false)
		t.settle()
		for i, g := range seated {
			c := t.chassis(i)
			total[c]++
			g.append(w, c)
		}
	}
}

// carried is what a chassis carries of the group's networks.
func (g *group) carried(loads [][]int, chassis int) (most int) {
	for _, s := range g.weight {
		most = max(most, loads[s.network][chassis])
	}
	return most
}

// totals is what each chassis carries of all networks.
func (w *scene) totals(loads [][]int) []int {
	total := make([]int, len(w.chassis))
	for _, load := range loads {
		for c, l := range load {
			total[c] += l
		}
	}
	return total
}

// firsts counts for each chassis the gateways of a network whose first backup it is.
func (w *scene) firsts(network int) []int {
	count := make([]int, len(w.chassis))
	for _, g := range w.groups {
		if g.in(network) && len(g.order) > 1 {
			count[g.order[1]]++
		}
	}
	return count
}

// placed is a table of the chassis of one network.
type placed struct {
	*table
	places []int
}

// table seats what may be hosted on a network's chassis, but for one that fails (-1 is
// none). Loads are those of all chassis. Where it is confined, it has no place for chassis
// that no seat can be at, which are most when it is for the gateways of one chassis.
func (w *scene) table(network, failed int, load, total []int, seats []seat, confined bool) placed {
	if w.place == nil {
		w.place = slices.Repeat([]int{-1}, len(w.chassis))
	}
	// Taken are the chassis that have a place; place is where, for as long as this lasts.
	var taken []int
	take := func(some ...int) {
		for _, c := range some {
			if c >= 0 && c != failed && w.place[c] < 0 {
				w.place[c], taken = 0, append(taken, c)
			}
		}
	}
	defer func() {
		for _, c := range taken {
			w.place[c] = -1
		}
	}()
	if !confined {
		take(w.open(network)...)
		for c, l := range load {
			if l > 0 {
				take(c)
			}
		}
	}
	translated := map[*int][]int{}
	for _, s := range seats {
		take(s.home)
		if len(s.may) > 0 && translated[&s.may[0]] == nil {
			translated[&s.may[0]] = []int{}
			take(s.may...)
		}
	}
	slices.Sort(taken)
	p := placed{places: taken}
	carried, tie := make([]int, len(taken)), make([]int, len(taken))
	for i, c := range taken {
		w.place[c], carried[i], tie[i] = i, load[c], total[c]
	}
	for i := range seats {
		s := &seats[i]
		if s.home >= 0 {
			s.home, s.at = w.place[s.home], w.place[s.at]
		}
		if len(s.may) == 0 {
			continue
		}
		may := translated[&s.may[0]]
		if len(may) == 0 {
			may = make([]int, 0, len(s.may))
			for _, c := range s.may {
				if w.place[c] >= 0 {
					may = append(may, w.place[c])
				}
			}
			translated[&s.may[0]] = may
		}
		s.may = may
	}
	p.table = newTable(carried, tie, seats)
	return p
}

// chassis is where a seat is.
func (p placed) chassis(i int) int {
	if p.seats[i].at < 0 {
		return -1
	}
	return p.places[p.seats[i].at]
}

// backups chooses the first backup of each group such that the load is even if the master
// fails, of candidates that it has where it has all; and the others such that all chassis
// have as many.
func (leastLoaded) backups(w *scene) {
	w.seconds(func(*group) bool { return true }, true)
	counts := make([][]int, len(w.networks))
	for n := range counts {
		counts[n] = make([]int, len(w.chassis))
	}
	for _, g := range w.groups {
		for _, c := range g.order {
			counts[g.weight[0].network][c]++
		}
	}
	queues := map[*kind]*emptiest{}
	for _, g := range w.groups {
		count := counts[g.weight[0].network]
		for missing := g.missing(); missing > 0 && len(g.order) > 0; missing-- {
			if queues[g.kind] == nil {
				queues[g.kind] = newEmptiest(count, nil, g.kind.open)
			}
			c := queues[g.kind].take(g.has)
			g.append(w, c)
			count[c]++
		}
	}
}

// seconds chooses first backups, and changes as few as can be. What happens when a chassis
// fails is a question of its own for each chassis: it concerns the gateways that it hosts.
// Where more is set, who is incomplete may get a candidate that it does not have yet.
func (w *scene) seconds(concerned func(*group) bool, more bool) {
	loads := w.loads()
	for n := range w.networks {
		mastered, firsts := make([][]*group, len(w.chassis)), w.firsts(n)
		for _, g := range w.groups {
			if len(g.order) > 0 && g.in(n) {
				mastered[g.order[0]] = append(mastered[g.order[0]], g)
			}
		}
		for failed, groups := range mastered {
			if len(groups) == 0 {
				continue
			}
			w.secondsOf(n, failed, groups, loads[n], firsts, func(g *group) bool { return g.single() && !g.held && g.kept() == 1 && concerned(g) }, more)
		}
	}
}

// in says whether the group is planned for with the network: that of its first port.
func (g *group) in(network int) bool { return g.weight[0].network == network }

// secondsOf is for the groups of one chassis that fails. Of backups that are as good the
// one is taken that is the first backup of fewer: else all chassis would lean on the same.
func (w *scene) secondsOf(n, failed int, groups []*group, load, firsts []int, concerned func(*group) bool, more bool) {
	load = w.copied(load)
	seats, seated := make([]seat, 0, len(groups)), make([]*group, 0, len(groups))
	free := func(g *group) bool { return more && g.missing() > 0 }
	homes := map[*kind][]int{} // of those that are free to go wherever it is open
	for _, g := range groups {
		second := -1
		if len(g.order) > 1 {
			second = g.order[1]
		}
		if !concerned(g) || second < 0 && !more {
			if second >= 0 {
				load[second] += g.weight[0].ports
			}
			continue
		}
		s := seat{home: second, at: second}
		if free(g) {
			homes[g.kind] = append(homes[g.kind], second)
		} else {
			s.may = slices.DeleteFunc(slices.Clone(g.order[1:]), func(c int) bool { return !g.accepts(c) })
		}
		seats, seated = append(seats, s), append(seated, g)
	}
	if len(seats) == 0 {
		return
	}
	choices := map[*kind][]int{}
	for k, homes := range homes {
		choices[k] = k.choices(len(seats), failed, load, firsts, homes)
	}
	for i, g := range seated {
		if free(g) {
			seats[i].may = choices[g.kind]
		}
	}
	t := w.table(n, failed, load, firsts, seats, true)
	t.settle()
	for i, g := range seated {
		c := t.chassis(i)
		if c < 0 || len(g.order) > 1 && g.order[1] == c {
			continue
		}
		if firsts[c]++; len(g.order) > 1 {
			firsts[g.order[1]]--
		}
		if !g.has(c) {
			g.append(w, c)
			g.order = slices.Insert(g.order[:len(g.order)-1], 1, c)
			continue
		}
		reason := fmt.Sprintf("so that the load stays even if %s fails", w.chassis[failed].Name)
		at := slices.Index(g.order, c)
		g.order[1], g.order[at] = c, g.order[1]
		g.explain(w, reason, c, g.order[at])
	}
}

// choices are the chassis that matter to so many gateways which are free to go wherever it is
// open, but for the one that fails: where these are, and as many of the lightest as there are
// gateways, since a gateway on any other would leave one of them free that carries no more.
func (k *kind) choices(gateways, failed int, load, tie, homes []int) (all []int) {
	lighter := func(a, b int) int {
		return cmp.Or(cmp.Compare(load[a], load[b]), cmp.Compare(tie[a], tie[b]), cmp.Compare(a, b))
	}
	for _, c := range k.open {
		switch last := len(all) - 1; {
		case c == failed || len(all) == gateways && lighter(all[last], c) < 0:
			continue
		case len(all) == gateways:
			all = all[:last]
		}
		at, _ := slices.BinarySearchFunc(all, c, lighter)
		all = slices.Insert(all, at, c)
	}
	for _, c := range homes {
		if c >= 0 && k.accepts[c] {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
