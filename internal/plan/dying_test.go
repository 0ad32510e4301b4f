package plan_test

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// Until it is gone a unit votes, so it follows a change of the CA; `stop` decides about everything else.
func TestDying_keeps_certificates_only(t *testing.T) {
	t.Parallel()
	check(t, map[string]situation{
		"all else differs": {
			func(s *plan.State) {
				s.Dying = true
				s.Defaults, s.Firewall, s.NorthdParams = plan.Drifted, plan.Drifted, plan.NeedsRestart
				set(s, plan.Database{Condition: ovndb.Absent}, ovndb.NB)
			},
			decided{},
		},
		"a new CA": {
			func(s *plan.State) {
				s.Dying = true
				s.Certificates.Issued = certificate("cert1", "B")
			},
			ready("trust the CA (the CA is new)"),
		},
		"paused": {
			func(s *plan.State) { s.Dying, s.Paused = true, true },
			finds("warning PAUSED -> ovn-central/0 resume"),
		},
		"never installed": {func(s *plan.State) { *s = plan.State{Dying: true} }, decided{}},
	})
}

// Otherwise two clusters may serve clients until it is gone.
func TestDying_archives_given_up_cluster(t *testing.T) {
	t.Parallel()
	const why = " (it is of a cluster that was given up in a recovery)"
	givenUp := func(change func(*plan.State)) func(*plan.State) {
		return func(s *plan.State) {
			s.Dying = true
			s.Clusters.IDs = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster, ovndb.SB: sbCluster}
			s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}}
			change(s)
		}
	}
	check(t, map[string]situation{
		"its server serves it": {givenUp(func(*plan.State) {}), does("rename the file of nb" + why)},
		"its server is down": {givenUp(func(s *plan.State) {
			set(s, down(nbCluster, plan.File{}), ovndb.NB)
		}), does("rename the file of nb" + why)},
		"no_address":         {givenUp(func(s *plan.State) { s.Address = "" }), does("rename the file of nb" + why)},
		"it has put it away": {givenUp(func(s *plan.State) { set(s, plan.Database{Condition: ovndb.Absent}, ovndb.NB) }), decided{}},
		"it has the new one's only file beside it": {givenUp(func(s *plan.State) {
			edit(s, ovndb.NB, func(x *plan.Database) { x.Staged = otherCluster })
		}), does("rename the file of nb" + why)},
		"then it puts that in place": {givenUp(func(s *plan.State) {
			set(s, plan.Database{Condition: ovndb.Absent, Staged: otherCluster}, ovndb.NB)
		}), does("put in place the cluster of nb")},
		"not while the old one is served": {givenUp(func(s *plan.State) {
			set(s, plan.Database{Condition: ovndb.Absent, Staged: otherCluster, Rival: "ssl:10.0.0.2:6643"}, ovndb.NB)
		}), finds("waiting OLD_CLUSTER_SERVED nb Address=ssl:10.0.0.2:6643 -> stop the server at {address}")},
		"nor while other claims can't be read": {givenUp(func(s *plan.State) {
			s.Blind = true
			set(s, plan.Database{Condition: ovndb.Down, Cluster: nbCluster, Staged: otherCluster}, ovndb.NB)
		}), finds("waiting CLUSTERS_AWAITED Value=waiting for Juju to set up the relation to the other units")},
		"and starts it": {givenUp(func(s *plan.State) {
			set(s, down(otherCluster, plan.File{Sole: true}), ovndb.NB)
		}), does("start ovn-ovsdb-server-nb (no other unit has the new cluster yet)")},
		"paused_is_left_alone": {givenUp(func(s *plan.State) {
			s.Paused = true
			set(s, down(otherCluster, plan.File{Sole: true}), ovndb.NB)
		}), finds("warning PAUSED -> ovn-central/0 resume")},
		"failed_member_is_left_alone": {givenUp(func(s *plan.State) {
			set(s, down(otherCluster, plan.File{Sole: true, WasMember: true}), ovndb.NB)
		}), decided{}},
		"joining_is_left_alone": {givenUp(func(s *plan.State) {
			set(s, down(otherCluster, plan.File{}), ovndb.NB)
		}), decided{}},
		"a file that it made and that was not published": {givenUp(func(s *plan.State) {
			set(s, plan.Database{Condition: ovndb.Absent, Staged: sbCluster}, ovndb.NB)
		}), decided{}},
		"it was resumed": {givenUp(func(s *plan.State) {
			s.Resumed = true
			set(s, down(nbCluster, plan.File{}), ovndb.NB)
			set(s, down(sbCluster, plan.File{}), ovndb.SB)
		}), does("rename the file of nb" + why)},
		"the cluster is another one, and was not given up": {givenUp(func(s *plan.State) {
			s.Clusters.Superseded = nil
		}), decided{}},
	})
}

