package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// fresh returns a change to the state of an application that has no clusters; no peer has any either.
func fresh(leader bool, changes ...change) change {
	return func(s *plan.State) {
		s.JujuLeader, s.Clusters = leader, relation.Clusters{}
		set(s, plan.Database{Condition: ovndb.Absent}, ovndb.NB, ovndb.SB)
		for i := range s.Peers {
			s.Peers[i].Servers, s.Peers[i].Clusters = nil, nil
		}
		all(changes...)(s)
	}
}

func staged(nbID, sbID raft.ID) change {
	return all(nb(func(x *plan.Database) { x.Staged = nbID }), sb(func(x *plan.Database) { x.Staged = sbID }))
}

// others returns the IDs of clusters that this unit has not created.
func others() map[ovndb.Database]raft.ID {
	return map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: otherCluster}
}

func bothServe(s *plan.State) {
	s.Databases[ovndb.NB], s.Databases[ovndb.SB] = serving(ovndb.NB, 0), serving(ovndb.SB, 0)
}

func TestBootstrap_only_leader_creates(t *testing.T) {
	t.Parallel()
	const awaited = "waiting CLUSTERS_AWAITED Reasons="
	reading := func(data relation.Data) change { return func(s *plan.State) { s.Peers[0].Data = data } }
	hasServers := func(s *plan.State) { s.Peers[1] = peer(2) }
	detached := func(s *plan.State) { s.Unrelated = true }
	adopted := func(s *plan.State) { s.Packages.Adopted = true }
	check(t, map[string]situation{
		"leader":                      {fresh(true), does(plan.StageCluster, "nb 4s")},
		"leader, nb staged":           {fresh(true, staged(nbCluster, "")), does(plan.StageCluster, "sb 4s")},
		"leader, staged":              {fresh(true, staged(nbCluster, sbCluster)), does(plan.PublishClusters, "")},
		"leader, peer unread":         {fresh(true, reading(relation.Data{})), finds(awaited + "UNIT_UNREAD ovn-central/1")},
		"leader, peer empty":          {fresh(true, reading(relation.Read(nil))), does(plan.StageCluster, "nb 4s")},
		"leader, no relation":         {fresh(true, detached), finds(awaited + "RELATION_AWAITED")},
		"leader, no relation, serves": {fresh(true, detached, bothServe), finds(awaited + "RELATION_AWAITED")},
		"leader, peer has servers":    {fresh(true, hasServers), does(plan.PublishClusters, "")},
		"leader, staged, peer has": {
			fresh(true, staged(otherCluster, otherCluster), hasServers), does(plan.DiscardCluster, "nb"),
		},
		"leader, adopted": {fresh(true, adopted, bothServe), does(plan.PublishClusters, "")},
		"not leader":      {fresh(false), finds(awaited + "CLUSTERS_NOT_CREATED")},
		"not leader, staged": {
			fresh(false, staged(nbCluster, sbCluster)), does(plan.DiscardCluster, "nb", awaited+"CLUSTERS_NOT_CREATED"),
		},
		"not leader, sb staged": {fresh(false, staged("", sbCluster)), does(
			plan.DiscardCluster, "sb", awaited+"CLUSTERS_NOT_CREATED",
		)},
		"not leader, peer has servers": {fresh(false, hasServers), finds(awaited + "CLUSTERS_NOT_PUBLISHED")},
		"leader, peer has one server": {fresh(true, func(s *plan.State) {
			s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.SB: sbCluster}
		}), finds(awaited + "ONE_CLUSTER_ONLY")},
		"leader, certificate malformed": {fresh(true, func(s *plan.State) {
			s.Certificates.Issued = &plan.Certificate{Problem: finding.Quote("malformed")}
		}), finds("error CERTIFICATE_NEW_UNUSABLE Detail=malformed" + reissue)},
		"leader, has left": {fresh(true, func(s *plan.State) {
			set(s, plan.Database{Condition: ovndb.Left, Staged: nbCluster}, ovndb.NB)
			set(s, plan.Database{Condition: ovndb.Left, Staged: sbCluster}, ovndb.SB)
		}), does(plan.ArchiveFile, "nb")},
	})
}

