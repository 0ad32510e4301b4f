package gateway

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// scene is a state in the order of names and with numbers for them: whatever the
// order of its rows, the same state is the same scene.
type scene struct {
	chassis  []Chassis
	number   map[string]int
	networks []string
	groups   []*group
	// followers are the groups that follow others.
	followers []Group
	opened    [][]int
	// place is for a table that is being made; -1 where none is. Copy is the last loads that
	// were copied.
	place, copy []int
	// kinds are the sets of chassis that groups ask for; many groups share one.
	kinds    map[string]*kind
	whys     map[question]string
	problems []Problem
}

// kind is what groups of the same networks and zones may be hosted on.
type kind struct {
	// valid may host such groups; open may also be given new ones, accepts says which. Those
	// that are closed may not, for as long as they are silent or cordoned.
	valid, accepts []bool
	open, closed   []int
}

// group is a group of the state, by numbers.
type group struct {
	Group
	kind *kind
	// weight is how many of its ports are in each network.
	weight []share
	// order is who may host it, best first: at first what is valid of what is there,
	// in the end what is planned.
	order []int
	// was is the order at first; gone is what was not valid of it.
	was  []int
	gone []string
	// possible is how many candidates it can have.
	possible int
	// reasons is why a chassis comes, goes or gets another rank.
	reasons map[string]string
	// lacking is the reason why chassis come where candidates are missing.
	lacking string
	// held says that the group stays as it is.
	held bool
	// works is the rank of the candidate on which it really is; nowhere says that it is on
	// none, though others are, and dropped that it is on one that may not host it.
	works            int
	nowhere, dropped bool
}

// share is a number of ports in a network.
type share struct{ network, ports int }

// Problem is something that could not be done, or that somebody should know.
type Problem struct {
	// Where is a group, port, chassis or network.
	Where string `json:"where" yaml:"where"`
	Text  string `json:"text" yaml:"text"`
}

func newScene(s State) *scene {
	w := &scene{number: map[string]int{}, kinds: map[string]*kind{}, whys: map[question]string{}}
	w.chassis = slices.Clone(s.Chassis)
	slices.SortFunc(w.chassis, func(a, b Chassis) int { return cmp.Compare(a.Name, b.Name) })
	w.chassis = slices.CompactFunc(w.chassis, func(a, b Chassis) bool { return a.Name == b.Name })
	for i, c := range w.chassis {
		w.number[c.Name] = i
	}
	for _, g := range s.Groups {
		for _, p := range g.Ports {
			w.networks = append(w.networks, p.Network)
		}
	}
	slices.Sort(w.networks)
	w.networks = slices.DeleteFunc(slices.Compact(w.networks), func(n string) bool { return n == "" })
	groups := slices.Clone(s.Groups)
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Compare(a.Name, b.Name) })
	for _, g := range groups {
		g.Ports = slices.SortedFunc(slices.Values(g.Ports), func(a, b Port) int { return cmp.Compare(a.Name, b.Name) })
		w.add(g)
	}
	w.located()
	return w
}

// add takes a group into the scene, unless it is one that can't be planned for.
func (w *scene) add(g Group) {
	if g.Follows != "" {
		w.followers = append(w.followers, g)
		return
	}
	networks := map[int]int{}
	for _, p := range g.Ports {
		n, found := slices.BinarySearch(w.networks, p.Network)
		if !found {
			w.tell(p.Name, "its network is connected to no provider network; it stays where it is")
			return
		}
		networks[n]++
	}
	if len(g.Ports) == 0 {
		return
	}
	n := &group{Group: g, kind: w.kindOf(g, networks), reasons: map[string]string{}, order: make([]int, 0, MaxCandidates)}
	for i := range w.networks {
		if networks[i] > 0 {
			n.weight = append(n.weight, share{i, networks[i]})
		}
	}
	sorted := ranked(g.Candidates)
	for i, c := range sorted {
		number, found := w.number[c.Chassis]
		switch {
		case slices.ContainsFunc(sorted[:i], func(b Candidate) bool { return b.Chassis == c.Chassis }):
			w.tell(g.Name, fmt.Sprintf("chassis %s is there twice", c.Chassis))
		case found && n.kind.valid[number]:
			n.order = append(n.order, number)
		default:
			n.gone = append(n.gone, c.Chassis)
			n.reasons[c.Chassis] = w.invalid(g, c.Chassis)
		}
		if i > 0 && sorted[i-1].Priority == c.Priority {
			w.tell(g.Name, fmt.Sprintf("%s and %s have the same priority %d; the larger name hosts it", sorted[i-1].Chassis, c.Chassis, c.Priority))
		}
	}
	n.was = slices.Clone(n.order)
	n.possible = len(n.was) + n.missing()
	w.groups = append(w.groups, n)
}

