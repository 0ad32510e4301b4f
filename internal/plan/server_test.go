package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// only makes a state in which nb has another condition, and sb is healthy.
func only(x plan.Database, more ...func(*plan.State)) func(*plan.State) {
	return func(s *plan.State) {
		set(s, x, ovndb.NB)
		for _, change := range more {
			change(s)
		}
	}
}

func tooNew() plan.Database {
	x := down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"})
	x.TooNew = true
	return x
}

func down(cluster raft.ID, f plan.File) plan.Database {
	f.Path = "/var/lib/ovn/ovnnb_db.db"
	return plan.Database{Condition: ovndb.Down, Cluster: cluster, Text: "the server is not running", File: f}
}

func TestEveryStateOfAServer(t *testing.T) {
	t.Parallel()
	status := func(change func(*plan.Database)) func(*plan.State) {
		return func(s *plan.State) { edit(s, ovndb.SB, change) }
	}
	joining := func(remotes ...string) func(*plan.Database) {
		return func(x *plan.Database) {
			x.Status.State, x.Status.Leader, x.Status.Remotes = raft.JoiningCluster, raft.UnknownRef, remotes
		}
	}
	check(t, map[string]situation{
		"joining": {status(joining("ssl:10.0.0.1:6644")), finds("waiting SERVER_JOINING sb Count=2 Total=3")},
		"joining_through_dying_peer": {func(s *plan.State) {
			edit(s, ovndb.SB, joining("ssl:10.0.0.1:6644"))
			s.Peers[0].Dying = true
		}, finds("waiting SERVER_JOINING sb Count=2 Total=3")},
		"joining_through_gone_peer": {
			status(joining("ssl:10.0.0.8:6644")),
			does("rename the file of sb (the server tries to join through units that are gone)",
				"waiting SERVER_JOINING sb Count=2 Total=3"),
		},
		"joining_through_joining_peer": {func(s *plan.State) {
			edit(s, ovndb.SB, joining("ssl:10.0.0.1:6644"))
			s.Peers[0].Clusters = map[ovndb.Database]raft.ID{ovndb.NB: nbCluster}
		}, does("rename the file of sb (the server tries to join through units that are gone)",
			"waiting SERVER_JOINING sb Count=1 Total=3")},
		"joining_through_gone_peer_while_added": {func(s *plan.State) {
			edit(s, ovndb.SB, joining("ssl:10.0.0.8:6644"))
			edit(s, ovndb.SB, func(x *plan.Database) { x.Status.Leader = "b001" })
		}, finds("waiting SERVER_JOINING sb Count=2 Total=3")},
		"joining through a leader that has stopped adding it": {func(s *plan.State) {
			edit(s, ovndb.SB, joining("ssl:10.0.0.1:6644"))
			edit(s, ovndb.SB, func(x *plan.Database) { x.Status.Leader, x.JoinLost = "b001", true })
		}, does("rename the file of sb (the leader has stopped adding this server)",
			"waiting SERVER_JOINING sb Count=2 Total=3")},
		"joining_lost_and_no_other_peer": {func(s *plan.State) {
			edit(s, ovndb.SB, joining("ssl:10.0.0.1:6644"))
			edit(s, ovndb.SB, func(x *plan.Database) { x.Status.Leader, x.JoinLost = "b001", true })
			s.Peers, s.Units = nil, 1
		}, finds("waiting SERVER_JOINING sb Total=1")},
		"joining_through_gone_peer_and_no_other": {func(s *plan.State) {
			edit(s, ovndb.SB, joining("ssl:10.0.0.8:6644"))
			s.Peers, s.Units = nil, 1
		}, finds("waiting SERVER_JOINING sb Total=1")},
		"leaving": {
			status(func(x *plan.Database) { x.Status.State, x.Status.Leader = raft.LeavingCluster, raft.UnknownRef }),
			finds("waiting SERVER_LEAVING sb"),
		},
		"removed while it was down": {
			status(func(x *plan.Database) {
				x.Status.State, x.Status.Role, x.Status.Leader, x.Removed = raft.Disconnected, raft.Candidate, raft.UnknownRef, true
			}),
			does("leave the cluster of sb (the other members have removed this server)", "waiting SERVER_REMOVED sb"),
		},
		"no_leader": {
			status(func(x *plan.Database) {
				x.Status.State, x.Status.Role, x.Status.Leader = raft.Disconnected, raft.Candidate, raft.UnknownRef
			}),
			decided{},
		},
		"removal_record_ignored_with_leader": {status(func(x *plan.Database) { x.Removed = true }), ready("")},
		"of another cluster": {
			status(func(x *plan.Database) { x.Cluster = otherCluster }),
			finds(
				"error TWO_CLUSTERS sb Detail=cccc0002 on ovn-central/1 and ovn-central/2, dddd0009 on ovn-central/0 -> remove the units of the wrong cluster",
				"error SERVER_OF_OTHER_CLUSTER sb Cluster=dddd0009 Other=cccc0002"),
		},
		"Juju offers another address": {
			func(s *plan.State) { s.Better = "10.0.0.7" },
			ready("",
				"warning ADDRESS_CHANGED nb Other=ssl:10.0.0.7:6643 Address=ssl:10.0.0.0:6643 -> add-unit ovn-central remove-unit ovn-central/0",
				"warning ADDRESS_CHANGED sb Other=ssl:10.0.0.7:6644 Address=ssl:10.0.0.0:6644 -> add-unit ovn-central remove-unit ovn-central/0"),
		},
		"the machine has another address": {
			func(s *plan.State) { s.Address = "10.0.0.7" },
			ready("",
				"warning ADDRESS_CHANGED nb Other=ssl:10.0.0.7:6643 Address=ssl:10.0.0.0:6643 -> add-unit ovn-central remove-unit ovn-central/0",
				"warning ADDRESS_CHANGED sb Other=ssl:10.0.0.7:6644 Address=ssl:10.0.0.0:6644 -> add-unit ovn-central remove-unit ovn-central/0"),
		},
	})
}

