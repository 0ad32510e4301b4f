package status

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// stale is a member to kick, in one database or in both.
type stale struct {
	// unit is the one that it was of; empty where that is not known.
	unit    string
	targets map[ovndb.Database]string
	permit  raft.Permit
	rows    map[ovndb.Database]observe.Row
}

// Next lists the commands to run, where something needs doing: each one passes
// the rules of the action as printed.
func Next(r observe.Report) []string {
	if r.Application.Goes() {
		return nil
	}
	var all []string
	for _, c := range r.Clusters {
		switch {
		case !c.Member() || c.Quorum.Up > 0 || c.Quorum.Held:
		case slices.Contains([]clusterHealth{electing, majorityUnconfirmed, unjudged}, healthOf(c, r.Application)):
			return nil // it ends by itself, and until then each change is refused
		case healthOf(c, r.Application) == cutOff: // there is a quorum, so nothing is to be recovered
			return []string{StatusCommand(r.Application, OtherUnit(r.Application, viewsOf(r)))}
		default:
			return []string{recoveryPlanCommand(r.Application, viewsOf(r))} // first of all, which unit sees a leader
		}
	}
	for _, k := range staleMembers(r) {
		all = append(all, KickCommand(r.Application, runOn(r.Application, viewsOf(r)), k.targets, k.permit))
	}
	return append(all, forgetSuperseded(r)...)
}

// KickOf is the command that removes a member which is no unit's any more, and what else its unit has
// left behind; empty where it is not to be removed, or may not be now.
func KickOf(r observe.Report, d ovndb.Database, row observe.Row) string {
	for _, k := range staleMembers(r) {
		if k.targets[d] == row.Longest() {
			return KickCommand(r.Application, runOn(r.Application, viewsOf(r)), k.targets, k.permit)
		}
	}
	return ""
}

// kickStale is the shorter line for a status: it names the former unit where that
// means these members and no others.
func kickStale(r observe.Report, k *stale) string {
	on := runOn(r.Application, viewsOf(r))
	if hasOnly(r.Application, viewsOf(r), k.unit, k.targets) {
		return kickUnitCommand(r.Application, on, k.unit, k.permit)
	}
	return KickCommand(r.Application, on, shortened(k.targets), k.permit)
}

// staleMembers lists the members that belong to no unit and that may be kicked now,
// those of one former unit together.
func staleMembers(r observe.Report) []*stale {
	var all []*stale
	byUnit := map[string]*stale{}
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if !row.Owner.Stale {
				continue
			}
			permit, allowed := raft.WeakestPermit(raft.Change{Database: c.Database, View: c.View, Target: row.Longest()})
			if !allowed {
				continue
			}
			k := byUnit[row.Owner.Was]
			if k == nil || row.Owner.Was == "" || k.targets[c.Database] != "" {
				k = &stale{unit: row.Owner.Was, targets: map[ovndb.Database]string{}, rows: map[ovndb.Database]observe.Row{}}
				all = append(all, k)
				byUnit[row.Owner.Was] = k
			}
			k.targets[c.Database], k.rows[c.Database] = row.Longest(), row
			k.permit = k.permit.Stronger(permit)
		}
	}
	return all
}
