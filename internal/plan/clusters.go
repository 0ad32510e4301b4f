package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// servedClaim returns a unit that serves other clusters than the published ones; empty if none does. Juju 4 writes a
// claim at the end of the hook. So a unit that lost leadership during its hook, and leads again at its end,
// overwrites another unit's claim, which other units may already follow. But each unit's own claim stays, and a unit
// that finds another claim commits no cluster: of two claims, in any order, at most the one written first is served.
func (s State) servedClaim() string {
	if !s.known() {
		return ""
	}
	running := s.running()
	nb, sb := running[ovndb.NB], running[ovndb.SB]
	for _, p := range append([]Peer{{Unit: s.Unit, Claim: s.Claim}}, s.Peers...) {
		if s.rivals(p) && slices.Contains(nb[p.Claim], p.Unit) && len(nb) == 1 && len(sb) == 1 {
			return p.Unit
		}
	}
	return ""
}

// rivals reports whether the peer has claimed another cluster than the published one.
func (s State) rivals(p Peer) bool {
	return p.Claim != "" && p.Claim != s.Clusters.IDs[ovndb.NB] && !s.superseded(ovndb.NB, p.Claim)
}

// hasClaimed reports whether the unit has published a cluster that it has not committed yet.
func (v *view) hasClaimed() bool {
	published := func(db ovndb.Database) bool {
		x := v.Databases[db]
		return x.Staged != "" && x.Staged == v.Clusters.IDs[db]
	}
	return v.known() && published(ovndb.NB) || v.Dying && published(ovndb.SB)
}

// otherClaim returns another unit that has claimed clusters, too; this unit then commits none.
func (s State) otherClaim() string { return s.firstPeer(s.rivals) }

// doubtsClaims reports whether another unit has, or may have, claimed clusters, too.
func (v *view) doubtsClaims() bool { return v.hasClaimed() && (v.ClaimsUnread || v.otherClaim() != "") }

// ownClusters returns the clusters that this unit has claimed and begun to commit, if another unit's claim was
// written since and the start of this unit's servers failed or was killed; otherwise nil. This unit continues with
// them: the other unit commits nothing while this claim exists, so if this unit waited too, neither would ever
// continue.
func (s State) ownClusters() map[ovndb.Database]raft.ID {
	nb, sb := s.Databases[ovndb.NB], s.Databases[ovndb.SB]
	own := map[ovndb.Database]raft.ID{ovndb.NB: s.Claim, ovndb.SB: cmp.Or(sb.Cluster, sb.Staged)}
	switch {
	case s.mode() != working, !s.known(), !s.rivals(Peer{Claim: s.Claim}):
		return nil
	case nb.Cluster != s.Claim, own[ovndb.SB] == "", nb.Condition == ovndb.Serving && sb.Condition == ovndb.Serving:
		return nil
	// Both are served: only an operator can choose.
	case slices.ContainsFunc(s.Peers, func(p Peer) bool { return len(p.Clusters) > 0 }):
		return nil
	}
	return own
}

// hasTwoClusters reports whether a database has servers of several clusters, or of a cluster other than the published
// one.
func (v *view) hasTwoClusters() bool {
	clusters := v.running()[v.db]
	return len(clusters) > 1 || len(clusters) == 1 && v.known() && clusters[v.cluster()] == nil
}

func (v *view) clustersFound() int {
	running := v.running()
	return len(running[ovndb.NB]) + len(running[ovndb.SB])
}

// publishFound publishes the one cluster of each database that has servers.
func (v *view) publishFound() Step {
	ids := map[ovndb.Database]raft.ID{}
	for db, clusters := range v.running() {
		for id := range clusters {
			ids[db] = id
		}
	}
	return Step{Kind: PublishClusters, IDs: ids, Reason: v.rule}
}

