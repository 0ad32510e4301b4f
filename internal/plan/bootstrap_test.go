package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// fresh makes a state of an application without clusters, in which no peer has any.
func fresh(leader bool, change func(*plan.State)) func(*plan.State) {
	return func(s *plan.State) {
		s.JujuLeader, s.Clusters = leader, plan.Clusters{}
		set(s, plan.Database{Condition: ovndb.Absent}, ovndb.NB, ovndb.SB)
		for i := range s.Peers {
			s.Peers[i].Servers, s.Peers[i].Clusters = nil, nil
		}
		change(s)
	}
}

func staged(nb, sb raft.ID) func(*plan.State) {
	return func(s *plan.State) {
		edit(s, ovndb.NB, func(x *plan.Database) { x.Staged = nb })
		edit(s, ovndb.SB, func(x *plan.Database) { x.Staged = sb })
	}
}

func TestBootstrap_only_leader_creates(t *testing.T) {
	t.Parallel()
	as := func(*plan.State) {}
	check(t, map[string]situation{
		"nothing is staged": {fresh(true, as), does("create the cluster of nb with an election timer of 4000 ms")},
		"nb is staged":      {fresh(true, staged(nbCluster, "")), does("create the cluster of sb with an election timer of 4000 ms")},
		"both are":          {fresh(true, staged(nbCluster, sbCluster)), does("publish the clusters' IDs (the application has no clusters yet)")},
		"a peer could not be read": {
			fresh(true, func(s *plan.State) { s.Peers[0].Data = plan.Unread }),
			finds("waiting CLUSTERS_AWAITED Value=cannot read what ovn-central/1 publishes; it may have the clusters"),
		},
		"a peer has published nothing": {
			fresh(true, func(s *plan.State) { s.Peers[0].Data = plan.NothingPublished }), does("create the cluster of nb with an election timer of 4000 ms"),
		},
		"there is no relation to the peers": {
			fresh(true, func(s *plan.State) { s.Unrelated = true }),
			finds("waiting CLUSTERS_AWAITED Value=waiting for Juju to set up the relation to the other units"),
		},
		"none_and_own_server_serves": {
			fresh(true, func(s *plan.State) {
				s.Unrelated = true
				s.Databases[ovndb.NB], s.Databases[ovndb.SB] = serving(ovndb.NB, 0), serving(ovndb.SB, 0)
			}),
			finds("waiting CLUSTERS_AWAITED Value=waiting for Juju to set up the relation to the other units"),
		},
		"not the leader": {fresh(false, as), finds(
			"waiting CLUSTERS_AWAITED Value=the leader unit has not created the clusters yet")},
		"no longer the leader": {
			fresh(false, staged(nbCluster, sbCluster)), does("discard the unpublished cluster of nb (another unit leads)",
				"waiting CLUSTERS_AWAITED Value=the leader unit has not created the clusters yet"),
		},
		"no longer the leader, nb is discarded": {
			fresh(false, staged("", sbCluster)), does("discard the unpublished cluster of sb (another unit leads)",
				"waiting CLUSTERS_AWAITED Value=the leader unit has not created the clusters yet"),
		},
		"not the leader, and a peer has servers": {
			fresh(false, func(s *plan.State) { s.Peers[1] = peer(2) }), finds(
				"waiting CLUSTERS_AWAITED Value=the leader unit has not published the clusters' IDs yet"),
		},
		"a peer has servers of both, as after a refresh": {
			fresh(true, func(s *plan.State) { s.Peers[1] = peer(2) }), does("publish the clusters' IDs (the clusters exist already)"),
		},
		"a peer has servers, and this unit has staged": {
			fresh(true, func(s *plan.State) {
				staged(otherCluster, otherCluster)(s)
				s.Peers[1] = peer(2)
			}),
			does("discard the unpublished cluster of nb (another unit leads)"),
		},
		"a peer has a server of one database only": {
			fresh(true, func(s *plan.State) { s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.SB: sbCluster} }),
			finds("waiting CLUSTERS_AWAITED Value=a unit has a server of one database only; waiting for the other"),
		},
		"adopted: the servers that run are the application's": {
			fresh(true, func(s *plan.State) {
				s.Packages.Adopted = true
				set(s, serving(ovndb.NB, 0), ovndb.NB)
				set(s, serving(ovndb.SB, 0), ovndb.SB)
			}),
			does("publish the clusters' IDs (the clusters exist already)"),
		},
		"a certificate that can't be used holds it back": {
			fresh(true, func(s *plan.State) {
				s.Certificates.Issued = &plan.Certificate{Problem: "certificate is malformed"}
			}),
			finds(
				"error CERTIFICATE_NEW_UNUSABLE Detail=certificate is malformed -> vault/leader reissue-certificates"),
		},
		"a file that has left is put away first": {
			fresh(true, func(s *plan.State) {
				set(s, plan.Database{Condition: ovndb.Left, Staged: nbCluster}, ovndb.NB)
				set(s, plan.Database{Condition: ovndb.Left, Staged: sbCluster}, ovndb.SB)
			}),
			does("rename the file of nb (its server has left another unit's cluster)"),
		},
	})
}

