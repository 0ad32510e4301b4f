package gateway

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Orphans finds candidates that name a missing chassis, and what [Inventory.incomplete] finds. They are only reported:
// only a person knows whether a machine comes back.
func (inv *Inventory) Orphans() []finding.Finding {
	all, there := inv.incomplete(), map[string]bool{}
	for _, c := range inv.SB.Chassis {
		there[c.Name] = true
	}
	for _, g := range inv.State.Groups {
		for _, c := range g.Candidates {
			if !there[c.Chassis] {
				all = append(all, finding.About(finding.CandidateUnknown, c.Chassis, finding.Args{}))
			}
		}
	}
	return schedule.SortFindings(all)
}

// incomplete finds the chassis that lack one of their two rows.
func (inv *Inventory) incomplete() (all []finding.Finding) {
	there := map[string]bool{}
	for _, c := range inv.SB.Chassis {
		there[c.Name] = true
		if !c.Known && !c.Remote() && len(inv.SB.Private) > 0 {
			all = append(all, finding.About(finding.ChassisIncomplete, c.Name, finding.Args{Value: "Chassis_Private"}))
		}
	}
	for _, name := range inv.SB.Private {
		if !there[name] {
			all = append(all, finding.About(finding.ChassisIncomplete, name, finding.Args{Value: "Chassis"}))
		}
	}
	return all
}

// Unused are the groups that have the chassis as a member and that no port uses, so that no plan covers them.
func (inv *Inventory) Unused(chassis string) (all []string) {
	for _, g := range inv.NB.Groups {
		_, planned := inv.stored[g.Name]
		isMember := func(r ovsdb.CandidateRow) bool { return r.Chassis == chassis }
		if !planned && slices.ContainsFunc(pick(inv.NB.HAChassis, g.Members), isMember) {
			all = append(all, g.Name)
		}
	}
	slices.Sort(all)
	return all
}
