package plan

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// The application's clusters. Only the Juju leader creates them. It publishes their IDs, in a way that only a leader
// can, before a server can run on them: so if two units were the leader for a while, one finds the other's IDs and
// discards what it has made.
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
			return v.find(finding.ClaimContested, finding.Args{Unit: v.otherClaim(), Value: "it will serve or discard them"})
		},
	},
	{name: "two clusters have servers", each: true, when: (*view).hasTwoClusters, find: (*view).findTwoClusters},
}, given("", func(v *view) bool { return !v.Clusters.known() }, []rule{
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
		find: awaits("the leader unit has not created the clusters yet"),
	},
	{
		name: "leader has not published the clusters", ends: working, when: func(v *view) bool { return !v.JujuLeader },
		find: awaits("the leader unit has not published the clusters' IDs yet"),
	},
	{
		name: "the clusters exist already", ends: working, when: func(v *view) bool { return v.clustersFound() == 2 },
		step: (*view).publishFound,
	},
	{
		name: "only one cluster exists", ends: working, when: func(v *view) bool { return v.clustersFound() == 1 },
		find: awaits("a unit has a server of one database only; waiting for the other"),
	},
	{
		name: "an unread unit may have the clusters", ends: working, when: func(v *view) bool { return v.unread() != "" },
		find: (*view).findUnread,
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

// This unit's part of each database. It is joined, put in place or put away before a server starts.
var serverRules = slices.Concat([]rule{
	{
		name: "the server was removed and can't be started on this file", of: server, outranks: true,
		when: func(v *view) bool { return v.cannotStart() && v.x.Removed }, step: because(ArchiveFile),
		find: says(finding.ServerRemoved),
	},
}, given(server, (*view).isDown, []rule{
	{
		name: "file is too new for the packages", more: true, when: func(v *view) bool {
			return v.x.TooNew && !v.Packages.Unavailable && v.Usable(OptionSource, OptionOverlay)
		},
		step: func(v *view) Step {
			return Step{Kind: Upgrade, Reason: v.db.Short() + ": its file is of a newer Open vSwitch"}
		},
	},
	{
		name: "file is too new", in: every, outranks: true, when: func(v *view) bool { return v.x.TooNew },
		find: (*view).findTooNew,
	},
	{
		name: "file is of another cluster", in: every, outranks: true, when: func(v *view) bool { return !v.ours() },
		find: (*view).findOtherFile,
	},
	{
		name: "the server was killed while it joined, and is not a member", when: (*view).wasKilled,
		step: because(ArchiveFile), find: (*view).findJoining,
	},
	{
		name: "file has another address", in: every, outranks: true,
		when: func(v *view) bool { return v.hasMoved() && !v.x.File.Outside }, find: (*view).findMovedFile,
	},
	{
		name: "server is down",
		find: func(v *view) finding.Finding { return v.find(finding.ServerDown, finding.Args{Detail: v.x.Cause}) },
	},
}), given(server, in(ovndb.Absent), []rule{
	{
		name: "old cluster is still served", in: working | leaving, outranks: true,
		when: func(v *view) bool { return v.isMade() && v.x.Rival != "" }, find: (*view).findRival,
	},
	{
		name: "cluster is published", in: working | leaving, outranks: true, when: (*view).isMade, step: do(CommitCluster),
	},
	{
		name: "the application's cluster is another one", outranks: true,
		when: func(v *view) bool { return v.x.Staged != "" }, step: because(DiscardCluster),
	},
	{
		name: "cluster can be joined", outranks: true, when: func(v *view) bool { return len(v.remotes(v.db)) > 0 },
		step: (*view).join, find: (*view).findJoining,
	},
	{
		name: "a unit may have the cluster", outranks: true,
		when: func(v *view) bool { unit, _ := v.mayServe(v.db); return unit != "" }, find: (*view).findMayServe,
	},
	{
		name: "file of the creator is gone", outranks: true,
		when: func(v *view) bool { return v.Clusters.CreatedBy == v.Unit },
		find: func(v *view) finding.Finding { return v.findLost("it was created here, and its file is gone") },
	},
	{
		name: "no unit is left", outranks: true, when: func(v *view) bool { return len(v.Peers) == 0 },
		find: func(v *view) finding.Finding { return v.findLost(creatorIsGone(v.Clusters.CreatedBy)) },
	},
	{
		name: "creator is gone", outranks: true,
		when: func(v *view) bool { return v.Clusters.CreatedBy != "" && !v.exists(v.Clusters.CreatedBy) },
		find: (*view).findNone,
	},
	{
		name: "creator has not started the cluster",
		find: func(v *view) finding.Finding { return v.findAwaited(cmp.Or(v.Clusters.CreatedBy, "a unit"), "") },
	},
}), []rule{
	{
		name: "the server has left the cluster or was removed", of: server, when: in(ovndb.Left), step: because(ArchiveFile),
		find: says(finding.ServerRemoved),
	},
	{name: "database is standalone", of: server, when: in(ovndb.Standalone), find: (*view).findStandalone},
	{name: "server hangs", of: server, when: in(ovndb.Hung), find: (*view).findHung},
	{
		name: "server is starting", of: server, outranks: true,
		when: func(v *view) bool { return v.isUnasked() && v.x.Starting }, find: (*view).findStarting,
	},
	{name: "server can't be asked", of: server, when: (*view).isUnasked, find: (*view).findUnserved},
	{
		name: "server is of another cluster", of: server, outranks: true,
		when: func(v *view) bool { return v.x.Condition == ovndb.Serving && !v.ours() }, find: (*view).findOtherServer,
	},
	{
		name: "server has another address", of: server, more: true, when: (*view).serverHasMoved,
		find: (*view).findMovedServer,
	},
	{
		name: "server's data differ", of: server, more: true,
		when: func(v *view) bool { return v.serves() && v.x.Inconsistent != "" },
		find: func(v *view) finding.Finding { return v.findFile(finding.DataDiffer, v.x.Inconsistent) },
	},
}, given(server, is(raft.JoiningCluster), []rule{
	{
		name: "the leader has stopped adding this server", outranks: true,
		when: func(v *view) bool { return v.x.JoinLost && len(v.remotes(v.db)) > 0 }, step: because(ArchiveFile),
		find: (*view).findJoining,
	},
	{
		name: "the server tries to join through units that are gone", outranks: true,
		when: func(v *view) bool { return v.cannotJoin(v.db, v.x) }, step: because(ArchiveFile), find: (*view).findJoining,
	},
	{name: "server is joining", find: (*view).findJoining},
}), given(server, is(raft.LeavingCluster), []rule{
	{
		name: "server of an earlier unit is leaving", outranks: true, // this unit's own joins next
		when: func(v *view) bool { return v.x.Former != "" }, find: (*view).findJoining,
	},
	{name: "server is leaving", find: says(finding.ServerLeaving)},
}))
