package schedule

import (
	"fmt"
	"slices"
)

// isHosted reports whether the port is bound to a chassis that responds, whichever should host it.
func (in *instance) isHosted(p Port) bool {
	c, found := in.number[p.Active]
	return found && !in.chassis[c].Unresponsive
}

// bound reports whether any port of the group is bound to a chassis.
func (g *group) bound() bool {
	return slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active != "" })
}

// unhostedPorts counts the ports that are bound to no chassis that responds. Those of disabled routers are meant to be so.
func (in *instance) unhostedPorts(g Group) (n int) {
	for _, p := range g.Ports {
		n += btoi(!p.Disabled && !in.isHosted(p))
	}
	return n
}

// expected is the chassis that OVN has host the group while it is alive: the best of those that there are, whether it
// should be a candidate or not. Empty is that there is none.
func (in *instance) expected(g Group) string {
	for _, name := range g.Ranked() {
		if c, found := in.number[name]; found && !in.chassis[c].Remote {
			return name
		}
	}
	return ""
}

// claimant is the chassis that has a group with these candidates now, as far as they go: the best that responds.
func (in *instance) claimant(candidates []Candidate) (c Chassis, found bool) {
	for _, name := range chassisOf(ranked(candidates)) {
		if at, known := in.number[name]; known && !in.chassis[at].Remote && !in.chassis[at].Unresponsive {
			return in.chassis[at], true
		}
	}
	return c, false
}

// isStray reports whether a group with these candidates would be on a chassis without its network, and is not now.
func (in *instance) isStray(g Group, candidates []Candidate) bool {
	is, found := in.claimant(g.Candidates)
	then, will := in.claimant(candidates)
	return found && will && g.unconnected(is) == "" && g.unconnected(then) != ""
}

// isMisplaced reports whether a port is not where its priorities say.
func (in *instance) isMisplaced(g Group) bool {
	should := in.expected(g)
	return should != "" && slices.ContainsFunc(g.Ports, func(p Port) bool { return !p.Disabled && p.Active != should })
}

// keepWorking leaves groups as they are that work on a chassis that should not host them, if none of the others responds.
func (in *instance) keepWorking() {
	for _, g := range slices.Concat(in.groups, in.externals) {
		if len(g.order) == 0 || g.held || slices.ContainsFunc(g.order, func(c int) bool { return !in.chassis[c].Unresponsive }) {
			continue
		}
		on, found := in.claimant(g.Candidates)
		if found && g.unconnected(on) == "" && slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active == on.Name }) {
			g.held = true
			in.find(g.Name, fmt.Sprintf("%s hosts it, and should not: %s; no chassis that should responds, so that it stays", on.Name, g.reasons[on.Name]))
		}
	}
}

// all are the groups of the state, planned for or not.
func (in *instance) all() (groups []Group) {
	for _, g := range slices.Concat(in.groups, in.externals) {
		if !g.held {
			groups = append(groups, g.Group)
		}
	}
	return append(groups, in.unplanned...)
}

// findHosting finds ports that are bound to no chassis that responds, or to another one than should host them. If no
// gateway is bound, that is one finding.
func (in *instance) findHosting() {
	gateways, externals, bound := 0, 0, 0
	for _, g := range in.all() {
		for _, p := range g.Ports {
			gateways += btoi(!p.Disabled && !p.External)
			externals += btoi(p.External)
			bound += btoi(!p.Disabled && p.Active != "")
		}
	}
	here, respond := 0, 0
	for _, c := range in.chassis {
		here += btoi(!c.Remote)
		respond += btoi(!c.Remote && !c.Unresponsive)
	}
	controllers := fmt.Sprintf("ovn-controllers that respond: %d of %d", respond, here)
	if gateways > 0 && bound == 0 {
		text := "its only gateway is not bound to any chassis"
		if gateways > 1 {
			text = fmt.Sprintf("none of %d gateways is bound to a chassis", gateways)
		}
		if externals > 0 {
			text += ", nor is any external port"
		}
		in.find(cloud, text+"; "+controllers)
		return
	}
	if respond == 0 && bound > 0 {
		in.find(cloud, "no chassis responds, so that what they host may not work; "+controllers)
	}
	for _, g := range in.all() {
		in.findMisplaced(g, respond > 0)
	}
}

// cloud is where what is true of all chassis, or of all gateways, is found.
const cloud = "cloud"

// Unbound is what is said of a port that is bound nowhere while the ovn-controller of its best
// candidate responds. One of OVN 23.03 that has claimed a port at the same time as another candidate
// may not claim it again after that one has released it, which takes the port from it; its
// recomputation does (measured: tests/dataplane).
func Unbound(best string) string {
	return fmt.Sprintf("not bound to any chassis; expected %s (if this lasts, run there: ovn-appctl -t ovn-controller inc-engine/recompute)", best)
}

// findMisplaced names ports that are not where their priorities say, and with silent those on chassis that do not respond.
func (in *instance) findMisplaced(g Group, silent bool) {
	should := in.expected(g)
	expected, unbound := "; expected "+should, "not bound to any chassis"
	switch c, found := in.number[should]; {
	case !found:
		expected = "" // that it has no candidate is found apart
	case in.chassis[c].Unresponsive:
		expected += " (its ovn-controller is not responding)"
		unbound += expected
	default:
		unbound = Unbound(should)
	}
	for _, p := range g.Ports {
		switch on, found := in.number[p.Active]; {
		case p.Disabled, p.Active == "" && expected == "":
		case p.Active == "":
			in.find(p.Name, unbound)
		case p.Active != should && expected != "":
			in.find(p.Name, "bound to "+p.Active+expected)
		case silent && found && in.chassis[on].Unresponsive:
			in.find(p.Name, fmt.Sprintf("bound to %s, whose ovn-controller is not responding", p.Active))
		}
	}
}

// findUnmarked finds that no chassis has the mark by which Neutron knows those for gateways.
func (in *instance) findUnmarked() {
	later, earlier := false, false
	for _, g := range in.all() {
		later, earlier = later || g.Owner == Neutron, earlier || g.Owner == EarlierNeutron
	}
	effect := "Neutron gives new gateways no chassis"
	switch {
	case in.marked || !later && !earlier:
		return
	case !later:
		effect = "Neutron up to 2023.1 takes every chassis that has the network, later ones give new gateways none"
	}
	in.find(cloud, fmt.Sprintf("no chassis has enable-chassis-as-gw, and %s; to mark the units of ovn-chassis, run: %s", effect,
		"juju config ovn-chassis prefer-chassis-as-gw=true"))
}

// findIneligible finds that no chassis may become a candidate of a group that has none.
func (in *instance) findIneligible(g *group) {
	if g.class.mark == noMark && len(g.class.accepts) > 0 && slices.Contains(g.class.accepts, true) {
		in.find(g.Name, "it has no candidate") // why not is found once for all
		return
	}
	in.find(g.Name, "no chassis is eligible: "+in.whyNoOther(g))
}

// findInvalid names the candidates that may not host a group.
func (in *instance) findInvalid(g *group) {
	for _, name := range g.gone {
		text := fmt.Sprintf("candidate %s cannot host it: %s", name, g.reasons[name])
		if slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active == name }) {
			text = fmt.Sprintf("candidate %s hosts it, and should not: %s", name, g.reasons[name])
		}
		in.find(g.Name, text)
	}
}
