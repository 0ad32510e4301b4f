package plan_test

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
)

// drift makes the machine's files differ from the wanted ones.
func drift(s *plan.State) {
	s.Defaults, s.Firewall, s.NorthdParams = plan.Drifted, plan.Drifted, plan.NeedsRestart
}

// Without that, two clusters may serve clients until the unit is gone.
func TestDying_archives_superseded_cluster(t *testing.T) {
	t.Parallel()
	supersede := func(s *plan.State) {
		s.Dying = true
		s.Clusters.IDs[ovndb.NB] = otherCluster
		s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}}
	}
	absent := func(id raft.ID, rival string) change {
		return all(supersede, only(plan.Database{Condition: ovndb.Absent, Staged: id, Rival: rival}))
	}
	stopped := func(cluster raft.ID, f plan.File, more ...change) change {
		return all(supersede, only(down(cluster, f), more...))
	}
	sole := plan.File{Sole: true}
	archives := does(plan.ArchiveFile, "nb")
	served := "waiting OLD_CLUSTER_SERVED nb Address=ssl:10.0.0.2:6643" + stopOldServer
	check(t, map[string]situation{
		"serving":               {supersede, archives},
		"serving, staged":       {all(supersede, nb(func(x *plan.Database) { x.Staged = otherCluster })), archives},
		"down":                  {stopped(nbCluster, plan.File{}), archives},
		"no address":            {all(supersede, func(s *plan.State) { s.Address = "" }), archives},
		"absent":                {absent("", ""), decided{}},
		"absent, staged":        {absent(otherCluster, ""), does(plan.CommitCluster, "nb")},
		"absent, old served":    {absent(otherCluster, "ssl:10.0.0.2:6643"), finds(served)},
		"absent, unpublished":   {absent(sbCluster, ""), decided{}},
		"new, sole":             {stopped(otherCluster, sole), does(plan.Start, nbServer)},
		"new, sole, paused":     {stopped(otherCluster, sole, func(s *plan.State) { s.Paused = true }), finds(paused)},
		"new, failed member":    {stopped(otherCluster, plan.File{Sole: true, WasMember: true}), decided{}},
		"new, joining":          {stopped(otherCluster, plan.File{}), decided{}},
		"other, not superseded": {all(supersede, func(s *plan.State) { s.Clusters.Superseded = nil }), decided{}},
		"claims unread": {all(supersede, only(plan.Database{
			Condition: ovndb.Down, Cluster: nbCluster, Staged: otherCluster,
		}), func(s *plan.State) { s.ClaimsUnread = true }), finds("waiting CLUSTERS_AWAITED Reasons=RELATION_AWAITED")},
		"resumed": {stopped(nbCluster, plan.File{}, func(s *plan.State) {
			s.Resumed = true
			set(s, down(sbCluster, plan.File{}), ovndb.SB)
		}), archives},
	})
}

// Members that a pause has stopped can't leave, and may hold the only copy.
func TestDying_resumed_starts_members_only(t *testing.T) {
	t.Parallel()
	resumed := func(changes ...change) change {
		return all(drift, func(s *plan.State) { s.Dying, s.Resumed = true, true }, all(changes...))
	}
	both := func(x plan.Database) change { return func(s *plan.State) { set(s, x, ovndb.NB, ovndb.SB) } }
	stopped := down("", plan.File{})
	sbStopped := func(s *plan.State) { set(s, stopped, ovndb.SB) }
	lacking := down("", plan.File{Damage: finding.Quote("a gap")})
	lacking.Rejoin = rejoin
	check(t, map[string]situation{
		"both down": {
			resumed(both(stopped), func(s *plan.State) { s.Services[ovndb.Northd] = plan.ServiceState{} }),
			does(plan.Start, nbServer+" "+sbServer+" ovn-northd"),
		},
		"one down": {resumed(sbStopped), does(plan.Start, sbServer)},
		"one down, upgrade interrupted": {
			resumed(sbStopped, func(s *plan.State) { s.Packages.Installed = false }), does(plan.Start, sbServer),
		},
		"one down, new CA": {
			resumed(sbStopped, func(s *plan.State) { s.Certificates.Issued = certificate("cert1", "B") }),
			does(plan.TrustCA, ""),
		},
		"not resumed":  {resumed(sbStopped, func(s *plan.State) { s.Resumed = false }), decided{}},
		"none down":    {resumed(), ready()},
		"absent":       {resumed(both(plan.Database{Condition: ovndb.Absent})), decided{}},
		"removed":      {resumed(both(down("", plan.File{Outside: true}))), decided{}},
		"file damaged": {resumed(only(lacking)), finds("error FILE_UNUSABLE nb" + nbFile + " Detail=a gap" + rejoinNB)},
	})
}

