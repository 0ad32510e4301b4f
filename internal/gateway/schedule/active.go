package schedule

import (
	"fmt"
	"slices"
)

// kept is how many of the first candidates keep their ranks unless the group moves: those up to the one that hosts it,
// which is a backup if those before it are dead.
func (g *group) kept() int {
	if len(g.was) > 0 && len(g.order) > 0 && g.order[0] != g.was[0] {
		return 1
	}
	return g.works + 1
}

// interrupts reports whether a group works now, and works on another chassis once it has these candidates, best first.
// Candidates before the one that it is bound to are dead. If no group is bound, or if this one is bound to another
// chassis, the best candidate that may host it counts as the host.
func (in *instance) interrupts(g Group, after []string) bool {
	before, host := g.Ranked(), -1
	for _, p := range g.Ports {
		if p.Active != "" {
			host = max(host, slices.Index(before, p.Active))
		}
	}
	may := in.isHere
	if host < 0 {
		if in.bound && !g.bound() {
			return false
		}
		k := in.classOf(g)
		may = func(name string) bool { return in.isHere(name) && k.eligible[in.number[name]] }
		if host = slices.IndexFunc(before, may); host < 0 {
			return false
		}
	}
	next := slices.IndexFunc(after, func(name string) bool { return may(name) && !slices.Contains(before[:host], name) })
	return next < 0 || after[next] != before[host]
}

func (in *instance) isHere(name string) bool {
	c, found := in.number[name]
	return found && !in.chassis[c].Remote
}

func (in *instance) responds(name string) bool {
	return in.isHere(name) && !in.chassis[in.number[name]].Unresponsive
}

// replaceUnresponsiveMaster replaces the master of an unbound group whose ovn-controller is dead while its tunnels are
// up: the other candidates wait for as long as they hear such a master (measured: tests/dataplane).
func (in *instance) replaceUnresponsiveMaster(g *group) {
	if g.held || !g.nowhere || len(g.order) == 0 || !in.chassis[g.order[0]].Unresponsive {
		return
	}
	if at := slices.IndexFunc(g.order, g.accepts); at > 0 {
		silent, c := g.order[0], g.order[at]
		g.order[0], g.order[at] = c, silent
		g.explain(in, fmt.Sprintf("not bound to any chassis: ovn-controller on %s is not responding",
			in.chassis[silent].Name), c, silent)
	}
}

func (in *instance) replaceUnresponsiveMasters() {
	for _, g := range in.groups {
		in.replaceUnresponsiveMaster(g)
	}
}
