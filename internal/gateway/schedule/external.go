package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// lead returns the group that a group of external ports follows now: its router is enabled, and its first candidate
// responds and may serve the ports. lead returns nil if there is no such group.
func (in *instance) lead(g *group) *group {
	lead := in.followed(g)
	if lead == nil || lead.held || lead.Ports[0].Disabled || len(lead.order) == 0 ||
		!g.class.eligible[lead.order[0]] || in.chassis[lead.order[0]].Unresponsive {
		return nil
	}
	return lead
}

// followed returns the group that [Group.Follows] names, or nil. Gateways that no plan changes lead without candidates:
// a pinned router with its chassis, gateways without a provider network with the chassis that may host them.
func (in *instance) followed(g *group) *group {
	if lead := in.groupNamed(g.Follows); lead != nil || g.Follows == "" {
		return lead
	}
	at := func(x Group, names ...string) *group {
		lead := &group{Group: x}
		for _, name := range filter(names, in.isHere) {
			lead.order = append(lead.order, in.number[name])
		}
		return lead
	}
	for _, p := range in.pinned {
		if p.Kind == PinnedRouter && p.Name == g.Follows {
			return at(Group{Name: p.Name, Ports: []Port{{Active: p.Active, Disabled: p.Disabled}}}, p.Chassis)
		}
	}
	for _, x := range in.unplanned {
		if x.Name == g.Follows {
			return at(Group{Name: x.Name, Ports: x.Ports}, x.Ranked()...)
		}
	}
	return nil
}

func (in *instance) follow(g *group) {
	lead := in.lead(g)
	if lead == nil || g.held || len(g.order) > 0 && g.order[0] == lead.order[0] {
		return
	}
	in.lift(g, lead.order[0], finding.Reason{Code: finding.OnHostOnly, Name: g.Follows})
}

// lift puts a chassis first. It swaps places with the first one, or is added; if there are then too many, the last one
// is dropped.
func (in *instance) lift(g *group, c int, reason finding.Reason) {
	g.reasons[in.chassis[c].Name] = reason
	if at := slices.Index(g.order, c); at >= 0 {
		g.order[0], g.order[at] = g.order[at], g.order[0]
		return
	}
	g.order = slices.Insert(g.order, 0, c)
	if len(g.order) > MaxCandidates {
		g.reasons[in.chassis[g.order[MaxCandidates]].Name] = reason
		g.order = g.order[:MaxCandidates]
	}
}

// mendExternals completes each group of external ports that has no member or an invalid one. It adds members of the
// gateway that the group follows first, then the chassis that serve the fewest groups. Other groups keep their members.
func (in *instance) mendExternals() {
	count := make([]int, len(in.chassis))
	for _, g := range in.externals {
		for i, c := range g.order {
			count[c] += 1 + btoi(i == 0)*len(in.externals)
		}
	}
	for _, g := range in.externals {
		in.follow(g)
		if g.held {
			continue
		}
		if len(g.was) == 0 || len(g.gone) > 0 && !g.copied {
			in.fillExternal(g, count)
		}
		if in.lead(g) == nil {
			in.replaceUnresponsiveMaster(g)
		}
	}
}

func (in *instance) fillExternal(g *group, count []int) {
	var first []int
	if lead := in.lead(g); lead != nil {
		first = filter(lead.order, g.takes)
	}
	byCount := func(a, b int) int { return cmp.Compare(count[a], count[b]) }
	rest := slices.SortedStableFunc(slices.Values(g.class.schedulable), byCount)
	for _, c := range slices.Concat(first, rest) {
		if !g.has(c) && g.missing() > 0 {
			g.append(in, c)
			count[c] += 1 + btoi(len(g.order) == 1)*len(in.externals)
		}
	}
}

// planExternals adds the changes of groups of external ports. It does not count an interruption if the gateway that the
// group follows is interrupted too.
func (in *instance) planExternals(p *Plan, operation string) {
	moved := map[string]bool{}
	for _, c := range p.Changes {
		moved[c.Group] = c.Interrupts
	}
	for _, g := range in.externals {
		in.follow(g)
		if g.changes(operation) {
			c := in.change(g.Group, in.names(g.order), g.reasons)
			c.Interrupts = c.Interrupts && g.bound() && !moved[g.Follows]
			p.Changes = append(p.Changes, c)
		}
	}
}

func (in *instance) findExternals() {
	for _, g := range in.externals {
		if g.held {
			continue
		}
		in.findInvalid(g)
		in.findApart(g)
		if len(g.order) > 0 || in.unhostedPorts(g.Group) == 0 {
			continue
		}
		args := finding.Quote(named(g.Ports)).Args()
		if len(g.class.schedulable) == 0 {
			args.Reasons = []finding.Reason{in.noneEligible(g)}
		}
		in.find(finding.ExternalUnserved, g.Name, args)
	}
}

// findApart finds external ports that are bound to another chassis than their router's gateway (LP#1995078). Neutron
// itself keeps them apart if there are chassis for external ports, and the gateway is on another chassis.
func (in *instance) findApart(g *group) {
	gateway := ""
	if lead := in.followed(g); lead != nil {
		gateway = lead.Ports[0].Active
	}
	apart := slices.IndexFunc(g.Ports, func(p Port) bool { return p.Active != "" && p.Active != gateway })
	why := in.invalid(g, gateway)
	if gateway == "" || apart < 0 || why.Code == finding.ChassisNotExternal {
		return
	}
	args := why.Args()
	args.Value, args.Other = gateway, g.Ports[apart].Active
	in.find(finding.ExternalApart, g.Name, args)
}

// findCutOff finds the gateways whose first candidate lacks a network of the ports behind them.
func (in *instance) findCutOff(behind func(Group) []string) {
	for _, g := range in.groups {
		if g.held || len(g.order) == 0 {
			continue
		}
		c := in.chassis[g.order[0]]
		if network := c.lacks(behind(g.Group)); network != "" {
			in.find(finding.GatewayCutOff, g.Name, finding.Args{Value: c.Name, Other: network})
		}
	}
}

// behind returns the networks that the host of a gateway needs besides the gateway's own.
func (in *instance) behind(g Group) []string {
	return slices.Concat(Group{Ports: in.followers[g.Name]}.networks(), g.Behind)
}

const namedPorts = 3

func named(ports []Port) string {
	var names []string
	for _, p := range ports[:min(namedPorts, len(ports))] {
		names = append(names, p.Name)
	}
	if more := len(ports) - namedPorts; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

func (in *instance) findLostFollowers() {
	for _, g := range in.externals {
		if in.isLost(g) {
			in.find(finding.ExternalGatewayUnknown, g.Name, finding.Args{Value: g.Follows})
		}
	}
}

func (in *instance) isLost(g *group) bool {
	return g.Follows != "" && in.followed(g) == nil
}