func TestClaimNamesTheClusters(t *testing.T) {
	t.Parallel()
	ids := map[ovndb.Database]raft.ID{ovndb.NB: nbCluster, ovndb.SB: sbCluster}
	for name, change := range map[string]func(*plan.State){
		"that are staged":     staged(nbCluster, sbCluster),
		"that a peer has":     func(s *plan.State) { s.Peers[1] = peer(2) },
		"that two peers have": func(s *plan.State) { s.Peers[0], s.Peers[1] = peer(1), peer(2) },
	} {
		s := well()
		fresh(true, change)(&s)
		d := plan.Decide(s)
		require.NotNil(t, d.Step, name)
		assert.Equal(t, ids, d.Step.IDs, name)
	}
}

// The election timer is the option's from the start.
func TestBootstrap_stage_has_election_timer(t *testing.T) {
	t.Parallel()
	s := well()
	fresh(true, func(s *plan.State) { s.Settings.ElectionTimer = 16 * time.Second })(&s)
	d := plan.Decide(s)
	require.NotNil(t, d.Step)
	assert.Equal(t, plan.Step{Kind: plan.StageCluster, Database: ovndb.NB, Timer: 16 * time.Second}, *d.Step)
}

// It may be of the application's own cluster, which is not known yet.
func TestBootstrap_old_database_stays_until_clusters_are_known(t *testing.T) {
	t.Parallel()
	before := plan.Database{Condition: ovndb.Down, Cluster: otherCluster}
	check(t, map[string]situation{
		"another unit leads": {fresh(false, func(s *plan.State) { set(s, before, ovndb.SB) }), finds(
			"waiting CLUSTERS_AWAITED Value=the leader unit has not created the clusters yet")},
		"a peer could not be read": {fresh(true, func(s *plan.State) {
			set(s, before, ovndb.SB)
			s.Peers[0].Data = plan.Unread
		}), finds("waiting CLUSTERS_AWAITED Value=cannot read what ovn-central/1 publishes; it may have the clusters")},
	})
}

// A possible voting member, or other data, has to be examined first.
func TestBootstrap_nothing_beside_old_database(t *testing.T) {
	t.Parallel()
	other, joining := serving(ovndb.SB, 0), serving(ovndb.SB, 0)
	other.Cluster, joining.Cluster = otherCluster, ""
	const here, byHand = " Path=/sb Service=ovn-ovsdb-server-sb", " -> stop {service} and move {path} away"
	situations := map[string]situation{}
	for want, x := range map[string]plan.Database{
		"SERVER_UNREADABLE sb" + here + " Detail=the server hangs": {Condition: ovndb.Hung, Text: "the server hangs"},
		"SERVER_UNREADABLE sb" + here + " Detail=no status":        {Condition: ovndb.Unreadable, Text: "no status"},
		"SERVER_UNREADABLE sb" + here + " Detail=given up":         {Condition: ovndb.Failed, Text: "given up"},
		"FILE_UNREADABLE sb" + here + " Detail=EOF":                {Condition: ovndb.Down, FileUnknown: true, Text: "EOF"},
		"DATABASE_STANDALONE sb" + here + byHand:                   {Condition: ovndb.Standalone},
		"FILE_MADE_ELSEWHERE sb Cluster=cccc0001" + here + byHand:  {Condition: ovndb.Down, Cluster: nbCluster},
		"FILE_MADE_ELSEWHERE sb Cluster=dddd0009" + here + byHand:  other,
		"FILE_MADE_ELSEWHERE sb Cluster=unknown" + here + byHand:   joining,
	} {
		x.File.Path = "/sb"
		situations[want] = situation{fresh(true, func(s *plan.State) { set(s, x, ovndb.SB) }), finds("error " + want)}
	}
	check(t, situations)
}

func TestBootstrap_two_clusters_are_reported(t *testing.T) {
	t.Parallel()
	two := func(s *plan.State) {
		s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: sbCluster}
		s.Peers[0].Servers, s.Peers[1] = peer(1).Servers, peer(2)
	}
	check(t, map[string]situation{
		"before any was agreed on": {fresh(true, two), finds(
			"error TWO_CLUSTERS nb Detail=cccc0001 on ovn-central/2, dddd0009 on ovn-central/1 -> remove the units of the wrong cluster")},
		"a member of the right one": {two, ready("",
			"error TWO_CLUSTERS nb Detail=cccc0001 on ovn-central/0 and ovn-central/2, dddd0009 on ovn-central/1 -> remove the units of the wrong cluster")},
		"all of them have another than was agreed on": {func(s *plan.State) {
			s.Clusters.IDs = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: sbCluster}
		}, finds(
			"error TWO_CLUSTERS nb Detail=cccc0001 on ovn-central/0 and ovn-central/1 and ovn-central/2, dddd0009 is the application's -> remove the units of the wrong cluster",
			"error SERVER_OF_OTHER_CLUSTER nb Cluster=cccc0001 Other=dddd0009")},
	})
}

