package status

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Clusters returns what is wrong with the clusters and their members, as far as this unit may judge. [Own] is about
// this unit's own servers.
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

// Own returns what keeps this unit's servers from being working members. If package plan has run, its findings say
// more.
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

func notServed(c observe.Cluster) finding.Finding {
	code, detail := finding.ServerUnreadable, c.ServerState.Text()
	switch {
	case c.Condition == ovndb.Former: // the text names the unit that it belonged to
		code = finding.ServerRemoved
	case c.Condition == ovndb.Left:
		code, detail = finding.ServerRemoved, ""
	case c.Condition == ovndb.Standalone:
		code, detail = finding.DatabaseStandalone, ""
	case c.Condition == ovndb.Failed:
		code, detail = finding.ServerFailed, ""
	case c.Starting:
		code, detail = finding.ServerStarting, ""
	case c.Condition == ovndb.Hung:
		code, detail = finding.ServerHangs, c.Err.Error()
	case c.Condition == ovndb.Down && c.FileErr == nil:
		code, detail = finding.ServerDown, c.Cause
	}
	return finding.Of(code, c.Database, finding.Args{Detail: detail})
}

// elsewhere finds the units whose server is in another cluster.
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

// superseded reports whether c has replaced the other cluster.
func superseded(c observe.Cluster, id raft.ID) bool {
	return id != "" && c.Condition == ovndb.Serving && slices.Contains(c.View.Superseded, id)
}