func (v *view) publishStaged() Step {
	ids := map[ovndb.Database]raft.ID{}
	for _, db := range ovndb.Databases() {
		ids[db] = v.Databases[db].Staged
	}
	return Step{Kind: PublishClusters, IDs: ids, Reason: v.rule}
}

func awaits(code finding.ReasonCode) func(*view) finding.Finding {
	return func(v *view) finding.Finding { return v.findAwaitedFrom(code, "") }
}

func (v *view) findAwaitedFrom(code finding.ReasonCode, unit string) finding.Finding {
	return v.find(finding.ClustersAwaited, finding.Reason{Code: code, Name: unit}.Args())
}

func (v *view) findNoRelation() finding.Finding {
	return awaits(finding.JujuRelationAwaited)(v)
}

func (v *view) findServedClaim() finding.Finding {
	return v.findAwaitedFrom(finding.ServesOthers, v.servedClaim())
}

func (v *view) findContested() finding.Finding {
	creator := cmp.Or(v.Clusters.CreatedBy, finding.AnotherUnit)
	return v.find(finding.ClaimContested, finding.Args{Unit: creator, Reasons: finding.Because(finding.DiscardsOwn)})
}

func (v *view) findTwoClusters() finding.Finding {
	served := v.whichClusters(v.db, v.running()[v.db])
	return v.find(finding.TwoClusters, served.Args(), finding.ByHand(finding.RemoveUnits))
}

// mayVote reports whether a server from before the application may be a voting member.
func (v *view) mayVote() bool {
	switch v.x.Condition {
	case ovndb.Absent, ovndb.Left, ovndb.Serving, ovndb.Standalone:
		return false
	}
	return v.x.Condition != ovndb.Down || v.x.FileUnknown
}

// isMadeElsewhere reports whether there is a database from before the application on this machine. Only the leader
// decides that, after reading all units: the database may belong to the application's own cluster, which is not known
// yet.
func (v *view) isMadeElsewhere() bool {
	if !v.JujuLeader || v.unread() != "" {
		return false
	}
	return v.x.Condition == ovndb.Serving && !v.Packages.Adopted || v.x.Condition == ovndb.Down
}

func (v *view) findMadeElsewhere() finding.Finding {
	args := v.fileArgs(finding.Args{Cluster: cmp.Or(v.x.Cluster.Brief(), "unknown")})
	return v.find(finding.FileMadeElsewhere, args, finding.ByHand(finding.MoveAway))
}

func (s State) unread() string { return s.firstPeer(func(p Peer) bool { return p.Data.Unread() }) }

// running returns the clusters that have servers, each with its units.
func (s State) running() map[ovndb.Database]map[raft.ID][]string {
	all := map[ovndb.Database]map[raft.ID][]string{}
	add := func(db ovndb.Database, cluster raft.ID, unit string) {
		if cluster == "" || s.superseded(db, cluster) {
			return
		}
		if all[db] == nil {
			all[db] = map[raft.ID][]string{}
		}
		all[db][cluster] = append(all[db][cluster], unit)
	}
	for _, db := range ovndb.Databases() {
		if x := s.Databases[db]; x.Condition == ovndb.Serving && (s.known() || s.Packages.Adopted) {
			add(db, x.Cluster, s.Unit)
		}
		for _, p := range s.Peers {
			add(db, p.Clusters[db], p.Unit)
		}
	}
	return all
}

func (s State) whichClusters(db ovndb.Database, clusters map[raft.ID][]string) finding.Reason {
	served := finding.Reason{Code: finding.ClustersServed}
	for _, id := range slices.Sorted(maps.Keys(clusters)) {
		served.Because = append(served.Because,
			finding.Reason{Code: finding.ClusterOn, Value: id.Brief(), Name: strings.Join(clusters[id], " and ")})
	}
	if s.known() && clusters[s.Clusters.IDs[db]] == nil {
		served.Because = append(served.Because,
			finding.Reason{Code: finding.ClusterIsOurs, Value: s.Clusters.IDs[db].Brief()})
	}
	return served
}

