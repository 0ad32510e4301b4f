package schedule

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// Class is the kind of reason for the change of a candidate, for metrics: reasons in words name chassis.
type Class string

// The classes of changes.
const (
	ClassUnhosted   Class = "unhosted"   // the gateway had no candidate
	ClassIncomplete Class = "incomplete" // it had fewer than it can have
	ClassReplaced   Class = "replaced"   // another chassis takes the place of one that may not host it, or gives a share
	ClassRank       Class = "rank"       // it stays, with another priority
)

// Classes returns all classes.
func Classes() []Class { return []Class{ClassUnhosted, ClassIncomplete, ClassReplaced, ClassRank} }

// Class is that of a row of the change.
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

// Conditions counts the gateways of which a finding is true, by its code. Unbound and unserved are those that are bound
// to no responding chassis; invalid are those with a candidate that may not host them.
func Conditions(s State) map[finding.Code]int {
	in := newInstance(s)
	count := map[finding.Code]int{
		finding.GatewayUnbound: 0, finding.SingleCandidate: 0, finding.CandidateInvalid: 0, finding.GatewayMisplaced: 0,
		finding.ExternalGatewayUnknown: 0, finding.ExternalUnserved: 0,
	}
	for _, g := range in.all() {
		hosted := in.unhostedPorts(g) == 0
		count[finding.GatewayUnbound] += btoi(!hosted && g.Kind == RouterPorts)
		count[finding.ExternalUnserved] += btoi(!hosted && g.Kind != RouterPorts)
		count[finding.GatewayMisplaced] += btoi(in.isMisplaced(g))
	}
	for _, p := range s.Pinned {
		if !p.Disabled && len(p.Ports) > 0 {
			count[finding.GatewayUnbound] += btoi(!in.isHosted(Port{Active: p.Active}))
			count[finding.GatewayMisplaced] += btoi(p.Active != "" && p.Active != p.Chassis)
		}
	}
	for _, g := range slices.Concat(in.groups, in.externals) {
		count[finding.SingleCandidate] += btoi(len(g.order) == 1 && g.Kind == RouterPorts)
		count[finding.CandidateInvalid] += btoi(len(g.gone) > 0)
		count[finding.ExternalGatewayUnknown] += btoi(in.isLost(g))
	}
	return count
}
