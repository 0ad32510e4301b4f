package schedule

import (
	"fmt"
	"slices"
)

// locate notes where groups really are. If no port is known to be anywhere, for instance because no ovn-controller
// runs, only the order of the candidates is known.
func (in *instance) locate() {
	all := slices.Concat(in.groups, in.externals)
	known := slices.ContainsFunc(all, func(g *group) bool {
		return slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active != "" })
	})
	for _, g := range all {
		g.works, g.nowhere = 0, known
		for _, p := range g.Ports {
			if p.Active == "" {
				continue
			}
			g.nowhere = false
			g.dropped = g.dropped || slices.Contains(g.gone, p.Active)
			if c, found := in.number[p.Active]; found {
				g.works = max(g.works, slices.Index(g.was, c))
			}
		}
	}
}

// kept is how many of the first candidates keep their ranks if the group is not moved: those up to the one on which
// it works, which is a backup if those before it are dead.
func (g *group) kept() int {
	if len(g.was) > 0 && len(g.order) > 0 && g.order[0] != g.was[0] {
		return 1
	}
	return g.works + 1
}

// interrupted reports whether the group works elsewhere afterwards than it does now.
func (g *group) interrupted() bool {
	if g.dropped {
		return true
	}
	if len(g.was) == 0 || g.nowhere {
		return false // there is nothing to interrupt
	}
	dead := g.was[:g.works]
	for _, c := range g.order {
		if !slices.Contains(dead, c) {
			return c != g.was[g.works]
		}
	}
	return true
}

// replaceUnresponsiveMasters gives groups that are active nowhere, since the ovn-controller of their master is
// dead while its tunnels are up, one of their other candidates as master: these wait for it
// for as long as they hear it (measured: tests/dataplane).
func (in *instance) replaceUnresponsiveMasters() {
	for _, g := range in.groups {
		if g.held || !g.nowhere || len(g.order) == 0 || !in.chassis[g.order[0]].Unresponsive {
			continue
		}
		at := slices.IndexFunc(g.order, g.accepts)
		if at < 0 {
			continue
		}
		silent, c := g.order[0], g.order[at]
		g.order[0], g.order[at] = c, silent
		g.explain(in, fmt.Sprintf("not bound to any chassis: ovn-controller on %s is not responding", in.chassis[silent].Name), c, silent)
	}
}

// Unavailable returns why a chassis can take nothing over; empty if it can.
func (s State) Unavailable(chassis string) string {
	at := slices.IndexFunc(s.Chassis, func(c Chassis) bool { return c.Name == chassis })
	if at < 0 {
		return "SB has no such chassis"
	}
	return unavailable(s.Chassis[at])
}

// unavailable returns why a chassis that may host something is unschedulable; empty if it is schedulable.
func unavailable(c Chassis) string {
	switch {
	case c.Unresponsive:
		return "its ovn-controller is not responding (nb_cfg is stale)"
	case c.Cordoned:
		return "it is cordoned"
	}
	return ""
}
