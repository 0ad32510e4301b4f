package plan

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// planClusters brings the application to one cluster for each database, and reports whether it exists. Only the Juju
// leader creates clusters. It publishes their IDs, in a way that only a leader can, before a server can run on them: so
// if two units were the leader for a while, one finds the other's IDs and discards what it has made.
func (s State) planClusters(d *Decision) bool {
	running := s.running()
	if s.planOwnClusters(d) || s.planDispute(d, running) {
		return false
	}
	for _, db := range ovndb.Databases() {
		if clusters := running[db]; len(clusters) > 1 || len(clusters) == 1 && s.Clusters.known() && clusters[s.Clusters.IDs[db]] == nil {
			d.findIn(db, finding.TwoClusters, finding.Args{Detail: s.whichClusters(db, clusters)}, finding.ByHand(finding.RemoveUnits))
		}
	}
	if s.Clusters.known() {
		return true
	}
	if s.Unrelated {
		d.find(finding.ClustersAwaited, finding.Args{Value: "waiting for Juju to set up the relation to the other units"})
		return false
	}
	if s.findForeign(d) {
		return false
	}
	switch found := len(running[ovndb.NB]) + len(running[ovndb.SB]); {
	case finding.Worst(d.Findings) == finding.Error:
	case !s.JujuLeader && found == 0:
		s.planDiscard(d)
		d.find(finding.ClustersAwaited, finding.Args{Value: "the leader unit has not created the clusters yet"})
	case !s.JujuLeader:
		s.planDiscard(d)
		d.find(finding.ClustersAwaited, finding.Args{Value: "the leader unit has not published the clusters' IDs yet"})
	case found == 2:
		s.planDiscard(d)
		d.do(Step{Kind: PublishClusters, IDs: only(running), Reason: "the clusters exist already"})
	case found == 1:
		d.find(finding.ClustersAwaited, finding.Args{Value: "a unit has a server of one database only; waiting for the other"})
	case s.unread() != "":
		d.find(finding.ClustersAwaited, finding.Args{Value: "cannot read what " + s.unread() + " publishes; it may have the clusters"})
	default:
		s.planCreation(d)
	}
	return false
}

// planDispute reports whether the application's cluster IDs may not be the ones to serve. If Juju writes a claim at the
// end of the hook (Juju 4), a unit that was stopped until it leads again overwrites another unit's claim, which other
// units may follow already. But each unit's own claim stays, and a unit that finds another's commits no cluster: so of
// two claims, in any order, at most the one written first is served.
func (s State) planDispute(d *Decision, running map[ovndb.Database]map[raft.ID][]string) bool {
	if !s.Clusters.known() {
		return false
	}
	claimed := s.Clusters.IDs[ovndb.NB]
	claimers := append([]Peer{{Unit: s.Unit, Claim: s.Claim}}, s.Peers...)
	for _, p := range claimers {
		nb, sb := running[ovndb.NB], running[ovndb.SB]
		served := slices.Contains(nb[p.Claim], p.Unit) && len(nb) == 1 && len(sb) == 1 && !s.Clusters.superseded(ovndb.NB, p.Claim)
		if p.Claim == "" || p.Claim == claimed || !served {
			continue
		}
		if s.JujuLeader {
			d.do(Step{Kind: PublishClusters, IDs: only(running), Reason: p.Unit + " serves them already"})
		}
		d.find(finding.ClustersAwaited, finding.Args{Value: p.Unit + " serves other clusters; the leader unit will publish them"})
		return true
	}
	return s.Databases[ovndb.NB].Staged == claimed && s.awaitsClaims(d)
}

// awaitsClaims reports whether another unit has, or may have, claimed clusters too, so that this unit commits none.
func (s State) awaitsClaims(d *Decision) bool {
	claimed := s.Clusters.IDs[ovndb.NB]
	if s.Blind {
		d.find(finding.ClustersAwaited, finding.Args{Value: "waiting for Juju to set up the relation to the other units"})
		return true
	}
	for _, p := range s.Peers {
		if p.Claim != "" && p.Claim != claimed && !s.Clusters.superseded(ovndb.NB, p.Claim) {
			d.find(finding.ClaimContested, finding.Args{Unit: p.Unit, Value: "it will serve or discard them"})
			return true
		}
	}
	return false
}