func TestBootstrap_published_IDs(t *testing.T) {
	t.Parallel()
	ids := map[ovndb.Database]raft.ID{ovndb.NB: nbCluster, ovndb.SB: sbCluster}
	for name, change := range map[string]change{
		"staged":          staged(nbCluster, sbCluster),
		"one peer's":      func(s *plan.State) { s.Peers[1] = peer(2) },
		"two peers' same": func(s *plan.State) { s.Peers[0], s.Peers[1] = peer(1), peer(2) },
	} {
		s := well()
		fresh(true, change)(&s)
		d := plan.Decide(s)
		require.NotNil(t, d.Step, name)
		assert.Equal(t, ids, d.Step.IDs, name)
	}
}

// The old database may belong to the application's own cluster, which is not known yet. A server that may vote, or
// that has other data, must be examined first.
func TestBootstrap_old_database(t *testing.T) {
	t.Parallel()
	other, joining := serving(ovndb.SB, 0), serving(ovndb.SB, 0)
	other.Cluster, joining.Cluster = otherCluster, ""
	before := func(s *plan.State) { set(s, plan.Database{Condition: ovndb.Down, Cluster: otherCluster}, ovndb.SB) }
	unread := func(s *plan.State) { s.Peers[0].Data = relation.Data{} }
	const here = " Path=/sb Service=" + sbServer
	situations := map[string]situation{
		"not leader":  {fresh(false, before), finds("waiting CLUSTERS_AWAITED Reasons=CLUSTERS_NOT_CREATED")},
		"peer unread": {fresh(true, before, unread), finds("waiting CLUSTERS_AWAITED Reasons=UNIT_UNREAD ovn-central/1")},
	}
	for want, x := range map[string]plan.Database{
		"SERVER_UNREADABLE sb" + here + " Detail=hangs":             {Condition: ovndb.Hung, Why: finding.Quote("hangs")},
		"SERVER_UNREADABLE sb" + here + " Detail=no status":         {Condition: ovndb.Unreadable, Why: finding.Quote("no status")},
		"SERVER_UNREADABLE sb" + here + " Detail=given up":          {Condition: ovndb.Failed, Why: finding.Quote("given up")},
		"FILE_UNREADABLE sb" + here + " Detail=EOF":                 {Condition: ovndb.Down, FileUnknown: true, Why: finding.Quote("EOF")},
		"DATABASE_STANDALONE sb" + here + moveAway:                  {Condition: ovndb.Standalone},
		"FILE_MADE_ELSEWHERE sb Cluster=cccc0001" + here + moveAway: {Condition: ovndb.Down, Cluster: nbCluster},
		"FILE_MADE_ELSEWHERE sb Cluster=dddd0009" + here + moveAway: other,
		"FILE_MADE_ELSEWHERE sb Cluster=unknown" + here + moveAway:  joining,
	} {
		x.File.Path = "/sb"
		situations[want] = situation{fresh(true, func(s *plan.State) { set(s, x, ovndb.SB) }), finds("error " + want)}
	}
	check(t, situations)
}

func TestBootstrap_two_clusters(t *testing.T) {
	t.Parallel()
	two := func(s *plan.State) {
		s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: sbCluster}
		s.Peers[0].Servers, s.Peers[1] = peer(1).Servers, peer(2)
	}
	const found = "error TWO_CLUSTERS nb Reasons=CLUSTERS_SERVED (CLUSTER_ON "
	check(t, map[string]situation{
		"not published": {fresh(true, two), finds(
			found + "ovn-central/2 cccc0001; CLUSTER_ON ovn-central/1 dddd0009)" + removeUnits,
		)},
		"member": {two, ready(
			found + "ovn-central/0 and ovn-central/2 cccc0001; CLUSTER_ON ovn-central/1 dddd0009)" + removeUnits,
		)},
		"other published": {func(s *plan.State) { s.Clusters.IDs[ovndb.NB] = otherCluster }, finds(
			found+"ovn-central/0 and ovn-central/1 and ovn-central/2 cccc0001; CLUSTER_IS_OURS dddd0009)"+removeUnits,
			"error SERVER_OF_OTHER_CLUSTER nb Cluster=cccc0001 Other=dddd0009",
		)},
	})
}

