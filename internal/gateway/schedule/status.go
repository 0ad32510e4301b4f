package schedule

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Evaluate returns how gateways are spread, what is wrong, and which operations would change something.
func Evaluate(s State, o Options) Status {
	in := newInstance(s)
	in.hold(o)
	for _, g := range in.groups {
		if g.held {
			continue
		}
		in.findInvalid(g)
		switch {
		case len(g.order) == 0 && len(g.class.schedulable) == 0:
			in.findIneligible(g)
		case len(g.order) == 0 && in.expected(g.Group) == "":
			in.find(finding.GatewayWithoutCandidate, g.Name, finding.Args{})
		case len(g.order) == 1:
			args := finding.Args{Value: in.chassis[g.order[0]].Name, Count: g.possible}
			if g.possible == 1 {
				args.Reasons = in.whyNo(g, g.has)
			}
			in.find(finding.SingleCandidate, g.Name, args)
		}
	}
	in.findExternals()
	in.findCutOff(func(g Group) []string { return g.Behind }) // external ports have a finding of their own
	in.findMissing()
	in.findHosting()
	in.findUnmarked()
	in.findLostFollowers()
	in.findings = append(in.findings, s.findPinned()...)
	in.loadBackups(func(*group) {})
	status := Status{
		Networks: in.selected(o, in.networkReports()), Findings: SortFindings(in.findings), Next: []Step{},
		Pinned: s.Pinned, Networkless: in.networkless(),
	}
	if p := Reschedule(s, o); !p.Empty() {
		status.Next = append(status.Next, Step{Operation: p.Operation, Cost: p.Cost})
	}
	// Both operations change groups that only follow others, so these don't count here.
	p, moves := Rebalance(s, o), func(b Bound) bool { return b.Moves > 0 }
	if slices.ContainsFunc(p.Bounds, moves) && !finding.Has(p.Findings, finding.NoGatewayBound) {
		status.Next = append(status.Next, Step{Operation: p.Operation, Cost: p.Cost})
	}
	return status
}

// OnNetworks returns the status without the findings about gateways that are on none of the networks, and counts these.
// If there are no networks, it keeps all.
func (s Status) OnNetworks(in State, networks []string) Status {
	if len(networks) == 0 {
		return s
	}
	here := map[string]bool{} // whether a group, a port or a router is on one of the networks, by its name
	for _, g := range in.Groups {
		for _, p := range g.Ports {
			on := isOf(networks, p.Network)
			for _, name := range []string{g.Name, p.Name, p.Router} {
				here[name] = here[name] || on
			}
		}
	}
	delete(here, "") // an external port has no router, and a finding may have no subject
	for _, p := range in.Pinned {
		on := slices.ContainsFunc(p.Networks, func(n string) bool { return isOf(networks, n) })
		here[p.Name] = here[p.Name] || on
	}
	all := s.Findings
	s.Findings = filter(all, func(f finding.Finding) bool {
		on, known := here[f.Subject.Name]
		return on || !known
	})
	s.Elsewhere = len(all) - len(s.Findings)
	return s
}

func (in *instance) networkless() (all []Networkless) {
	for _, g := range in.all() {
		for _, p := range g.Ports {
			if !p.External && p.Network == "" {
				all = append(all, Networkless{p.Name, p.Active})
			}
		}
	}
	slices.SortFunc(all, func(a, b Networkless) int { return CompareNames(a.Name, b.Name) })
	return all
}

// Class is the kind of reason for the change of a candidate. Metrics use it because reasons in words name chassis.
type Class string

// The classes of changes.
const (
	ClassUnhosted   Class = "unhosted"   // the gateway had no candidate
	ClassIncomplete Class = "incomplete" // it had fewer than it can have
	ClassReplaced   Class = "replaced"   // another chassis replaces a candidate that is invalid or has more than its share
	ClassRank       Class = "rank"       // it stays, with another priority
)

// Classes returns all classes.
func Classes() []Class { return []Class{ClassUnhosted, ClassIncomplete, ClassReplaced, ClassRank} }

// Class returns the class of a row of the change.
func (c Change) Class(r Row) Class {
	switch {
	case len(c.Before) == 0:
		return ClassUnhosted
	case r.Before != nil && r.After != nil:
		return ClassRank
	case slices.ContainsFunc(c.Rows, func(x Row) bool { return x.After == nil }):
		return ClassReplaced
	}
	return ClassIncomplete
}

// Conditions counts the gateways that a finding is about, by its code.
func Conditions(s State) map[finding.Code]int {
	in, outage := newInstance(s), FindOutage(s)
	count := map[finding.Code]int{
		finding.GatewayUnbound: 0, finding.SingleCandidate: 0, finding.CandidateInvalid: 0, finding.GatewayMisplaced: 0,
		finding.ExternalGatewayUnknown: 0, finding.ExternalUnserved: 0, finding.GatewayHostSilent: 0,
		finding.NoGatewayBound:    outage.gateways(finding.NoGatewayBound),
		finding.NoChassisResponds: outage.gateways(finding.NoChassisResponds),
	}
	for _, g := range in.all() {
		switch hosted := in.unhostedPorts(g) == 0; {
		case hosted:
		case g.Kind == RouterPorts:
			count[unhosted(!slices.ContainsFunc(g.Ports, func(p Port) bool { return !p.Disabled && p.Active == "" }))]++
		default:
			count[finding.ExternalUnserved]++
		}
		count[finding.GatewayMisplaced] += btoi(in.isMisplaced(g))
	}
	for _, p := range s.Pinned {
		if !p.Disabled && len(p.Ports) > 0 {
			if !in.isHosted(Port{Active: p.Active}) {
				count[unhosted(p.Active != "")]++
			}
			count[finding.GatewayMisplaced] += btoi(p.Active != "" && p.Active != p.Chassis)
		}
	}
	for _, g := range slices.Concat(in.groups, in.externals) {
		count[finding.SingleCandidate] += btoi(len(g.order) == 1 && g.Kind == RouterPorts)
		count[finding.CandidateInvalid] += btoi(len(g.gone) > 0)
		count[finding.ExternalGatewayUnknown] += btoi(in.isLost(g))
	}
	for _, g := range in.unplanned {
		count[finding.CandidateInvalid] += btoi(len(in.missing(g)) > 0)
	}
	return count
}

// unhosted returns the code for a gateway that no responding chassis hosts.
func unhosted(bound bool) finding.Code {
	if bound {
		return finding.GatewayHostSilent
	}
	return finding.GatewayUnbound
}

// Dependent returns, for each chassis, the gateways that no other responding chassis could host, and those pinned to
// it.
func Dependent(s State) map[string][]string {
	lives := map[string]bool{}
	for _, c := range s.Chassis {
		lives[c.Name] = c.responds()
	}
	all := map[string][]string{}
	for _, g := range s.Groups {
		only := distinct(filter(g.Ranked(), func(name string) bool { return lives[name] }))
		for _, p := range g.Ports { // a chassis whose ovn-controller is dead may still host it
			if p.Active != "" && !lives[p.Active] && len(only) == 0 {
				only = []string{p.Active}
			}
		}
		if len(only) == 1 {
			all[only[0]] = append(all[only[0]], g.Name)
		}
	}
	for _, p := range s.Pinned {
		if !p.Disabled {
			all[p.Chassis] = append(all[p.Chassis], p.Name)
		}
	}
	for _, names := range all {
		slices.SortFunc(names, CompareNames)
	}
	return all
}
