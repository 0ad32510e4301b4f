package schedule

import "slices"

// Class is why a candidate changes, one of a few: for what counts changes. [Row.Reason] says it in
// words, which name chassis, so that there is no end of them.
type Class string

// The classes of changes.
const (
	ClassUnhosted   Class = "unhosted"   // the gateway had no candidate
	ClassIncomplete Class = "incomplete" // it had fewer than it can have
	ClassReplaced   Class = "replaced"   // another chassis takes the place of one that may not host it, or gives a share
	ClassRank       Class = "rank"       // it stays, with another priority
)

// Classes are all of them.
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

// Condition is what is wrong with a gateway, one of a few: for what counts them. [Evaluate] says
// it in words.
type Condition string

// The conditions of gateways; one may have several.
const (
	ConditionUnhosted  Condition = "unhosted"          // a port is bound to no chassis that responds
	ConditionSingle    Condition = "single-candidate"  // it has one candidate, and no failover
	ConditionInvalid   Condition = "invalid-candidate" // a candidate is no chassis, or may not host it
	ConditionMisplaced Condition = "misplaced"         // a port is not where its priorities say
	ConditionLost      Condition = "gateway-unknown"   // it is of external ports, whose router's gateway is not there
	ConditionUnserved  Condition = "external-unserved" // it is of external ports, and one is bound to no chassis that responds
)

// Conditions has every condition, with how many gateways it is true of.
func Conditions(s State) map[Condition]int {
	in := newInstance(s)
	count := map[Condition]int{
		ConditionUnhosted: 0, ConditionSingle: 0, ConditionInvalid: 0, ConditionMisplaced: 0, ConditionLost: 0, ConditionUnserved: 0,
	}
	for _, g := range in.all() {
		hosted := in.unhostedPorts(g) == 0
		count[ConditionUnhosted] += btoi(!hosted && g.Kind == RouterPorts)
		count[ConditionUnserved] += btoi(!hosted && g.Kind != RouterPorts)
		count[ConditionMisplaced] += btoi(in.isMisplaced(g))
	}
	for _, p := range s.Pinned {
		if !p.Disabled && len(p.Ports) > 0 {
			count[ConditionUnhosted] += btoi(!in.isHosted(Port{Active: p.Active}))
			count[ConditionMisplaced] += btoi(p.Active != p.Chassis)
		}
	}
	for _, g := range slices.Concat(in.groups, in.externals) {
		count[ConditionSingle] += btoi(len(g.order) == 1 && g.Kind == RouterPorts)
		count[ConditionInvalid] += btoi(len(g.gone) > 0)
		count[ConditionLost] += btoi(in.isLost(g))
	}
	return count
}
