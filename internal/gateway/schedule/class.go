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
	ConditionUnhosted  Condition = "unhosted"          // it has no candidate
	ConditionSingle    Condition = "single-candidate"  // it has one, and no failover
	ConditionInvalid   Condition = "invalid-candidate" // a candidate is no chassis, or may not host it
	ConditionMisplaced Condition = "misplaced"         // a port is not where its priorities say
	ConditionLost      Condition = "gateway-unknown"   // it is of external ports, whose router's gateway is not there
)

// Conditions has every condition, with how many gateways it is true of.
func Conditions(s State) map[Condition]int {
	count := map[Condition]int{ConditionUnhosted: 0, ConditionSingle: 0, ConditionInvalid: 0, ConditionMisplaced: 0, ConditionLost: 0}
	note := func(c Condition, isSo bool) {
		if isSo {
			count[c]++
		}
	}
	in := newInstance(s)
	for _, g := range in.groups {
		note(ConditionUnhosted, len(g.order) == 0)
		note(ConditionSingle, len(g.order) == 1)
		note(ConditionInvalid, len(g.gone) > 0)
		note(ConditionMisplaced, in.isMisplaced(g))
	}
	for _, f := range in.followers {
		note(ConditionLost, in.groupNamed(f.Follows) == nil)
	}
	return count
}

// isMisplaced says whether a port is not where its priorities say, as far as any is known to be
// anywhere.
func (in *instance) isMisplaced(g *group) bool {
	return g.isLocated() && slices.ContainsFunc(g.Ports, func(p Port) bool { return !p.Disabled && p.Active != in.chassis[g.order[0]].Name })
}

// isLocated says whether it can be told where a group's ports should be, and are.
func (g *group) isLocated() bool {
	return len(g.order) > 0 && (g.nowhere || slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active != "" }))
}
