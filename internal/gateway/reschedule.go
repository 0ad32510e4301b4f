package gateway

import (
	"fmt"
	"slices"
)

// Reschedule gives every group as many candidates as it can have, up to
// [MaxCandidates]. A master that may host its group stays; what may not host it any
// more is replaced; chassis that were added get their share of backups, and nothing
// moves between those that were there. With [LeastLoaded] the first backup is chosen
// such that the load stays even whichever chassis fails.
func Reschedule(s State, o Options) Plan {
	w := newScene(s)
	w.hold(o)
	before := w.report()
	choose := chooser(leastLoaded{})
	if o.Scheduler == Random {
		choose = drawn(o.Draw)
	}
	choose.masters(w)
	w.wake()
	choose.backups(w)
	w.wake() // by those that are new, where it had no other
	added := w.added(o)
	choose.shares(w, added)
	w.short()
	w.follow()
	p := w.plan(reschedule, o, before)
	p.Added = w.gaining(added, p.Changes)
	return p
}

// chooser chooses chassis where there is a choice.
type chooser interface {
	// masters hosts what is hosted nowhere.
	masters(*scene)
	// backups gives each group as many candidates as it can have.
	backups(*scene)
	// shares gives chassis that were added their share, where it takes another's place.
	shares(*scene, []int)
}

// hold keeps groups as they are that are of none of the networks asked for.
func (w *scene) hold(o Options) {
	if len(o.Networks) == 0 {
		return
	}
	for _, n := range o.Networks {
		if !slices.Contains(w.networks, n) {
			w.tell(n, "no gateway is connected to a network of this name")
		}
	}
	for _, g := range w.groups {
		g.held = slices.ContainsFunc(g.weight, func(s share) bool { return !slices.Contains(o.Networks, w.networks[s.network]) })
	}
}

// added are the chassis that were added: those that something may be hosted on and
// nothing is, and those that are said to be.
func (w *scene) added(o Options) (all []int) {
	used := make([]bool, len(w.chassis))
	for _, g := range w.groups {
		for _, c := range g.was {
			used[c] = true
		}
	}
	for i, c := range w.chassis {
		if !used[i] || slices.Contains(o.Added, c.Name) {
			all = append(all, i)
		}
	}
	for _, name := range o.Added {
		if _, found := w.number[name]; !found {
			w.tell(name, "there is no such chassis")
		}
	}
	return all
}

// gaining are the chassis of these that become candidates of something.
func (w *scene) gaining(chassis []int, changes []Change) (names []string) {
	gains := map[string]bool{}
	for _, c := range changes {
		for _, r := range c.Rows {
			if r.Before == nil {
				gains[r.Chassis] = true
			}
		}
	}
	for _, c := range chassis {
		if name := w.chassis[c].Name; gains[name] {
			names = append(names, name)
		}
	}
	return names
}

// missing is how many candidates the group could have beside those that it has.
func (g *group) missing() int {
	if g.held {
		return 0
	}
	n := len(g.kind.open)
	for _, c := range g.order {
		if g.accepts(c) {
			n--
		}
	}
	return max(0, min(n, MaxCandidates-len(g.order)))
}

// append adds a candidate behind the others.
func (g *group) append(w *scene, c int) {
	if g.lacking == "" {
		g.lacking = fmt.Sprintf("the gateway had %d of %d candidates", len(g.was), g.possible)
	}
	g.reasons[w.chassis[c].Name] = g.lacking
	g.order = append(g.order, c)
}

// explain notes why chassis get other ranks, unless they are new here.
func (g *group) explain(w *scene, reason string, chassis ...int) {
	for _, c := range chassis {
		if slices.Contains(g.was, c) {
			g.reasons[w.chassis[c].Name] = reason
		}
	}
}

// unhosted are the groups without a candidate; those that nobody may host are told of.
func (w *scene) unhosted() (all []*group) {
	for _, g := range w.groups {
		switch {
		case len(g.order) > 0 || g.held:
		case len(g.kind.open) == 0:
			w.tell(g.Name, "no chassis may host it: "+w.why(g))
		default:
			all = append(all, g)
		}
	}
	return all
}

// short tells of each network how many groups have fewer candidates than they could have,
// since chassis take nothing new.
func (w *scene) short() {
	groups, closed := make([]int, len(w.networks)), make([]map[int]bool, len(w.networks))
	for _, g := range w.groups {
		if g.held || len(g.order) == 0 || len(g.order) >= MaxCandidates {
			continue
		}
		others := slices.DeleteFunc(slices.Clone(g.kind.closed), g.has)
		if len(others) == 0 {
			continue
		}
		n := g.weight[0].network
		if groups[n]++; closed[n] == nil {
			closed[n] = map[int]bool{}
		}
		for _, c := range others {
			closed[n][c] = true
		}
	}
	for n, chassis := range closed {
		reasons := map[string]int{}
		for c := range chassis {
			reasons[shut(w.chassis[c])]++
		}
		if groups[n] > 0 {
			w.tell(w.networks[n], fmt.Sprintf("%s with fewer than %d candidates, and who could be one takes nothing new: %s", count(groups[n], "gateway"), MaxCandidates, counted(reasons)))
		}
	}
}

// why says of the chassis that are no candidates what stands against hosting a group, most
// frequent first. The group has one candidate at most, and no chassis is open to it beside
// that: groups of the same chassis share the answer.
func (w *scene) why(g *group) string {
	q := question{g.kind, slices.Max(append([]int{-1}, g.order...))}
	if w.whys[q] == "" {
		w.whys[q] = w.against(g)
	}
	return w.whys[q]
}

// question is a kind of groups and the one chassis that hosts them, or -1.
type question struct {
	kind *kind
	on   int
}

func (w *scene) against(g *group) string {
	count := map[string]int{}
	for i, c := range w.chassis {
		switch reason := unfit(c, g.Group); {
		case g.has(i):
		case reason != "":
			count[reason]++
		default:
			count[shut(c)]++
		}
	}
	if len(count) == 0 {
		return "there is none"
	}
	return counted(count)
}