// The other units wait for no unit that is being removed, even if it leads the application or has created the new
// cluster.
func TestDying_recovery(t *testing.T) {
	t.Parallel()
	const peer, own = "ovn-central/1", "ovn-central/0"
	request := recovery.Request{Cluster: nbCluster, GivenUp: []string{own}}
	accepted := recovery.Acceptance{Cluster: nbCluster, Unit: peer, By: own, At: noon}
	made, answered := request, request
	made.New, answered.New, answered.Heard = otherCluster, otherCluster, accepted
	type edits = func(*plan.State, *recovery.State)
	state := func(change edits) change {
		return func(s *plan.State) {
			s.Dying = true
			edit(s, ovndb.NB, func(x *plan.Database) { x.Status.Leader = raft.UnknownRef })
			theirs := recovery.Copy{Cluster: nbCluster, Term: 2, Index: 9, Stopped: true, For: peer + " 0001-01-01T00:00:00Z"}
			r := recovery.State{
				Database: ovndb.NB, Unit: own, Dying: true, Now: noon, Cluster: nbCluster,
				Own:     &recovery.Copy{Cluster: nbCluster, Term: 2, Index: 9},
				Peers:   []recovery.Peer{{Unit: peer, Read: true, Reached: true, Copy: &theirs}},
				Members: []recovery.Member{{ID: "00aa", Unit: own, Exists: true}, {ID: "00bb", Unit: peer, Exists: true}},
			}
			change(s, &r)
			s.Recovery = map[ovndb.Database]recovery.State{ovndb.NB: r}
		}
	}
	asked := func(leader bool, by recovery.Acceptance, request recovery.Request) edits {
		return func(_ *plan.State, r *recovery.State) {
			r.JujuLeader, r.Accepted, r.Peers[0].Request = leader, by, &request
		}
	}
	held := func(unit string, changes ...edits) change {
		return state(func(s *plan.State, r *recovery.State) {
			set(s, down(nbCluster, plan.File{WasMember: true}), ovndb.NB)
			r.HeldFor, r.Own.Stopped = unit, true
			for _, change := range changes {
				change(s, r)
			}
		})
	}
	unread := func(_ *plan.State, r *recovery.State) { r.Peers[0] = recovery.Peer{Unit: peer} }
	none := recovery.Acceptance{}
	starts := does(plan.Start, nbServer)
	const isUnread = "waiting RECOVERY_UNREAD nb Unit=ovn-central/1"
	check(t, map[string]situation{
		"leader, request":               {state(asked(true, none, request)), does(plan.AcceptRecovery, "nb")},
		"leader, request, not given up": {state(asked(true, none, recovery.Request{Cluster: nbCluster})), finds()},
		"leader, made":                  {state(asked(true, accepted, answered)), does(plan.Supersede, "nb")},
		"leader, made, unanswered":      {state(asked(true, accepted, made)), finds()},
		"request accepted, not stopped": {state(asked(false, accepted, request)), finds()},
		"stopped for itself":            {held(own), starts},
		"stopped for peer":              {held(peer), starts},
		"stopped for dying peer": {held(peer, asked(false, none, request), func(_ *plan.State, r *recovery.State) {
			r.Peers[0].Dying = true
		}), starts},
		"stopped for pending request": {held(peer, asked(false, accepted, request)), finds(
			"waiting RECOVERY_HOLDS nb Unit=ovn-central/1 -> IF_LOST_AND_OFF: " +
				"ovn-central/0 recover give-up=ovn-central/1 dry-run=true {unit=ovn-central/1}",
		)},
		"stopped for unread peer": {held(peer, unread), finds(isUnread)},
		"stopped for unread peer, resumed": {
			held(peer, unread, func(s *plan.State, _ *recovery.State) { s.Resumed = true }),
			does(plan.Start, nbServer, isUnread),
		},
		"own request": {
			state(func(_ *plan.State, r *recovery.State) { r.Request = &request }),
			does(plan.WithdrawRequest, "nb RECOVERY_DYING"),
		},
		"started": {
			held(own, func(s *plan.State, _ *recovery.State) { set(s, serving(ovndb.NB, 1), ovndb.NB) }),
			works(plan.ReleaseServer, "nb"),
		},
		"stopped, paused": {
			held(own, func(s *plan.State, _ *recovery.State) { s.Paused = true }),
			does(plan.ReleaseServer, "nb", paused),
		},
	})
}