// Juju keeps the IDs of an application's first clusters, and no other unit can make these.
func TestDying_serves_published_first_clusters(t *testing.T) {
	t.Parallel()
	first := func(x plan.Database) func(*plan.State) {
		return func(s *plan.State) {
			s.Dying = true
			set(s, x, ovndb.NB)
		}
	}
	check(t, map[string]situation{
		"not in place":  {first(plan.Database{Condition: ovndb.Absent, Staged: nbCluster}), does("put in place the cluster of nb")},
		"not published": {first(plan.Database{Condition: ovndb.Absent, Staged: otherCluster}), decided{}},
		"not started": {
			first(down(nbCluster, plan.File{Sole: true})), does("start ovn-ovsdb-server-nb (no other unit has the new cluster yet)"),
		},
	})
}

// Members that a pause has stopped can't leave, and may be the only copy.
func TestDying_resumed_starts_members_only(t *testing.T) {
	t.Parallel()
	paused := down("", plan.File{})
	resumed := func(change func(*plan.State)) func(*plan.State) {
		return func(s *plan.State) {
			s.Dying, s.Resumed = true, true
			s.Defaults, s.Firewall, s.NorthdParams = plan.Drifted, plan.Drifted, plan.NeedsRestart
			change(s)
		}
	}
	const why = " (the unit was resumed, and the stop hook needs its servers)"
	check(t, map[string]situation{
		"both are down": {
			resumed(func(s *plan.State) {
				s.Services[ovndb.Northd] = plan.ServiceState{}
				set(s, paused, ovndb.NB, ovndb.SB)
			}), does("start ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-northd" + why),
		},
		"one is down": {resumed(func(s *plan.State) { set(s, paused, ovndb.SB) }), does("start ovn-ovsdb-server-sb" + why)},
		"an upgrade of the packages was cut off": {resumed(func(s *plan.State) {
			s.Packages.Installed = false
			set(s, paused, ovndb.SB)
		}), does("start ovn-ovsdb-server-sb" + why)},
		"not resumed":           {resumed(func(s *plan.State) { s.Resumed = false; set(s, paused, ovndb.NB) }), decided{}},
		"none is down":          {resumed(func(*plan.State) {}), ready("")},
		"it never was a member": {resumed(func(s *plan.State) { set(s, plan.Database{Condition: ovndb.Absent}, ovndb.NB, ovndb.SB) }), decided{}},
		"it was removed while it was down": {resumed(func(s *plan.State) {
			gone := paused
			gone.File.Outside = true
			set(s, gone, ovndb.NB, ovndb.SB)
		}), decided{}},
		"its file lacks entries": {resumed(func(s *plan.State) {
			damaged := paused
			damaged.File.Damage, damaged.Rejoin = "there is a gap", rejoin
			set(s, damaged, ovndb.NB)
		}), finds(
			"error FILE_UNUSABLE nb Path=/var/lib/ovn/ovnnb_db.db Service=ovn-ovsdb-server-nb Detail=there is a gap -> ovn-central/0 rejoin database=nb")},
		"a new CA comes first": {resumed(func(s *plan.State) {
			s.Certificates.Issued = certificate("cert1", "B")
			set(s, paused, ovndb.NB)
		}), does("trust the CA (the CA is new)")},
	})
}