// planOwnClusters continues with the clusters that this unit has claimed and begun to commit, if another unit's claim
// was written since and the start of its servers failed or was killed. The unit of the other claim commits nothing
// while this claim exists: otherwise each would wait for the other.
func (s State) planOwnClusters(d *Decision) bool {
	nb, sb := s.Databases[ovndb.NB], s.Databases[ovndb.SB]
	switch {
	case !s.Clusters.known(), s.Claim == "", s.Claim == s.Clusters.IDs[ovndb.NB], s.Clusters.superseded(ovndb.NB, s.Claim):
		return false
	case nb.Cluster != s.Claim, nb.Condition == ovndb.Serving && sb.Condition == ovndb.Serving:
		return false
	case slices.ContainsFunc(s.Peers, func(p Peer) bool { return len(p.Clusters) > 0 }): // two are served: only a person can choose
		return false
	}
	own := s
	own.Clusters.IDs = map[ovndb.Database]raft.ID{ovndb.NB: s.Claim, ovndb.SB: cmp.Or(sb.Cluster, sb.Staged)}
	for _, db := range ovndb.Databases() {
		if x := s.Databases[db]; x.Condition != ovndb.Serving && own.Clusters.IDs[db] != "" {
			own.planDatabase(d, db)
		}
	}
	if len(d.starting) > 0 {
		d.do(Step{Kind: Start, Services: d.starting, Reason: "this unit has claimed their clusters"})
	}
	d.find(finding.ClaimContested, finding.Args{Unit: cmp.Or(s.Clusters.CreatedBy, "another unit"), Value: "it will discard its own"})
	return true
}

// planCreation stages both clusters, and claims them once both are staged.
func (s State) planCreation(d *Decision) {
	staged := map[ovndb.Database]raft.ID{}
	for _, db := range ovndb.Databases() {
		if s.Databases[db].Condition == ovndb.Left {
			d.do(Step{Kind: ArchiveFile, Database: db, Reason: "its server has left another unit's cluster"})
		}
	}
	for _, db := range ovndb.Databases() {
		staged[db] = s.Databases[db].Staged
		if staged[db] == "" {
			d.do(Step{Kind: StageCluster, Database: db, Timer: s.Settings.ElectionTimer})
		}
	}
	d.do(Step{Kind: PublishClusters, IDs: staged, Reason: "the application has no clusters yet"})
}

// unread is the first peer that could not be read at all.
func (s State) unread() string {
	i := slices.IndexFunc(s.Peers, func(p Peer) bool { return p.Data == Unread })
	if i < 0 {
		return ""
	}
	return s.Peers[i].Unit
}

func (s State) planDiscard(d *Decision) {
	for _, db := range ovndb.Databases() {
		if s.Databases[db].Staged != "" {
			d.do(Step{Kind: DiscardCluster, Database: db, Reason: "another unit leads"})
		}
	}
}

// running are the clusters with servers, each with its units.
func (s State) running() map[ovndb.Database]map[raft.ID][]string {
	all := map[ovndb.Database]map[raft.ID][]string{}
	add := func(db ovndb.Database, cluster raft.ID, unit string) {
		if cluster == "" || s.Clusters.superseded(db, cluster) {
			return
		}
		if all[db] == nil {
			all[db] = map[raft.ID][]string{}
		}
		all[db][cluster] = append(all[db][cluster], unit)
	}
	for _, db := range ovndb.Databases() {
		if x := s.Databases[db]; x.Condition == ovndb.Serving && (s.Clusters.known() || s.Packages.Adopted) {
			add(db, x.Cluster, s.Unit)
		}
		for _, p := range s.Peers {
			add(db, p.Clusters[db], p.Unit)
		}
	}
	return all
}

// whichClusters names the clusters of a database, each with its units.
func (s State) whichClusters(db ovndb.Database, clusters map[raft.ID][]string) string {
	var parts []string
	for _, id := range slices.Sorted(maps.Keys(clusters)) {
		parts = append(parts, fmt.Sprintf("%s on %s", id.Brief(), strings.Join(clusters[id], " and ")))
	}
	if s.Clusters.known() && clusters[s.Clusters.IDs[db]] == nil {
		parts = append(parts, fmt.Sprintf("%s is the application's", s.Clusters.IDs[db].Brief()))
	}
	return strings.Join(parts, ", ")
}

// findForeign reports whether there is, or may be, a database from before the application on this machine, and adds the
// finding.
func (s State) findForeign(d *Decision) bool {
	for _, db := range ovndb.Databases() {
		x := s.Databases[db]
		switch {
		case x.Condition == ovndb.Absent, x.Condition == ovndb.Left, x.Condition == ovndb.Serving && s.Packages.Adopted:
		case x.Condition == ovndb.Standalone:
			x.findStandalone(d, db)
		case x.Condition != ovndb.Serving && (x.Condition != ovndb.Down || x.FileUnknown): // it may be a member that votes
			x.findUnserved(d, db)
		case !s.JujuLeader || s.unread() != "": // it may be of the application's own cluster, which is not known yet
		default:
			d.findIn(db, finding.FileMadeElsewhere, x.fileArgs(db, finding.Args{Cluster: cmp.Or(x.Cluster.Brief(), "unknown")}), finding.ByHand(finding.MoveAway))
		}
		if finding.Worst(d.Findings) == finding.Error {
			return true
		}
	}
	return false
}

// only is the one cluster of each database.
func only(running map[ovndb.Database]map[raft.ID][]string) map[ovndb.Database]raft.ID {
	ids := map[ovndb.Database]raft.ID{}
	for db, clusters := range running {
		for id := range clusters {
			ids[db] = id
		}
	}
	return ids
}
