package finding

import "time"

// What concerns recoveries and restores of a database: why one is refused or withdrawn, what it
// waits for, what came of it.
const (
	RecoveryNoCluster      Code = "RECOVERY_NO_CLUSTER"
	RecoveryNoCopy         Code = "RECOVERY_NO_COPY"
	RecoveryHasQuorum      Code = "RECOVERY_HAS_QUORUM"
	RecoveryNewerData      Code = "RECOVERY_NEWER_DATA"
	RecoveryCopyDamaged    Code = "RECOVERY_COPY_DAMAGED"
	RecoveryNotReported    Code = "RECOVERY_NOT_REPORTED"
	RecoveryMayReturn      Code = "RECOVERY_MAY_RETURN"
	RecoveryRunsElsewhere  Code = "RECOVERY_RUNS_ELSEWHERE"
	RecoveryNotAccepted    Code = "RECOVERY_NOT_ACCEPTED"
	RecoveryUnderWay       Code = "RECOVERY_UNDER_WAY"
	RecoveryDying          Code = "RECOVERY_DYING"
	RecoveryDataUnusable   Code = "RECOVERY_DATA_UNUSABLE"
	RecoveryForceUnnamed   Code = "RECOVERY_FORCE_UNNAMED"
	RecoveryNameUnknown    Code = "RECOVERY_NAME_UNKNOWN"
	Unconfirmed            Code = "UNCONFIRMED"
	RecoveryNotLed         Code = "RECOVERY_NOT_LED"
	RecoveryEnded          Code = "RECOVERY_ENDED"
	RecoveryWithdrawn      Code = "RECOVERY_WITHDRAWN"
	RecoveryNotStored      Code = "RECOVERY_NOT_STORED"
	RecoveryNotRead        Code = "RECOVERY_NOT_READ"
	RecoveryNotStopped     Code = "RECOVERY_NOT_STOPPED"
	RecoveryUnanswered     Code = "RECOVERY_UNANSWERED"
	RecoveryQuorumReturned Code = "RECOVERY_QUORUM_RETURNED"
	RecoveryNotPublished   Code = "RECOVERY_NOT_PUBLISHED"
	RecoveryUnread         Code = "RECOVERY_UNREAD"
	RecoveryHolds          Code = "RECOVERY_HOLDS"
	RecoveryUnserved       Code = "RECOVERY_UNSERVED"
	RecoveryMarkUnread     Code = "RECOVERY_MARK_UNREAD"
	RecoveryPlanned        Code = "RECOVERY_PLANNED"
	RecoveryBegun          Code = "RECOVERY_BEGUN"
	RecoveryDone           Code = "RECOVERY_DONE"
	RecoveryProved         Code = "RECOVERY_PROVED"
	RejoinNotNeeded        Code = "REJOIN_NOT_NEEDED"
	RejoinUnknown          Code = "REJOIN_UNKNOWN"
	RejoinNoCluster        Code = "REJOIN_NO_CLUSTER"
	RejoinOldMember        Code = "REJOIN_OLD_MEMBER"
)

const (
	lostForGood = "Start what can be started. If it is lost for good, power off its machine and run the printed command."
	waitsOn     = 15 * time.Minute
)