func TestRemotes_every_member_only(t *testing.T) {
	t.Parallel()
	s := well()
	set(&s, plan.Database{Condition: ovndb.Absent}, ovndb.NB)
	silent, dying, stranger, joining := peer(3), peer(4), peer(5), peer(6)
	silent.Address, dying.Dying = "", true
	stranger.Clusters = map[ovndb.Database]raft.ID{ovndb.NB: otherCluster}
	joining.Clusters = nil
	six := peer(7)
	six.Address = "fd99::7"
	s.Peers = append(s.Peers, silent, dying, stranger, joining, six)
	d := plan.Decide(s)
	require.NotNil(t, d.Step)
	assert.Equal(t, plan.Step{
		Kind: plan.JoinCluster, Database: ovndb.NB, Cluster: nbCluster,
		Remotes: []string{"ssl:10.0.0.2:6643", "ssl:10.0.0.1:6643", "ssl:[fd99::7]:6643", "ssl:10.0.0.4:6643"}, // first the one that created it, last the one that is going
	}, *d.Step)
}

func TestNobodyToJoinThrough(t *testing.T) {
	t.Parallel()
	const (
		awaited = "waiting CLUSTER_AWAITED nb Unit=ovn-central/2 Cluster=cccc"
		lost    = "error CLUSTER_LOST nb Cluster=cccc0001"
		again   = " -> deploy the application again"
		none    = lost + " Detail=none says that it has it: see cluster-status on each; ovn-central/9, which created it, is gone -> IF_GONE: deploy the application again"
	)
	members := func(units ...int) func(*plan.State) {
		return func(s *plan.State) {
			s.Members = map[ovndb.Database][]string{}
			for _, n := range units {
				s.Members[ovndb.NB] = append(s.Members[ovndb.NB], ovndb.RaftAddress(ovndb.NB, addressOf(n)))
			}
		}
	}
	last := func(p plan.Peer) func(*plan.State) {
		return func(s *plan.State) { s.Peers[1] = p }
	}
	going := func(data plan.Reading) plan.Peer { return plan.Peer{Unit: "ovn-central/2", Dying: true, Data: data} }
	read := plan.Peer{Unit: "ovn-central/2", Address: addressOf(2)}
	nothing, unread, joining := read, read, read
	nothing.Data, unread.Data, joining.Servers = plan.NothingPublished, plan.Unread, peer(2).Servers
	situations := map[string]situation{}
	for name, tt := range map[string]struct {
		creator string
		change  func(*plan.State)
		want    decided
	}{
		"its creator is not there yet":    {"ovn-central/2", last(read), finds(awaited)},
		"unknown_creator":                 {"", last(read), finds("waiting CLUSTER_AWAITED nb Unit=a unit Cluster=cccc")},
		"this unit has created it":        {"ovn-central/0", last(read), finds(lost + " Detail=it was created here, and its file is gone" + again)},
		"its creator is gone":             {"ovn-central/9", last(read), finds(none)},
		"nothing is known of another":     {"ovn-central/9", last(nothing), finds(awaited + " Detail=it has published nothing")},
		"another can't be read":           {"ovn-central/9", last(unread), finds(awaited + " Detail=what it publishes can't be read")},
		"another joins it":                {"ovn-central/9", last(joining), finds(awaited + " Detail=it is joining")},
		"it is going, and can't be read":  {"ovn-central/2", last(going(plan.Unread)), finds(awaited + " Detail=it is being removed, and what it publishes can't be read")},
		"it is going, and publishes none": {"ovn-central/2", last(going(plan.NothingPublished)), finds(awaited + " Detail=it is being removed, and publishes nothing")},
		"it is going, and has not joined": {"ovn-central/2", last(going(plan.Published)), finds(awaited + " Detail=it is being removed, and may have joined")},
		"the leader has seen a member":    {"ovn-central/9", members(2), finds(awaited + " Detail=it is known as a member")},
		"it is going, and known as a member": {
			"ovn-central/2", func(s *plan.State) { last(going(plan.Unread))(s); members(0, 2)(s) },
			does("join the cluster of nb", "waiting SERVER_JOINING nb Total=3"),
		},
		"all units have spoken":  {"ovn-central/9", members(9), finds(none)},
		"there is no other unit": {"", func(s *plan.State) { s.Peers = nil }, finds(lost + again)},
	} {
		situations[name] = situation{func(s *plan.State) {
			set(s, plan.Database{Condition: ovndb.Absent}, ovndb.NB)
			for i := range s.Peers {
				s.Peers[i].Servers, s.Peers[i].Clusters = nil, nil
			}
			s.Clusters.CreatedBy = tt.creator
			tt.change(s)
		}, tt.want}
	}
	check(t, situations)
}
