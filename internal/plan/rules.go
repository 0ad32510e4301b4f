package plan

import (
	"cmp"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// rules lists every reason to do or to report something, by priority: the first one that has a step decides.
var rules = slices.Concat(
	dataRules, recoveryRules, packageRules, fileRules, certificateRules, machineRules,
	clusterRules, serverRules,
	startRules, leaderRules, northdRules, upgradeRules, otherRules,
)

// dataRules protect data and come first: they need no packages, address or certificate, and apply even during a
// pause. Only the running server has the entries that its file lacks, and it may be killed at any time. The remaining
// space of a full disk may suffice.
var dataRules = []rule{
	{name: "disk is full", in: every, when: func(v *view) bool { return v.Disk != "" }, find: (*view).findFullDisk},
	{
		name: "running server's file lacks entries", in: every, each: true,
		when: func(v *view) bool { return v.runsDamaged() && v.x.RewriteFailure == "" }, step: (*view).rewrite,
		find: (*view).findDamaged,
	},
	{
		name: "file that lacks entries can't be rewritten", in: every, each: true,
		when: func(v *view) bool { return v.runsDamaged() && v.x.RewriteFailure != "" }, find: (*view).findDamaged,
	},
	{
		name: "published data is malformed", in: every, ends: every, when: func(v *view) bool { return !v.Problem.IsZero() },
		find: func(v *view) finding.Finding {
			return v.find(finding.PublishedDataInvalid, v.Problem.Args())
		},
	},
}

// recoveryRules also apply to a unit that is being removed, for steps that no other unit can make.
var recoveryRules = slices.Concat([]rule{
	{
		name: "unit to be removed is paused", in: leaving, when: func(v *view) bool { return v.Paused },
		find: (*view).findPaused,
	},
}, given("", (*view).deployed, []rule{
	{
		name: "recovery was withdrawn", in: working | leaving, each: true,
		when: func(v *view) bool { return v.Refused[v.db].Code != "" },
		find: func(v *view) finding.Finding { return Withdrawn(v.db, v.Refused[v.db]) },
	},
	{
		name: "recovery has a step", in: working | leaving, each: true,
		when: func(v *view) bool { return v.recoveryStep().Kind != "" }, step: (*view).recoveryStep,
	},
	{
		name: "recovery waits", in: working | leaving, each: true, when: (*view).awaitsRecovery,
		find: (*view).findAwaitedRecovery,
	},
	{name: "recovery holds the server", of: server, outranks: true, when: (*view).held},
}))

// packageRules are about the packages and the address.
var packageRules = []rule{
	{
		name: "nothing else is done on a full disk", in: staying, when: func(v *view) bool { return v.Disk != "" },
		ends: staying,
	},
	{
		name: "source of the packages is invalid", ends: working, when: func(v *view) bool {
			return !v.Packages.Installed && !v.Packages.Interrupted() && !v.Usable(OptionSource, OptionOverlay)
		},
		find: says(finding.PackagesAwaited),
	},
	// dpkg needs no source to finish an interrupted upgrade
	{
		name: "packages are missing", ends: working, when: func(v *view) bool { return !v.Packages.Installed },
		step: do(Install),
	},
	{
		name: "address is unknown", in: staying, ends: staying, when: func(v *view) bool { return v.Address == "" },
		find: func(v *view) finding.Finding {
			return v.find(finding.AddressUnknown, finding.Args{},
				finding.Do(command.Client("exec", "--unit", v.Unit, "network-get ovsdb-peer")))
		},
	},
}

// fileRules are about files that must not or can't be served: R10, and servers that count as down for all units.
var fileRules = slices.Concat(given(server, (*view).isOfReplaced, []rule{
	{name: "this unit's copy was given up", more: true, find: says(finding.CopyGivenUp)},
	{
		name: "it is of a cluster that was given up in a recovery", in: working | leaving, step: because(ArchiveFile),
	},
}), given(server, (*view).isUnusable, []rule{
	{
		name: "file is unreadable", in: every, outranks: true,
		when: func(v *view) bool { return v.x.Condition == ovndb.Down && v.x.FileUnknown },
		find: func(v *view) finding.Finding { return v.findFile(finding.FileUnreadable, v.x.Why.Args()) },
	},
	{
		name: "file's server was cut off", in: every, outranks: true, // its removal may have been undone
		when: func(v *view) bool { return v.x.Condition == ovndb.Down && v.x.File.Outside },
		find: func(v *view) finding.Finding { return v.findFile(finding.FileCutOff, finding.Args{}) },
	},
	{name: "stopped server's file lacks entries", in: every, find: (*view).findUnusable},
}))

// machineRules are about the configuration of the machine.
var machineRules = []rule{
	{
		name: "options of the services differ",
		when: func(v *view) bool { return v.Defaults == Drifted || v.Defaults == NeedsRestart }, step: do(WriteDefaults),
	},
	{name: "firewall differs", when: func(v *view) bool { return v.Firewall == Drifted }, step: do(ConfigureFirewall)},
	{
		name: "unit is paused", in: staying, ends: staying, when: func(v *view) bool { return v.Paused },
		find: (*view).findPaused,
	},
}

// startRules start servers together, and before anything that waits for another unit's turn.
var startRules = []rule{
	{
		name: "packages are outdated and a server is down",
		when: func(v *view) bool { return !v.contested && v.outdated() && v.canStart() },
		step: func(*view) Step { return Step{Kind: Upgrade, Reason: "the source has changed, and a server is down"} },
	},
	{name: "servers are down", in: every, when: (*view).canStart, step: (*view).start},
	{
		name: "recovery is over", in: leaving, each: true, when: func(v *view) bool { return v.isOver(v.db) },
		step: func(v *view) Step { return Step{Kind: ReleaseServer, Database: v.db, Unit: v.Recovery[v.db].HeldFor} },
	},
	{name: "server has failed", of: server, when: in(ovndb.Failed), step: (*view).restartFailed, find: (*view).findFailed},
	{
		name: "the other members have removed this server", of: server,
		when: func(v *view) bool { return v.serves() && v.x.Damage.IsZero() && !v.x.Status.HasLeader() && v.x.Removed },
		step: because(Leave), find: says(finding.ServerRemoved),
	},
	{
		name: "own claim is contested", ends: working, when: func(v *view) bool { return v.contested },
		find: (*view).findContested,
	},
	{name: "servers are not members", ends: working, when: func(v *view) bool { return !v.members() }},
}

// leaderRules are the tasks of a Raft leader for all members.
var leaderRules = slices.Concat([]rule{
	{
		name: "roles are not enforced", each: true, when: func(v *view) bool { return v.x.Unrestricted },
		find: func(v *view) finding.Finding {
			return v.find(finding.RolesNotEnforced, finding.Args{}, finding.Do(RestartOn(v.Unit, ovndb.ServiceOf(v.db))))
		},
	},
	{
		name: "listeners differ", each: true,
		when: func(v *view) bool { return v.x.IsRaftLeader() && v.x.Listeners == Drifted }, step: do(ConfigureListeners),
	},
	{
		name: "replaced clusters are not noted", each: true,
		when: func(v *view) bool { return v.x.IsRaftLeader() && v.x.Superseded == Drifted }, step: do(NoteSuperseded),
	},
	{
		name: "a unit asks to join again", each: true,
		when: func(v *view) bool { return v.removesForOthers(v.db, v.x) && v.toRemove() != nil },
		step: (*view).removeDamaged,
	},
}, given(schema, (*view).hasOldSchema, []rule{
	{
		name: "restarts precede the conversion", outranks: true, when: func(v *view) bool { return len(v.Pending) > 0 },
		find: waits(finding.Reason{Code: finding.AfterRestarts}),
	},
	{
		name: "a unit runs other packages", outranks: true, when: func(v *view) bool { return !v.runsAnother().IsZero() },
		find: func(v *view) finding.Finding { return waits(v.runsAnother())(v) },
	},
	{
		name: "conversion lacks room", outranks: true, // each member converts its own copy
		when: func(v *view) bool { return len(v.x.ConversionLacks()) > 0 }, find: (*view).findNoRoom,
	},
	{
		name: "leader converts the schema", outranks: true, when: func(v *view) bool { return !v.x.IsRaftLeader() },
		find: waits(finding.Reason{Code: finding.LeaderConverts}),
	},
	{
		name: "conversion lacks room on a unit", outranks: true,
		when: func(v *view) bool { return v.withoutRoom(v.db) != "" },
		find: func(v *view) finding.Finding {
			return waits(finding.Reason{Code: finding.OnceRoom, Name: v.withoutRoom(v.db)})(v)
		},
	},
	{
		name: "conversion has failed", outranks: true,
		when: func(v *view) bool { return v.x.TriedTimer >= longestConversionTimer }, find: (*view).findNotConverted,
	},
	{
		name: "conversion needs the election timer's option", outranks: true,
		when: func(v *view) bool { return v.timerIsTooShort() && !v.Usable(OptionElectionTimer) },
		find: waits(finding.Reason{Code: finding.TimerInvalid, Name: OptionElectionTimer}),
	},
	{
		name: "election timer rises for the conversion", more: true,
		when: func(v *view) bool { return v.timerIsTooShort() && v.x.Status.ChangingTo == 0 },
		step: func(v *view) Step { return v.setTimer(v.neededTimer()) },
	},
	{
		name: "conversion needs a longer election timer", outranks: true, when: (*view).timerIsTooShort,
		find: func(v *view) finding.Finding {
			return waits(finding.Reason{Code: finding.TimerRises, Limit: v.neededTimer()})(v)
		},
	},
	{name: "schema is old", step: (*view).convert},
}), given("", (*view).timerDiffers, []rule{
	{
		name: "election timer is set", each: true,
		when: func(v *view) bool { return v.x.IsRaftLeader() && v.x.Status.ChangingTo == 0 },
		step: func(v *view) Step { return v.setTimer(v.Settings.ElectionTimer) },
	},
	{name: "election timer differs", each: true, find: (*view).findTimer},
}))

// upgradeRules make upgrades and restarts: one unit at a time, followers before leaders. The lock of a restart, not
// this order, guarantees that only one unit at a time is down.
var upgradeRules = slices.Concat(given("", func(v *view) bool { return v.outdated() }, []rule{
	{
		name: "packages are outdated", when: func(v *view) bool { return v.upgradesFirst() == "" },
		step: func(*view) Step { return Step{Kind: Upgrade, Reason: "the source has changed"} },
	},
	{
		name: "another unit upgrades first", when: func(v *view) bool { return v.upgradesFirst() != "" },
		find: func(v *view) finding.Finding {
			return v.find(finding.UpgradeWaits, finding.Args{Unit: v.upgradesFirst()})
		},
	},
}), []rule{
	{
		name: "restarts are deferred", when: func(v *view) bool { return len(v.Pending) > 0 && !v.Settings.AutoRestarts },
		find: func(v *view) finding.Finding {
			return v.find(finding.RestartsHeld, finding.Args{
				Reasons: []finding.Reason{{Code: finding.RestartsQueued, Value: v.queued()}},
			},
				finding.Do(v.action("restart-services", command.Param{Key: "deferred-only", Value: "true"})))
		},
	},
	{
		name: "restarts are due", when: func(v *view) bool { return len(v.dueRestarts()) > 0 && v.Settings.AutoRestarts },
		step: (*view).restartNext,
		find: func(v *view) finding.Finding { return v.find(finding.RestartDue, finding.Args{Value: v.pending()}) },
	},
})

// otherRules are the remaining findings. Only steps that depend on an invalid option wait for it.
var otherRules = []rule{
	{
		name: "listener without TLS", in: every, each: true, always: true,
		when: func(v *view) bool { return len(v.x.WithoutTLS) > 0 }, list: (*view).findExposed,
	},
	{
		name: "option is invalid", in: every, always: true, when: func(v *view) bool { return len(v.Invalid) > 0 },
		list: (*view).findOptions,
	},
}

// serverRules are about this unit's part of each database. Its file is created by a join, put in place or archived
// before a server starts.
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
		find: func(v *view) finding.Finding {
			return v.find(finding.FileTooNew, finding.Args{Version: v.Packages.Version.OVS},
				finding.Do(command.OnMachine(v.Unit, "apt-cache", "policy", "openvswitch-common")))
		},
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
		find: func(v *view) finding.Finding {
			return v.find(finding.ServerDown, v.x.Cause.Args(),
				finding.If(finding.BeforeHook, command.RunHook(v.Unit)))
		},
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
		find: func(v *view) finding.Finding { return v.findLost(finding.Reason{Code: finding.FileGone}) },
	},
	{
		name: "no unit is left", outranks: true, when: func(v *view) bool { return len(v.Peers) == 0 },
		find: func(v *view) finding.Finding {
			if v.Clusters.CreatedBy == "" {
				return v.findLost()
			}
			return v.findLost(v.creatorIsGone())
		},
	},
	{
		name: "creator is gone", outranks: true,
		when: func(v *view) bool { return v.Clusters.CreatedBy != "" && !v.exists(v.Clusters.CreatedBy) },
		find: (*view).findNone,
	},
	{
		name: "creator has not started the cluster",
		find: func(v *view) finding.Finding { return v.findAwaited(cmp.Or(v.Clusters.CreatedBy, "a unit")) },
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
		find: func(v *view) finding.Finding {
			args := finding.Args{Address: v.x.Status.Address, Other: v.wantedAddress()}
			return v.find(finding.AddressChanged, args, v.replace())
		},
	},
	{
		name: "server's data differ", of: server, more: true,
		when: func(v *view) bool { return v.serves() && !v.x.Inconsistent.IsZero() },
		find: func(v *view) finding.Finding {
			return v.findFile(finding.DataDiffer, v.x.Inconsistent.Args())
		},
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
		name: "server of an earlier unit is leaving", outranks: true, // this unit's own server joins next
		when: func(v *view) bool { return v.x.Former != "" }, find: (*view).findJoining,
	},
	{name: "server is leaving", find: says(finding.ServerLeaving)},
}))