var recoveryEntries = []Entry{
	{
		Code: RecoveryNoCluster, Severity: Error, Kind: Database,
		Line:    "the application has no cluster yet",
		Meaning: "There is nothing to recover, and nothing that a backup could replace.",
		Do:      "Wait until the application has agreed on its clusters.",
	},
	{
		Code: RecoveryNoCopy, Severity: Error, Kind: Database,
		Line: "this unit has no copy of cluster {cluster}",
		Meaning: "A new cluster is made of the file of the unit that the recovery is run on. " +
			"This unit has none, or its server has not joined yet.",
		Do: "Run it on a unit that has a copy.",
	},
	{
		Code: RecoveryHasQuorum, Severity: Error, Kind: Unit,
		Line:    "the quorum is not lost: {name} knows a leader",
		Meaning: "Nothing is lost. This unit is cut off, or its server is down.",
		Do: "Don't recover. Repair the network of the units that see no leader. " +
			"If the other units were lost just now, try again in two minutes.",
	},
	{
		Code: RecoveryNewerData, Severity: Error, Kind: Unit,
		Line:    "{name} has newer data",
		Meaning: "A recovery here would lose what only that unit has.",
		Do: "Run it on that unit. If its machine is lost for good, power it off, " +
			"and read what the printed dry run says is lost. A unit that is being removed makes no new cluster: " +
			"back it up, and restore the backup here.",
	},
	{
		Code: RecoveryCopyDamaged, Severity: Error, Kind: Unit,
		Line:    "the file of {name} is damaged",
		Meaning: "No server can start on that file. What it has beyond the damage is not known.",
		Do: "If it is this unit's file, run the recovery on another unit. Otherwise the printed command " +
			"does without that copy.",
	},
	{
		Code: RecoveryNotReported, Severity: Error, Kind: Database,
		Line:    "the copy of {units} is not reported",
		Meaning: "A unit has not published how far its copy goes. The copy may be the newest.",
		Do: "Start it: the quorum may then be back. If not, its next update-status, after at most 5 " +
			"minutes, reports the copy. " + lostForGood,
	},
	{
		Code: RecoveryMayReturn, Severity: Error, Kind: Database,
		Line:    "cannot confirm that the server of {units} stays off",
		Meaning: "The unit is being removed, or is gone. If its server came back, it could vote in the old cluster.",
		Do: "Wait for a removal that makes progress. Otherwise power off its machine and run the printed command; " +
			"the removal continues after the recovery.",
	},
	{
		Code: RecoveryRunsElsewhere, Severity: Error, Kind: Database,
		Line:    "a recovery on {unit} goes first",
		Meaning: "The unit that leads the application accepts one recovery of a database at a time.",
		Do: "Wait for it, or withdraw it with the first printed command. If its unit is lost for good, " +
			"power it off and run the second.",
	},
	{
		Code: RecoveryNotAccepted, Severity: Waiting, Kind: Database, For: waitsOn,
		Line: "recovery on {unit}: Juju's leader has not accepted it yet",
		Meaning: "It does so in its next hook. If its machine is off, Juju elects another leader within two minutes. " +
			"Until then no server is stopped.",
		Do: "Nothing. If it lasts, look at the unit that leads (*).",
	},
	{
		Code: RecoveryUnderWay, Severity: Error, Kind: Database,
		Line:    "another recovery has made its new cluster here",
		Meaning: "What was typed has other data than the recovery or restore that is under way.",
		Do:      "Run the printed command until that cluster is in use. Then run yours, if you still need it.",
	},
	{
		Code: RecoveryDying, Severity: Error, Kind: Database,
		Line:    "this unit is being removed, and makes no new cluster",
		Meaning: "No other unit stops its server for a unit that is being removed.",
		Do: "Run it on a unit that stays. If this unit has newer data, back it up, " +
			"and restore the backup there with this unit in give-up.",
	},
	{
		Code: RecoveryDataUnusable, Severity: Error, Kind: Database,
		Line:    "no new cluster can be made: {value}",
		Meaning: "The data can't be read, don't fit the packages, or there is no space.",
		Do:      "Make space, or upgrade the packages, or use another unit or another backup.",
	},
	{
		Code: RecoveryForceUnnamed, Severity: Error, Kind: Database,
		Line:    "force=true needs units in give-up",
		Meaning: "The parameter gives up newer data of units that are lost. They have to be named.",
		Do:      "Name them in give-up, or leave out force.",
	},
	{
		Code: RecoveryNameUnknown, Severity: Error, Kind: Unit,
		Line:    "{name} is neither a unit nor an identity of a member",
		Meaning: "The parameter give-up has a name that neither a member has nor a unit with a copy.",
		Do:      "Correct the name, or leave it out.",
	},
	{
		Code: Unconfirmed, Severity: Error, Kind: Application,
		Line: "not confirmed with i-really-mean-it=true",
		Meaning: "What is given up, kicked, or was written since a backup was taken, can't be brought back; " +
			"gateways that move are interrupted.",
		Do: "Look at the plan with dry-run=true, then confirm.",
	},
	{
		Code: RejoinNotNeeded, Severity: Error, Kind: Database,
		Line:    "no damage of its file and no difference of its data is known",
		Meaning: "A server that runs, or can be started, is not replaced.",
		Do:      "Nothing.",
	},
	{
		Code: RejoinUnknown, Severity: Error, Kind: Database,
		Line:    "cannot tell which member this unit's server was",
		Meaning: "The unit has no record of its server's ID, so no other unit can remove it.",
		Do:      "On another unit, run cluster-status and the kick that it prints.",
	},
	{
		Code: RejoinNoCluster, Severity: Error, Kind: Database,
		Line:    "no other unit serves it with a leader",
		Meaning: "There is nothing to join.",
		Do:      "Start the other units. If they are lost for good, recover (docs/how-to/recover-quorum.md).",
	},
	{
		Code: RejoinOldMember, Severity: Error, Kind: Member,
		Line:    "the old member {name} is still in the configuration",
		Meaning: "This unit has joined as a new member, and the unit that leads the database has not removed the old one.",
		Do:      "Run the same command again. If it lasts, kick that member.",
	},
	{
		Code: RecoveryNotLed, Severity: Error, Kind: Database,
		Line: "the new cluster {cluster}, asked for at {time}, has no leader here",
		Meaning: "The same command has come about before. Its new cluster may not have elected a leader yet, " +
			"or may have lost its quorum, too.",
		Do: "Wait. If its quorum is lost for good, run the printed command.",
	},
	{
		Code: RecoveryEnded, Severity: Error, Kind: Database,
		Line:    "the restore that was asked for at {time} has ended",
		Meaning: "The same backup was restored before, and another recovery or restore went first or followed.",
		Do:      "To restore it again, and lose what was written since, run the printed command.",
	},
	{
		Code: RecoveryWithdrawn, Severity: Error, Kind: Database,
		Line: "the recovery was withdrawn",
		Meaning: "The recovery that was asked for on this unit is over, for the reason in parentheses. " +
			"Nothing was changed, and the servers run again.",
		Do: "Do what the reason asks for.",
	},
	{
		Code: RecoveryNotStored, Severity: Error, Kind: Database,
		Line:    "the new cluster has not acknowledged a write",
		Meaning: "The new cluster is in place, but has no majority that stores what is written.",
		Do:      "Repair its members' servers, then run the same command again.",
	},
	{
		Code: RecoveryNotRead, Severity: Error, Kind: Unit,
		Line:    "a write was not read back from {name}",
		Meaning: "The unit is a member of the new cluster, and its server does not serve it.",
		Do: "Repair that server, then run the same command again. If the unit is lost for good, " +
			"run the printed command.",
	},
	{
		Code: RecoveryUnanswered, Severity: Waiting, Kind: Database, For: waitsOn,
		Line: "recovery on {unit}: it has the new cluster and does not answer",
		Meaning: "The leader unit publishes a new cluster only if the unit that has it answers: " +
			"its machine now, its hooks within 10 minutes.",
		Do: lostForGood,
	},
	{
		Code: RecoveryNotStopped, Severity: Waiting, Kind: Unit, For: waitsOn,
		Line: "recovery on {unit}: {name} stops its server in its next hook",
		Meaning: "The new cluster is made once no server of the old one runs. Each unit stops its own in its next hook; " +
			"one whose file lacks entries writes it again first.",
		Do: lostForGood,
	},
	{
		Code: RecoveryQuorumReturned, Severity: Waiting, Kind: Database, For: waitsOn,
		Line: "recovery on {unit}: the cluster has a quorum again, at {address}",
		Meaning: "The new cluster is not published. That unit withdraws the recovery in its next hook, " +
			"and all servers start again.",
		Do: "Start its machine if it is off. If the unit is lost for good, remove it by force.",
	},
	{
		Code: RecoveryNotPublished, Severity: Waiting, Kind: Database, For: waitsOn,
		Line: "recovery on {unit}: the new cluster is not published yet",
		Meaning: "The unit that leads the application publishes it in its next hook. " +
			"A unit that is being removed may still lead it, and not hear of the recovery.",
		Do: "Nothing. If it lasts, run the printed command.",
	},
	{
		Code: RecoveryUnread, Severity: Waiting, Kind: Database, For: waitsOn,
		Line:    "stopped for the recovery on {unit}, whose data can't be read",
		Meaning: "Juju has not told this unit what that unit publishes. Until it does, the server stays off.",
		Do:      "Nothing. If it lasts, look at the relation ovsdb-peer.",
	},
	{
		Code: RecoveryHolds, Severity: Waiting, Kind: Database, For: waitsOn,
		Line:    "stopped for the recovery on {unit}",
		Meaning: "An operator has run a recovery or a restore on that unit. It continues in the units' next hooks.",
		Do:      "Nothing. " + lostForGood,
	},
	{
		Code: RecoveryUnserved, Severity: Waiting, Kind: Database,
		Line:    "this unit's server is not yet a member with a leader",
		Meaning: "Nothing was written to the new cluster yet, so nothing is proved.",
		Do:      "Wait until all units are active, then run recovery-status.",
	},
	{
		Code: RecoveryMarkUnread, Severity: Waiting, Kind: Database,
		Line:    "this unit's server can't say how its cluster was made",
		Meaning: "The database has a record of the recovery that made it, and could not be read.",
		Do:      "Wait until this unit is active, or run the action on another unit.",
	},
	{
		Code: RecoveryPlanned, Severity: Info, Kind: Application,
		Line:    "the plan can be carried out",
		Meaning: "The answer of a dry run. Nothing was changed.",
		Do:      "Read the plan, then run the printed command.",
	},
	{
		Code: RecoveryBegun, Severity: Info, Kind: Application,
		Line:    "the recovery has begun",
		Meaning: "It continues in the hooks of all units.",
		Do:      "Watch juju status until all units are active but those that were given up, then do what is printed.",
	},
	{
		Code: RecoveryDone, Severity: Info, Kind: Database,
		Line:    "asked for at {time} and done: the new cluster is {cluster}",
		Meaning: "The same command has come about before. Nothing was done now.",
		Do:      "Run recovery-status for the proof.",
	},
	{
		Code: RecoveryProved, Severity: Info, Kind: Application,
		Line:    "every unit that was not given up serves the new cluster",
		Meaning: "A write was acknowledged, and read back from the server of each unit.",
		Do:      "Do what is printed.",
	},
}