// fileArgs returns args with the file and its service added.
func (v *view) fileArgs(args finding.Args) finding.Args {
	args.Path, args.Service = v.x.File.Path, string(ovndb.ServiceOf(v.db))
	return args
}

// These rules are about the application's clusters. Only the Juju leader creates them. It publishes their IDs, in a
// way that only a leader can, before a server can run on them. So if two units led for a while, one finds the other's
// IDs and discards the clusters that it created.
var clusterRules = slices.Concat([]rule{
	{
		name: "leader publishes a served claim", when: func(v *view) bool { return v.JujuLeader && v.servedClaim() != "" },
		step: (*view).publishFound,
	},
	{
		name: "another claim is served", ends: working, when: func(v *view) bool { return v.servedClaim() != "" },
		find: (*view).findServedClaim,
	},
	{
		name: "claims are unread", in: working | leaving, ends: working,
		when: func(v *view) bool { return v.hasClaimed() && v.ClaimsUnread }, find: (*view).findNoRelation,
	},
	{
		name: "another unit has claimed, too", in: working | leaving, ends: working,
		when: func(v *view) bool { return v.hasClaimed() && !v.ClaimsUnread && v.otherClaim() != "" },
		find: func(v *view) finding.Finding {
			return v.find(finding.ClaimContested,
				finding.Args{Unit: v.otherClaim(), Reasons: finding.Because(finding.ServesOrDiscards)})
		},
	},
	{name: "two clusters have servers", each: true, when: (*view).hasTwoClusters, find: (*view).findTwoClusters},
}, given("", func(v *view) bool { return !v.known() }, []rule{
	{
		name: "no relation to the other units", ends: working, when: func(v *view) bool { return v.Unrelated },
		find: (*view).findNoRelation,
	},
	{name: "old database is standalone", of: old, when: in(ovndb.Standalone), find: (*view).findStandalone},
	{name: "old server may vote", of: old, outranks: true, when: (*view).mayVote, find: (*view).findUnserved},
	{name: "old database is made elsewhere", of: old, when: (*view).isMadeElsewhere, find: (*view).findMadeElsewhere},
	{name: "nothing is created beside an error", ends: working, when: (*view).failed},
	{
		name: "another unit leads", each: true,
		when: func(v *view) bool { return v.x.Staged != "" && (!v.JujuLeader || v.clustersFound() == 2) },
		step: because(DiscardCluster),
	},
	{
		name: "leader has not created the clusters", ends: working,
		when: func(v *view) bool { return !v.JujuLeader && v.clustersFound() == 0 },
		find: awaits(finding.ClustersUncreated),
	},
	{
		name: "leader has not published the clusters", ends: working, when: func(v *view) bool { return !v.JujuLeader },
		find: awaits(finding.ClustersUnpublished),
	},
	{
		name: "the clusters exist already", ends: working, when: func(v *view) bool { return v.clustersFound() == 2 },
		step: (*view).publishFound,
	},
	{
		name: "only one cluster exists", ends: working, when: func(v *view) bool { return v.clustersFound() == 1 },
		find: awaits(finding.OneClusterOnly),
	},
	{
		name: "an unread unit may have the clusters", ends: working, when: func(v *view) bool { return v.unread() != "" },
		find: func(v *view) finding.Finding { return v.findAwaitedFrom(finding.UnitUnread, v.unread()) },
	},
	{
		name: "its server has left another unit's cluster", each: true, when: in(ovndb.Left), step: because(ArchiveFile),
	},
	{
		name: "cluster is not staged", each: true, when: func(v *view) bool { return v.x.Staged == "" },
		step: func(v *view) Step { return Step{Kind: StageCluster, Database: v.db, Timer: v.Settings.ElectionTimer} },
	},
	{name: "the application has no clusters yet", ends: working, step: (*view).publishStaged},
}))
