package plan_test

import (
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// R10, and every other state of a database on a machine, after the application has its clusters.
func TestDecide_every_condition(t *testing.T) {
	t.Parallel()
	outdated := func(s *plan.State) { s.Settings.Source = "dalmatian" }
	unavailable := func(s *plan.State) { s.Packages.Unavailable = true }
	check(t, map[string]situation{
		"absent": {
			only(plan.Database{Condition: ovndb.Absent}),
			does("join the cluster of nb", "waiting SERVER_JOINING nb Count=2 Total=3"),
		},
		"absent, and its own cluster is the one": {
			only(plan.Database{Condition: ovndb.Absent, Staged: nbCluster}), does("put in place the cluster of nb"),
		},
		"absent, and another cluster is staged": {
			only(plan.Database{Condition: ovndb.Absent, Staged: otherCluster}),
			does("discard the unpublished cluster of nb (the application's cluster is another one)"),
		},
		"left": {
			only(plan.Database{Condition: ovndb.Left}),
			does("rename the file of nb (the server has left the cluster or was removed)", "waiting SERVER_REMOVED nb"),
		},
		"standalone": {only(plan.Database{Condition: ovndb.Standalone, File: plan.File{Path: "/var/lib/ovn/ovnnb_db.db"}}), finds(
			"error DATABASE_STANDALONE nb Path=/var/lib/ovn/ovnnb_db.db Service=ovn-ovsdb-server-nb -> stop {service} and move {path} away")},
		"failed": {
			only(plan.Database{Condition: ovndb.Failed, Text: "the server runs but has given up the database"}),
			does("restart ovn-ovsdb-server-nb (the server has given up the database)",
				"error SERVER_FAILED nb Path=. -> make space on the disk of {path}"),
		},
		"failed_and_file_lacks_acknowledged_entries": {
			only(plan.Database{Condition: ovndb.Failed, Text: "it has given up", Cluster: nbCluster, File: lacking, Rejoin: rejoin}),
			finds(
				"error FILE_UNUSABLE nb Service=ovn-ovsdb-server-nb Detail=record 9 has entry 8, but the one before it is 6; it has given up -> ovn-central/0 rejoin database=nb"),
		},
		"failed, with such a file, and kicked since": {
			only(plan.Database{Condition: ovndb.Failed, Cluster: nbCluster, File: lacking, Removed: true, Rejoin: rejoin}),
			does("rename the file of nb (the server was removed and can't be started on this file)",
				"waiting SERVER_REMOVED nb"),
		},
		"hung": {
			only(plan.Database{Condition: ovndb.Hung, Text: "the server hangs: no answer within 2 s"}),
			finds(
				"error SERVER_HANGS nb Detail=no answer within 2 s -> IF_THIS_LASTS: ovn-central/0 restart-services services=ovn-ovsdb-server-nb"),
		},
		"unreadable": {
			only(plan.Database{Condition: ovndb.Unreadable, Text: "cannot read the status"}),
			finds("error SERVER_UNREADABLE nb Service=ovn-ovsdb-server-nb Detail=cannot read the status"),
		},
		"starting": {
			only(plan.Database{Condition: ovndb.Unreadable, Text: "cannot ask the server", Starting: true}),
			finds(
				"waiting SERVER_STARTING nb -> IF_THIS_LASTS: ssh ovn-central/0 systemctl status ovn-ovsdb-server-nb"),
		},
		"down": {
			only(down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"})),
			does("start ovn-ovsdb-server-nb", "waiting SERVER_DOWN nb"),
		},
		"down_while_joining_unknown_cluster": {
			only(down("", plan.File{Address: "ssl:10.0.0.0:6643"})),
			does("start ovn-ovsdb-server-nb", "waiting SERVER_DOWN nb"),
		},
		"down, and the source has changed": {
			only(down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"}), outdated),
			does("upgrade (the source has changed, and a server is down)", "waiting SERVER_DOWN nb"),
		},
		"down_and_source_unavailable": {
			only(down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"}), outdated, unavailable),
			does("start ovn-ovsdb-server-nb", "waiting SERVER_DOWN nb"),
		},
		"down, since its file is of a newer release": {
			only(tooNew()), does("upgrade (nb: its file is of a newer Open vSwitch)",
				"error FILE_TOO_NEW nb Version=3.3 -> ssh ovn-central/0 apt-cache policy openvswitch-common"),
		},
		"down, since its file is of a newer release, and the source has changed": {
			only(tooNew(), outdated), does("upgrade (nb: its file is of a newer Open vSwitch)",
				"error FILE_TOO_NEW nb Version=3.3 -> ssh ovn-central/0 apt-cache policy openvswitch-common"),
		},
		"down, since its file is of a newer release that can't be had": {
			only(tooNew(), unavailable), finds(
				"error FILE_TOO_NEW nb Version=3.3 -> ssh ovn-central/0 apt-cache policy openvswitch-common"),
		},
		"down, of another cluster": {
			only(down(otherCluster, plan.File{Address: "ssl:10.0.0.0:6643"})),
			finds(
				"error FILE_OF_OTHER_CLUSTER nb Cluster=dddd0009 Other=cccc0001 Path=/var/lib/ovn/ovnnb_db.db Service=ovn-ovsdb-server-nb -> stop {service} and move {path} away"),
		},
		"down, of another cluster, and outside of it": {
			only(down(otherCluster, plan.File{Outside: true})),
			finds(
				"error FILE_OF_OTHER_CLUSTER nb Cluster=dddd0009 Other=cccc0001 Path=/var/lib/ovn/ovnnb_db.db Service=ovn-ovsdb-server-nb -> stop {service} and move {path} away"),
		},
		"down, killed while it joined": {
			only(down(nbCluster, plan.File{Outside: true})),
			does("rename the file of nb (the server was killed while it joined, and is not a member)",
				"waiting SERVER_JOINING nb Count=2 Total=3"),
		},
		"down, killed while it was removed, as far as is known": {
			only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster, File: plan.File{Outside: true, WasMember: true}, Rejoin: rejoin}),
			finds("error FILE_CUT_OFF nb Service=ovn-ovsdb-server-nb -> ovn-central/0 rejoin database=nb"),
		},
		"down, killed while it was removed": {
			only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster, File: plan.File{Outside: true, WasMember: true}, Removed: true}),
			does("rename the file of nb (the server was removed and can't be started on this file)",
				"waiting SERVER_REMOVED nb"),
		},
		"down, at another address": {
			only(down(nbCluster, plan.File{Address: "ssl:10.0.0.9:6643"})),
			finds(
				"error ADDRESS_CHANGED nb Other=ssl:10.0.0.0:6643 Address=ssl:10.0.0.9:6643 -> add-unit ovn-central remove-unit ovn-central/0"),
		},
		"down, and the file can't be read": {
			only(plan.Database{Condition: ovndb.Down, FileUnknown: true, Text: "its file can't be used: EOF; the server is not running", Rejoin: rejoin}),
			finds(
				"error FILE_UNREADABLE nb Service=ovn-ovsdb-server-nb Detail=its file can't be used: EOF; the server is not running -> ovn-central/0 rejoin database=nb"),
		},
		"down, and the file can't be read, and no other unit has another": {
			only(plan.Database{Condition: ovndb.Down, FileUnknown: true, Text: "its file can't be used: EOF; the server is not running", File: plan.File{Path: "/nb"}}),
			finds(
				"error FILE_UNREADABLE nb Path=/nb Service=ovn-ovsdb-server-nb Detail=its file can't be used: EOF; the server is not running -> bring {path} back from a backup"),
		},
		"down, and the file lacks entries": {
			only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster, File: lacking, Rejoin: rejoin}),
			finds(
				"error FILE_UNUSABLE nb Service=ovn-ovsdb-server-nb Detail=record 9 has entry 8, but the one before it is 6 -> ovn-central/0 rejoin database=nb"),
		},
		"down, the file lacks entries, and it was kicked": {
			only(plan.Database{Condition: ovndb.Down, Cluster: nbCluster, File: lacking, Rejoin: rejoin, Removed: true}),
			does("rename the file of nb (the server was removed and can't be started on this file)",
				"waiting SERVER_REMOVED nb"),
		},
		"down, of another cluster, and the file lacks entries": {
			only(plan.Database{Condition: ovndb.Down, Cluster: otherCluster, File: plan.File{Path: "/nb", Damage: lacking.Damage}}),
			finds(
				"error FILE_OF_OTHER_CLUSTER nb Cluster=dddd0009 Other=cccc0001 Path=/nb Service=ovn-ovsdb-server-nb -> stop {service} and move {path} away"),
		},
	})
}