// If Juju writes claims late, a unit commits its staged clusters only if no other unit has claimed, and so may serve,
// any.
func TestBootstrap_no_commit_beside_other_claim(t *testing.T) {
	t.Parallel()
	mine := func(leader bool, change func(*plan.State)) func(*plan.State) {
		return fresh(leader, func(s *plan.State) {
			staged(nbCluster, sbCluster)(s)
			s.Clusters = plan.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: nbCluster, ovndb.SB: sbCluster}, CreatedBy: "ovn-central/0"}
			s.Claim, s.Peers[0].Claim = nbCluster, otherCluster
			change(s)
		})
	}
	serves := func(s *plan.State) {
		s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: otherCluster}
	}
	check(t, map[string]situation{
		"it may serve them": {mine(true, func(*plan.State) {}), finds(
			"waiting CLAIM_CONTESTED Unit=ovn-central/1 Value=it will serve or discard them")},
		"claims could not be read": {mine(true, func(s *plan.State) { s.Blind, s.Peers[0].Claim = true, "" }), finds(
			"waiting CLUSTERS_AWAITED Value=waiting for Juju to set up the relation to the other units")},
		"it has put them away": {mine(true, func(s *plan.State) { s.Peers[0].Claim = "" }), does("put in place the cluster of nb")},
		"it is gone":           {mine(false, func(s *plan.State) { s.Peers = s.Peers[1:] }), does("put in place the cluster of nb")},
		"it serves them": {mine(true, serves), does("publish the clusters' IDs (ovn-central/1 serves them already)",
			"waiting CLUSTERS_AWAITED Value=ovn-central/1 serves other clusters; the leader unit will publish them")},
		"it serves one of them": {mine(true, func(s *plan.State) { s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster} }), finds(
			"waiting CLAIM_CONTESTED Unit=ovn-central/1 Value=it will serve or discard them")},
		"another unit leads": {mine(false, serves), finds(
			"waiting CLUSTERS_AWAITED Value=ovn-central/1 serves other clusters; the leader unit will publish them")},
		"this one is the server": {fresh(true, func(s *plan.State) {
			s.Databases[ovndb.NB], s.Databases[ovndb.SB] = serving(ovndb.NB, 0), serving(ovndb.SB, 0)
			s.Clusters.IDs = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: otherCluster}
			s.Claim = nbCluster
		}), does("publish the clusters' IDs (ovn-central/0 serves them already)",
			"waiting CLUSTERS_AWAITED Value=ovn-central/0 serves other clusters; the leader unit will publish them")},
	})
}

// This unit's claim remains, so the unit of the later claim commits nothing: a unit whose start failed or was killed
// has to continue.
func TestBootstrap_continues_with_begun_clusters(t *testing.T) {
	t.Parallel()
	mine := func(change func(*plan.State)) func(*plan.State) {
		return fresh(false, func(s *plan.State) {
			s.Clusters = plan.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: otherCluster}, CreatedBy: "ovn-central/1"}
			s.Claim, s.Peers[0].Claim = nbCluster, otherCluster
			for _, db := range ovndb.Databases() {
				set(s, plan.Database{Condition: ovndb.Down, Cluster: clusterOf(db), File: plan.File{WasMember: true}}, db)
			}
			change(s)
		})
	}
	const because = " (this unit has claimed their clusters)"
	check(t, map[string]situation{
		"neither is started": {mine(func(*plan.State) {}), does("start ovn-ovsdb-server-nb ovn-ovsdb-server-sb"+because,
			"waiting SERVER_DOWN nb",
			"waiting SERVER_DOWN sb",
			"waiting CLAIM_CONTESTED Unit=ovn-central/1 Value=it will discard its own")},
		"one is started": {mine(func(s *plan.State) { s.Databases[ovndb.SB] = serving(ovndb.SB, 0) }), does("start ovn-ovsdb-server-nb"+because,
			"waiting SERVER_DOWN nb",
			"waiting CLAIM_CONTESTED Unit=ovn-central/1 Value=it will discard its own")},
		"one is not in place yet": {mine(func(s *plan.State) {
			set(s, plan.Database{Condition: ovndb.Absent, Staged: sbCluster}, ovndb.SB)
		}), does("put in place the cluster of sb",
			"waiting SERVER_DOWN nb",
			"waiting CLAIM_CONTESTED Unit=ovn-central/1 Value=it will discard its own")},
		"its claim was given up by a recovery": {mine(func(s *plan.State) {
			s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}, ovndb.SB: {sbCluster}}
			for _, db := range ovndb.Databases() {
				set(s, plan.Database{Condition: ovndb.Absent, Staged: otherCluster}, db)
			}
		}), does("put in place the cluster of nb")},
	})
	s := well()
	mine(func(s *plan.State) {
		s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: otherCluster}
	})(&s)
	d := plan.Decide(s)
	assert.Nil(t, d.Step, "the other clusters are served: nobody may choose")
	assert.Equal(t, finding.Error, finding.Worst(d.Findings))
}
