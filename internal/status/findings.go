package status

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Clusters is what is wrong with the clusters and their members, as far as this unit may judge. What
// concerns this unit's own servers is in [Own].
func Clusters(r observe.Report) []finding.Finding {
	if r.Application.Goes() { // servers that have stopped by now hold up no unit
		return []finding.Finding{finding.New(finding.ApplicationRemoved, finding.Subject{}, finding.Args{})}
	}
	all := slices.Concat(elsewhere(r), quorum(r), closedPorts(r), oddMembers(r), replacesItself(r),
		r.Application.Unpublished(), r.Application.Problems, charms(r.Application))
	if works(r) { // else this unit may be the one that is cut off
		all = slices.Concat(all, leaves(r), notInNewCluster(r))
	}
	return slices.Concat(all, stale(r), down(r))
}

// Own is what keeps this unit's servers from being working members. Package plan says more about
// them, if it has looked at them.
func Own(r observe.Report) (all []finding.Finding) {
	if r.Application.Goes() {
		return nil
	}
	for _, c := range r.Clusters {
		switch healthOf(c, r.Application) {
		case absent:
			all = append(all, finding.Of(finding.ServerDown, c.Database, finding.Args{Detail: "no database yet"}))
		case notServing:
			all = append(all, notServed(c))
		case joining:
			all = append(all, finding.Of(finding.ServerJoining, c.Database, finding.Args{}))
		case leaving:
			all = append(all, finding.Of(finding.ServerLeaving, c.Database, finding.Args{}))
		}
	}
	return all
}

// codes are what the conditions of a server mean in which nothing more is known of it.
var codes = map[ovndb.Condition]finding.Code{
	ovndb.Former: finding.ServerRemoved, ovndb.Left: finding.ServerRemoved, ovndb.Standalone: finding.DatabaseStandalone,
	ovndb.Failed: finding.ServerFailed,
}

func notServed(c observe.Cluster) finding.Finding {
	code, known := codes[c.Condition]
	switch {
	case c.Condition == ovndb.Former: // the reason names the unit that it belonged to
		return finding.Of(code, c.Database, finding.Args{Detail: c.ServerState.Text()})
	case known:
		return finding.Of(code, c.Database, finding.Args{})
	case c.Starting:
		return finding.Of(finding.ServerStarting, c.Database, finding.Args{})
	case c.Condition == ovndb.Hung:
		return finding.Of(finding.ServerHangs, c.Database, finding.Args{Detail: c.Err.Error()})
	case c.Condition == ovndb.Down && c.FileErr == nil:
		return finding.Of(finding.ServerDown, c.Database, finding.Args{Detail: c.Cause})
	}
	return finding.Of(finding.ServerUnreadable, c.Database, finding.Args{Detail: c.ServerState.Text()})
}

// elsewhere finds the units whose server is in a cluster of its own.
func elsewhere(r observe.Report) (all []finding.Finding) {
	for _, c := range r.Clusters {
		if c.Condition != ovndb.Serving || c.Status.Cluster == nil {
			continue
		}
		for _, unit := range r.Application.Published.Names() {
			id := r.Application.Published[unit][c.Database].Cluster
			if id != "" && id != *c.Status.Cluster && !superseded(c, id) {
				all = append(all, finding.Of(finding.ClusterElsewhere, c.Database,
					finding.Args{Unit: unit, Cluster: id.Brief(), Other: c.Status.Cluster.Brief()}))
			}
		}
	}
	return all
}

// superseded reports whether a cluster is one that was given up for c.
func superseded(c observe.Cluster, id raft.ID) bool {
	return id != "" && c.Condition == ovndb.Serving && slices.Contains(c.View.Superseded, id)
}