// Servers start at the same time, once the files of both exist, and do not wait for what other units have to do first.
func TestDecide_servers_start_together(t *testing.T) {
	t.Parallel()
	both := func(nb plan.Database) func(*plan.State) {
		return func(s *plan.State) {
			set(s, nb, ovndb.NB)
			set(s, down(sbCluster, plan.File{Address: "ssl:10.0.0.0:6644"}), ovndb.SB)
		}
	}
	const failed = "the server runs but has given up the database"
	check(t, map[string]situation{
		"both are down": {
			both(down(nbCluster, plan.File{Address: "ssl:10.0.0.0:6643"})),
			does("start ovn-ovsdb-server-nb ovn-ovsdb-server-sb", "waiting SERVER_DOWN nb", "waiting SERVER_DOWN sb"),
		},
		"one has yet to get its file": {
			both(plan.Database{Condition: ovndb.Absent}),
			does("join the cluster of nb", "waiting SERVER_DOWN sb", "waiting SERVER_JOINING nb Count=2 Total=3"),
		},
		"one is to be restarted in its turn": {
			both(plan.Database{Condition: ovndb.Failed, Text: failed}),
			does("start ovn-ovsdb-server-sb",
				"waiting SERVER_DOWN sb",
				"error SERVER_FAILED nb Path=. -> make space on the disk of {path}"),
		},
	})
}