func (w *scene) tell(where, text string) { w.problems = append(w.problems, Problem{where, text}) }

// kindOf is the chassis that the group may be hosted on.
func (w *scene) kindOf(g Group, networks map[int]int) *kind {
	zones := slices.Sorted(slices.Values(g.Zones))
	var key strings.Builder
	for i := range w.networks {
		if networks[i] > 0 {
			fmt.Fprintf(&key, "%d ", i)
		}
	}
	fmt.Fprintf(&key, "%q", slices.Compact(zones))
	if k := w.kinds[key.String()]; k != nil {
		return k
	}
	k := &kind{valid: make([]bool, len(w.chassis)), accepts: make([]bool, len(w.chassis))}
	for i, c := range w.chassis {
		k.valid[i] = unfit(c, g) == ""
		switch {
		case !k.valid[i]:
		case c.Silent || c.Cordoned:
			k.closed = append(k.closed, i)
		default:
			k.open, k.accepts[i] = append(k.open, i), true
		}
	}
	w.kinds[key.String()] = k
	return k
}

// invalid says why a candidate may not host the group.
func (w *scene) invalid(g Group, chassis string) string {
	number, found := w.number[chassis]
	if !found {
		return "there is no such chassis"
	}
	return unfit(w.chassis[number], g)
}

// unfit says why a chassis may not host a group; empty if it may. The rules are those
// of Neutron (is_gateway_chassis_invalid in neutron/common/ovn/utils.py).
func unfit(c Chassis, g Group) string {
	switch {
	case c.Remote:
		return "it belongs to another OVN"
	case !c.Gateway:
		return "it has no enable-chassis-as-gw"
	}
	for _, p := range g.Ports {
		if !slices.Contains(c.Networks, p.Network) {
			return "it is not connected to " + p.Network
		}
	}
	if len(g.Zones) > 0 && !slices.ContainsFunc(g.Zones, func(z string) bool { return slices.Contains(c.Zones, z) }) {
		return "it is in none of the zones " + strings.Join(slices.Sorted(slices.Values(g.Zones)), ", ")
	}
	return ""
}

// loads is how many ports of each network each chassis hosts, where all are alive.
func (w *scene) loads() [][]int {
	all := make([][]int, len(w.networks))
	for n := range all {
		all[n] = make([]int, len(w.chassis))
	}
	for _, g := range w.groups {
		if len(g.order) > 0 {
			for _, s := range g.weight {
				all[s.network][g.order[0]] += s.ports
			}
		}
	}
	return all
}

// copied are loads that may be changed until the next are copied: as each chassis' failure
// begins with those of all chassis, room of their own would grow with the chassis' square.
func (w *scene) copied(load []int) []int {
	w.copy = append(w.copy[:0], load...)
	return w.copy
}

// open are the chassis of a network that may be given something new.
func (w *scene) open(network int) []int {
	if w.opened == nil {
		w.opened = make([][]int, len(w.networks))
		for n := range w.networks {
			w.opened[n] = w.openOf(n)
		}
	}
	return w.opened[network]
}

func (w *scene) openOf(network int) (all []int) {
	for i, c := range w.chassis {
		if closed(c, w.networks[network]) == "" {
			all = append(all, i)
		}
	}
	return all
}

// single says whether the group is one port of one network: then where it is hosted
// matters for that network alone.
func (g *group) single() bool { return len(g.weight) == 1 && g.weight[0].ports == 1 }

func (g *group) has(chassis int) bool { return slices.Contains(g.order, chassis) }

// accepts says whether the group may be given the chassis.
func (g *group) accepts(chassis int) bool { return g.kind.accepts[chassis] }
