package gateway

import (
	"fmt"
	"slices"
)

// entries counts in how many groups of a network each chassis is a candidate.
type entries struct {
	groups []*group
	count  []int
	// share is what each chassis would have if all had as many.
	share int
}

func (w *scene) entries(network int) *entries {
	s := &entries{count: make([]int, len(w.chassis))}
	total := 0
	for _, g := range w.groups {
		if !g.in(network) || g.held {
			continue
		}
		s.groups = append(s.groups, g)
		for _, c := range g.order {
			s.count[c]++
		}
		total += len(g.order)
	}
	if open := w.open(network); len(open) > 0 {
		s.share = total / len(open)
	}
	return s
}

// spares says whether one chassis has enough to give to another: it must not come to
// have less, lest it be the next one to get something.
func (s *entries) spares(from, to int) bool { return s.count[from]-s.count[to] >= 2 }

// swap gives a chassis the place of a backup.
func (s *entries) swap(w *scene, g *group, rank, c int) {
	old := g.order[rank]
	s.count[old]--
	s.count[c]++
	reason := fmt.Sprintf("%s was added and gets its share of the backups", w.chassis[c].Name)
	g.reasons[w.chassis[c].Name], g.reasons[w.chassis[old].Name] = reason, reason
	g.order[rank] = c
}

// shares replaces backups. First backups come first, as long as it makes the load
// evener whichever chassis fails; then the last ones of who has most.
func (leastLoaded) shares(w *scene, added []int) {
	for n := range w.networks {
		s := w.entries(n)
		short := slices.DeleteFunc(slices.Clone(added), func(c int) bool {
			return s.count[c] >= s.share || !slices.Contains(w.open(n), c)
		})
		if len(short) == 0 {
			continue
		}
		for _, wish := range w.wishes(n, s, short) {
			if s.count[wish.chassis] < s.share && s.spares(wish.group.order[1], wish.chassis) {
				s.swap(w, wish.group, 1, wish.chassis)
			}
		}
		for _, c := range short {
			s.fill(w, c)
		}
	}
	// Who is new among the candidates may be the better first backup.
	w.seconds(func(*group) bool { return true }, false)
}

// wish is a group whose first backup should be another chassis.
type wish struct {
	group   *group
	chassis int
}

// wishes are the first backups that would make the load evener, in turns of one for
// each chassis that may fail, since none of these is more likely to.
func (w *scene) wishes(network int, s *entries, short []int) (all []wish) {
	loads := w.loads()
	total := w.totals(loads)
	byMaster := make([][]wish, len(w.chassis))
	mastered := make([][]*group, len(w.chassis))
	for _, g := range s.groups {
		if len(g.order) > 0 {
			mastered[g.order[0]] = append(mastered[g.order[0]], g)
		}
	}
	for failed, groups := range mastered {
		if len(groups) > 0 {
			byMaster[failed] = w.wishesOf(network, failed, groups, short, loads[network], total)
		}
	}
	for turn := 0; ; turn++ {
		before := len(all)
		for _, wishes := range byMaster {
			if turn < len(wishes) {
				all = append(all, wishes[turn])
			}
		}
		if len(all) == before {
			return all
		}
	}
}

func (w *scene) wishesOf(network, failed int, groups []*group, short []int, load, total []int) (all []wish) {
	load = w.copied(load)
	var seats []seat
	var seated []*group
	for _, g := range groups {
		if len(g.order) < 2 {
			continue
		}
		may := short
		if slices.ContainsFunc(short, func(c int) bool { return g.has(c) || !g.accepts(c) }) {
			may = slices.DeleteFunc(slices.Clone(short), func(c int) bool { return g.has(c) || !g.accepts(c) })
		}
		if !g.single() || g.kept() > 1 || len(g.order) < MaxCandidates || len(may) == 0 {
			load[g.order[1]] += g.weight[0].ports
			continue
		}
		seats, seated = append(seats, seat{home: g.order[1], at: g.order[1], may: may}), append(seated, g)
	}
	if len(seats) == 0 {
		return nil
	}
	t := w.table(network, failed, load, total, seats, true)
	t.settle()
	for i, g := range seated {
		if c := t.chassis(i); c != g.order[1] {
			all = append(all, wish{g, c})
		}
	}
	return all
}

// fill gives a chassis the rest of its share: the last places of those who have most.
// First backups are not taken: they were chosen for what happens when a master fails.
func (s *entries) fill(w *scene, c int) {
	type place struct {
		group *group
		rank  int
	}
	places := make([][]place, len(s.count))
	for rank := 2; rank < MaxCandidates; rank++ { // the last ones are taken first
		for _, g := range s.groups {
			if rank >= g.kept() && rank < len(g.order) && !g.has(c) && g.accepts(c) {
				places[g.order[rank]] = append(places[g.order[rank]], place{g, rank})
			}
		}
	}
	for s.count[c] < s.share {
		most := -1
		for x := range places {
			if len(places[x]) > 0 && (most < 0 || s.count[x] > s.count[most]) {
				most = x
			}
		}
		if most < 0 || !s.spares(most, c) {
			return
		}
		p := places[most][len(places[most])-1]
		places[most] = places[most][:len(places[most])-1]
		if !p.group.has(c) && p.group.order[p.rank] == most {
			s.swap(w, p.group, p.rank, c)
		}
	}
}