// rejoin is the command that replaces this unit's server.
var rejoin = command.Command{Unit: "ovn-central/0", Action: "rejoin", Params: []command.Param{{Key: "database", Value: "nb"}}}

var lacking = plan.File{
	Address: "ssl:10.0.0.0:6643",
	Damage:  "record 9 has entry 8, but the one before it is 6",
}

// A rewrite and the report of a file need neither a certificate nor a unit that is not paused. TestRules_data_come_first
// shows that for all states.
func TestDecide_damaged_file_comes_first(t *testing.T) {
	t.Parallel()
	const unusable = "error FILE_UNUSABLE nb Service=ovn-ovsdb-server-nb Detail=it lacks entry 9 -> ovn-central/0 rejoin database=nb"
	const unrelated = "error CERTIFICATES_MISSING -> integrate ovn-central:certificates vault"
	lacks := func(detail string) string {
		return "error FILE_LACKS_ENTRIES nb Path=. Detail=" + detail +
			" -> make space on the disk of {path} -> IF_NO_SPACE: add-unit ovn-central remove-unit ovn-central/0"
	}
	without := func(change func(*plan.Database)) func(*plan.State) {
		return having(nil, nil, func(s *plan.State) {
			s.Certificates.Related = false
			edit(s, ovndb.NB, change)
		})
	}
	damaged := func(x *plan.Database) { x.Damage = "it lacks entry 9" }
	stopped := func(c ovndb.Condition) func(*plan.Database) {
		return func(x *plan.Database) {
			*x = plan.Database{Condition: c, Cluster: nbCluster, Rejoin: rejoin, File: plan.File{Damage: "it lacks entry 9"}}
		}
	}
	givenUp := func(s *plan.State) {
		s.Clusters.IDs[ovndb.NB] = otherCluster
		s.Clusters.Superseded = map[ovndb.Database][]raft.ID{ovndb.NB: {nbCluster}}
	}
	const archive = "rename the file of nb (it is of a cluster that was given up in a recovery)"
	check(t, map[string]situation{
		"serving": {without(damaged), does("rewrite the file of nb (it lacks entry 9)", lacks("it lacks entry 9"), unrelated)},
		"serving, and the leader's data are malformed": {func(s *plan.State) {
			s.Problem = "no ID"
			edit(s, ovndb.NB, damaged)
		}, does("rewrite the file of nb (it lacks entry 9)", lacks("it lacks entry 9"), "error PUBLISHED_DATA_INVALID Detail=no ID")},
		"serving, and an upgrade of the packages is to be finished": {func(s *plan.State) {
			s.Packages.Installed = false
			edit(s, ovndb.NB, damaged)
		}, does("rewrite the file of nb (it lacks entry 9)", lacks("it lacks entry 9"))},
		"not if it has failed in this hook, and no restart either": {func(s *plan.State) {
			edit(s, ovndb.NB, func(x *plan.Database) { damaged(x); x.Unmended = "No space left" })
			s.Pending = map[ovndb.Service]string{ovndb.NorthboundServer: "upgrade from 1 to 2"}
		}, finds(lacks("No space left"))},
		"down":     {without(stopped(ovndb.Down)), finds(unusable, unrelated)},
		"given up": {without(stopped(ovndb.Failed)), finds(unusable, unrelated)},
		"down and paused": {func(s *plan.State) {
			edit(s, ovndb.NB, stopped(ovndb.Down))
			s.Paused = true
		}, finds(unusable, "warning PAUSED -> ovn-central/0 resume")},
		"superseded": {func(s *plan.State) { edit(s, ovndb.NB, damaged); givenUp(s) }, does(archive, "waiting COPY_GIVEN_UP nb")},
		"superseded, without a certificate": {func(s *plan.State) {
			s.Certificates = plan.Certificates{}
			givenUp(s)
		}, does(archive, "waiting COPY_GIVEN_UP nb", unrelated)},
		"removed":            {without(func(x *plan.Database) { stopped(ovndb.Down)(x); x.Removed = true }), finds(unrelated)},
		"of another cluster": {without(func(x *plan.Database) { stopped(ovndb.Down)(x); x.Cluster = sbCluster }), finds(unrelated)},
	})
}