// The others wait for no unit that is being removed, even if it leads the application or has made the new cluster.
func TestDying_recovery_only_what_no_other_can(t *testing.T) {
	t.Parallel()
	const peer, own = "ovn-central/1", "ovn-central/0"
	request := recovery.Request{Cluster: nbCluster, GivenUp: []string{own}}
	made := request
	made.New = otherCluster
	answered := made
	accepted := recovery.Acceptance{Cluster: nbCluster, Unit: peer, By: own, At: noon}
	answered.Heard = accepted
	state := func(change func(*plan.State, *recovery.State)) func(*plan.State) {
		return func(s *plan.State) {
			s.Dying = true
			edit(s, ovndb.NB, func(x *plan.Database) { x.Status.Leader = raft.UnknownRef })
			r := recovery.State{
				Database: ovndb.NB, Unit: own, Dying: true, Now: noon, Cluster: nbCluster, Own: &recovery.Copy{Cluster: nbCluster, Term: 2, Index: 9},
				Peers:   []recovery.Peer{{Unit: peer, Read: true, Reached: true, Copy: &recovery.Copy{Cluster: nbCluster, Term: 2, Index: 9, Stopped: true, For: peer + " 0001-01-01T00:00:00Z"}}},
				Members: []recovery.Member{{ID: "00aa", Unit: own, Exists: true}, {ID: "00bb", Unit: peer, Exists: true}},
			}
			change(s, &r)
			s.Recovery = map[ovndb.Database]recovery.State{ovndb.NB: r}
		}
	}
	held := func(unit string, change func(*plan.State, *recovery.State)) func(*plan.State) {
		return state(func(s *plan.State, r *recovery.State) {
			set(s, down(nbCluster, plan.File{WasMember: true}), ovndb.NB)
			r.HeldFor, r.Own.Stopped = unit, true
			change(s, r)
		})
	}
	const over = "start ovn-ovsdb-server-nb (the recovery that it was stopped for is over)"
	check(t, map[string]situation{
		"it leads, and a peer was asked: it accepts that": {state(func(_ *plan.State, r *recovery.State) {
			r.JujuLeader, r.Peers[0].Request = true, &request
		}), does("accept the recovery of nb")},
		"unless it is not given up": {state(func(_ *plan.State, r *recovery.State) {
			r.JujuLeader, r.Peers[0].Request = true, &recovery.Request{Cluster: nbCluster}
		}), finds()},
		"then it publishes that": {state(func(_ *plan.State, r *recovery.State) {
			r.JujuLeader, r.Accepted, r.Peers[0].Request = true, accepted, &answered
		}), does("publish the new cluster of nb")},
		"not without an answer": {state(func(_ *plan.State, r *recovery.State) {
			r.JujuLeader, r.Accepted, r.Peers[0].Request = true, accepted, &made
		}), finds()},
		"it stops no server for a peer": {state(func(_ *plan.State, r *recovery.State) {
			r.Accepted, r.Peers[0].Request = accepted, &request
		}), finds()},
		"own_request_is_over":    {state(func(_ *plan.State, r *recovery.State) { r.Request = &request }), does("withdraw the recovery of nb (RECOVERY_DYING)")},
		"then its server starts": {held(own, func(*plan.State, *recovery.State) {}), does(over)},
		"stopped_for_peer":       {held(peer, func(*plan.State, *recovery.State) {}), does(over)},
		"stopped_for_dying_peer": {held(peer, func(_ *plan.State, r *recovery.State) { r.Peers[0].Dying, r.Peers[0].Request = true, &request }), does(over)},
		"record_is_dropped":      {held(own, func(s *plan.State, _ *recovery.State) { set(s, serving(ovndb.NB, 1), ovndb.NB) }), ready("let the server start again after the recovery of nb")},
		"it is paused, and stays so": {held(own, func(s *plan.State, _ *recovery.State) { s.Paused = true }), does("let the server start again after the recovery of nb",
			"warning PAUSED -> ovn-central/0 resume")},
		"not_while_peers_request_is_pending": {held(peer, func(_ *plan.State, r *recovery.State) { r.Accepted, r.Peers[0].Request = accepted, &request }), finds(
			"waiting RECOVERY_HOLDS nb Unit=ovn-central/1 -> IF_LOST_AND_OFF: ovn-central/0 recover give-up=ovn-central/1 dry-run=true {unit=ovn-central/1}")},
		"nor while that can't be read": {held(peer, func(_ *plan.State, r *recovery.State) { r.Peers[0] = recovery.Peer{Unit: peer} }), finds(
			"waiting RECOVERY_UNREAD nb Unit=ovn-central/1")},
		"unless an operator resumes the unit": {held(peer, func(s *plan.State, r *recovery.State) {
			s.Resumed, r.Peers[0] = true, recovery.Peer{Unit: peer}
		}), does("start ovn-ovsdb-server-nb (the unit was resumed, and the stop hook needs its servers)",
			"waiting RECOVERY_UNREAD nb Unit=ovn-central/1")},
	})
}
