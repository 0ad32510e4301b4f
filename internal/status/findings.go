package status

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Clusters returns the findings about the clusters and their members, as far as this unit may judge. [Own] is about
// this unit's own servers.
func Clusters(r observe.Report) []finding.Finding {
	if r.Application.AllDying() { // stopped servers block no unit now
		return []finding.Finding{finding.New(finding.ApplicationRemoved, finding.Subject{}, finding.Args{})}
	}
	all := slices.Concat(elsewhere(r), quorum(r), closedPorts(r), oddMembers(r), replacesItself(r),
		r.Application.Unpublished(), r.Application.Problems, charms(r.Application))
	if works(r) { // else this unit may be cut off
		all = slices.Concat(all, leaves(r), notInNewCluster(r))
	}
	return slices.Concat(all, stale(r), down(r))
}

// Own returns the findings about this unit's servers that are not working members. Those of package plan are more
// precise.
func Own(r observe.Report) (all []finding.Finding) {
	if r.Application.AllDying() {
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

func superseded(c observe.Cluster, id raft.ID) bool {
	return id != "" && c.Condition == ovndb.Serving && slices.Contains(c.View.Superseded, id)
}

// charms finds the units whose charm has another version than most units', or than this unit's if no version has a
// majority. A unit counts only if it has seen this unit's version: then it has run a hook since, and Juju upgrades a
// unit before it runs a hook. Juju may be about to upgrade any other unit.
func charms(m observe.Application) (all []finding.Finding) {
	if m.Charm == "" {
		return nil
	}
	units, judged := map[string][]string{m.Charm: {m.Unit}}, 1
	for _, unit := range m.Others() {
		s := m.Peers[unit].State
		if s.Charm != "" && !m.Dying(unit) && (s.Charm == m.Charm || slices.Contains(s.CharmsSeen, m.Charm)) {
			units[s.Charm] = append(units[s.Charm], unit)
			judged++
		}
	}
	usual := m.Charm
	for charm, its := range units {
		if 2*len(its) > judged {
			usual = charm
		}
	}
	delete(units, usual)
	for charm, its := range units {
		for _, unit := range its {
			all = append(all, finding.New(finding.CharmVersionDiffers, finding.Subject{Name: unit},
				finding.Args{Unit: unit, Version: charm, Detail: charm + ", others " + usual},
				finding.ByHand(finding.RefreshAgain)))
		}
	}
	return all
}
