package schedule

import (
	"cmp"
	"maps"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/mincost"
)

// separation gives gateways of one router to different chassis, so that a chassis that fails takes only one along. A
// router has several in Neutron from 2024.1 on (external-gateway-multihoming), and up to 2026.1 each has candidates of
// its own. The load of the network stays as even as it is. Neutron prefers other chassis for new gateways of a router,
// too (anti_affinity_score in l3_ovn_scheduler.py).
type separation struct {
	*instance
	groups []*group
	index  map[*group]int
	// options has the chassis that each group may get. home is the one that it leaves by a move, or [mincost.None]; at is
	// the chosen one.
	options  [][]int
	home, at []int
	// load has the load of each chassis in the network.
	load []int
	// shifts reports whether a group may go to a chassis with one fewer without another one coming back.
	shifts bool
	// left is how many more moves are allowed.
	left int
}

// exchange is another choice for two groups: they change places, or the first one goes to a chassis alone. pairs and
// moves are the changes in how many pairs of gateways of one router share a chassis, and in the number of moves.
type exchange struct {
	with, to     int
	pairs, moves int
}

// run exchanges groups as long as fewer pairs of gateways of one router share a chassis. In 1 of 100 random clouds of
// up to six gateways a change of more groups at once would separate more.
func (s *separation) run() {
	s.index = map[*group]int{}
	for i, g := range s.groups {
		s.index[g] = i
	}
	for found := true; found; {
		found = false
		for i := range s.groups {
			if s.at[i] == mincost.None || s.siblingsOn(i, s.at[i]) == 0 {
				continue
			}
			if x := s.best(i); x.pairs < 0 {
				s.apply(i, x)
				found = true
			}
		}
	}
}

// best returns the exchange for a group that separates most pairs, with the fewest moves.
func (s *separation) best(i int) (best exchange) {
	from, here := s.at[i], s.siblingsOn(i, s.at[i])
	consider := func(x exchange) {
		better := cmp.Or(cmp.Compare(x.pairs, best.pairs), cmp.Compare(x.moves, best.moves)) < 0
		if x.moves <= s.left && better {
			best = x
		}
	}
	for _, c := range s.options[i] {
		if s.shifts && s.load[c]+1 == s.load[from] {
			consider(exchange{mincost.None, c, s.siblingsOn(i, c) - here, s.moved(i, c)})
		}
	}
	for j, c := range s.at {
		if c == from || !slices.Contains(s.options[i], c) || !slices.Contains(s.options[j], from) ||
			s.groups[i].router() == s.groups[j].router() {
			continue
		}
		pairs := s.siblingsOn(i, c) - here + s.siblingsOn(j, from) - s.siblingsOn(j, c)
		consider(exchange{j, c, pairs, s.moved(i, c) + s.moved(j, from)})
	}
	return best
}

func (s *separation) apply(i int, x exchange) {
	from := s.at[i]
	s.left -= x.moves
	s.at[i] = x.to
	if x.with != mincost.None {
		s.at[x.with] = from
		return
	}
	s.load[from]--
	s.load[x.to]++
}

// moved returns the change in the number of moves if a group gets a chassis.
func (s *separation) moved(i, to int) int {
	if s.home[i] == mincost.None {
		return 0
	}
	return btoi(to != s.home[i]) - btoi(s.at[i] != s.home[i])
}

// siblingsOn counts the other groups of a group's router that a chassis hosts.
func (s *separation) siblingsOn(i, chassis int) (n int) {
	for _, g := range s.siblings[s.groups[i].router()] {
		host := mincost.None
		if k, listed := s.index[g]; listed {
			host = s.at[k]
		} else if len(g.order) > 0 {
			host = g.order[0]
		}
		n += btoi(g != s.groups[i] && host == chassis)
	}
	return n
}

// apart returns the chassis that an assignment gives to groups that all move, after a separation.
func (in *instance) apart(groups []*group, a assignment, load []int) []int {
	s := separation{instance: in, groups: groups, load: slices.Clone(load), shifts: true}
	for i, g := range groups {
		c := a.of(i)
		s.at, s.home, s.options = append(s.at, c), append(s.home, mincost.None), append(s.options, g.open())
		s.load[c]++
	}
	s.run()
	return s.at
}

// byRouter returns the groups of each router that has several.
func (in *instance) byRouter() map[string][]*group {
	all := map[string][]*group{}
	for _, g := range in.groups {
		if g.router() != "" {
			all[g.router()] = append(all[g.router()], g)
		}
	}
	maps.DeleteFunc(all, func(_ string, of []*group) bool { return len(of) < 2 })
	return all
}

// router returns the router of the group's gateways, or the first one of several.
func (g *group) router() (router string) {
	for _, p := range g.Ports { // an external port has none
		router = cmp.Or(router, p.Router)
	}
	return router
}