// If Juju writes claims late, a unit commits its staged clusters only if no other unit has claimed clusters that it
// may already serve.
func TestBootstrap_other_claim(t *testing.T) {
	t.Parallel()
	mine := func(leader bool, changes ...change) change {
		return fresh(leader, staged(nbCluster, sbCluster), func(s *plan.State) {
			s.Clusters = well().Clusters
			s.Clusters.CreatedBy = s.Unit
			s.Claim, s.Peers[0].Claim = nbCluster, otherCluster
		}, all(changes...))
	}
	serves := func(s *plan.State) { s.Peers[0].Clusters = others() }
	const contested = "waiting CLAIM_CONTESTED Unit=ovn-central/1 Reasons=SERVES_OR_DISCARDS"
	const awaited = "waiting CLUSTERS_AWAITED Reasons="
	check(t, map[string]situation{
		"not served": {mine(true), finds(contested)},
		"unread": {
			mine(true, func(s *plan.State) { s.ClaimsUnread, s.Peers[0].Claim = true, "" }), finds(awaited + "RELATION_AWAITED"),
		},
		"withdrawn":          {mine(true, func(s *plan.State) { s.Peers[0].Claim = "" }), does(plan.CommitCluster, "nb")},
		"unit gone":          {mine(false, func(s *plan.State) { s.Peers = s.Peers[1:] }), does(plan.CommitCluster, "nb")},
		"served":             {mine(true, serves), does(plan.PublishClusters, "", awaited+"SERVES_OTHER_CLUSTERS ovn-central/1")},
		"served, not leader": {mine(false, serves), finds(awaited + "SERVES_OTHER_CLUSTERS ovn-central/1")},
		"one served": {mine(true, func(s *plan.State) {
			s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster}
		}), finds(contested)},
		"served here": {fresh(true, bothServe, func(s *plan.State) {
			s.Clusters.IDs, s.Claim = others(), nbCluster
		}), does(plan.PublishClusters, "", awaited+"SERVES_OTHER_CLUSTERS ovn-central/0")},
	})
}

// This unit's claim remains, so the unit with the later claim commits nothing: a unit whose start failed or was
// killed must continue.
func TestBootstrap_own_claim_continues(t *testing.T) {
	t.Parallel()
	mine := func(changes ...change) change {
		return fresh(false, func(s *plan.State) {
			s.Clusters = relation.Clusters{IDs: others(), CreatedBy: "ovn-central/1"}
			s.Claim, s.Peers[0].Claim = nbCluster, otherCluster
			for _, db := range ovndb.Databases() {
				set(s, plan.Database{Condition: ovndb.Down, Cluster: clusterOf(db), File: plan.File{WasMember: true}}, db)
			}
		}, all(changes...))
	}
	const nbDown = "waiting SERVER_DOWN nb" + nextHook
	const contested = "waiting CLAIM_CONTESTED Unit=ovn-central/1 Reasons=DISCARDS_OWN"
	check(t, map[string]situation{
		"both down": {mine(), does(plan.Start, nbServer+" "+sbServer, nbDown, "waiting SERVER_DOWN sb"+nextHook, contested)},
		"one down": {
			mine(func(s *plan.State) { s.Databases[ovndb.SB] = serving(ovndb.SB, 0) }),
			does(plan.Start, nbServer, nbDown, contested),
		},
		"one staged": {
			mine(func(s *plan.State) { set(s, plan.Database{Condition: ovndb.Absent, Staged: sbCluster}, ovndb.SB) }),
			does(plan.CommitCluster, "sb", nbDown, contested),
		},
		"superseded": {mine(func(s *plan.State) {
			s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}, ovndb.SB: {sbCluster}}
			set(s, plan.Database{Condition: ovndb.Absent, Staged: otherCluster}, ovndb.NB, ovndb.SB)
		}), does(plan.CommitCluster, "nb")},
	})
	s := well()
	mine(func(s *plan.State) { s.Peers[0].Clusters = others() })(&s)
	d := plan.Decide(s)
	assert.Nil(t, d.Step, "the other clusters are served: only an operator may choose")
	assert.Equal(t, finding.Error, finding.Worst(d.Findings))
}
