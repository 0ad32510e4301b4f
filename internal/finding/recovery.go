package finding

import "time"

// Codes about recoveries and restores of a database.
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
	RecoveryOfGivenUp      Code = "RECOVERY_OF_GIVEN_UP"
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
	entry(RecoveryNoCluster, Error, Database, "the application has no cluster yet",
		"There is nothing to recover, and nothing that a backup could replace.",
		"Wait until the application has agreed on its clusters."),
	entry(RecoveryNoCopy, Error, Database, "this unit has no copy of cluster {cluster}",
		"A new cluster is made of the file of the unit that the recovery is run on. This unit has none, or its "+
			"server has not joined yet.", "Run it on a unit that has a copy."),
	entry(RecoveryHasQuorum, Error, Unit, "the quorum is not lost: {name} knows a leader",
		"Nothing is lost. This unit is cut off, or its server is down.",
		"Don't recover. Repair the network of the units that see no leader. If the other units were lost just now, "+
			"try again in two minutes."),
	entry(RecoveryNewerData, Error, Unit, "{name} has newer data",
		"A recovery here would lose what only that unit has.",
		"Run it on that unit. If its machine is lost for good, power it off, and read what the printed dry run says "+
			"is lost. A unit that is being removed makes no new cluster: back it up, and restore the backup here."),
	entry(RecoveryCopyDamaged, Error, Unit, "the file of {name} is damaged",
		"No server can start on that file. What it has beyond the damage is not known.",
		"If it is this unit's file, run the recovery on another unit. Otherwise the printed command does without "+
			"that copy."),
	entry(RecoveryNotReported, Error, Database, "the copy of {units} is not reported",
		"A unit has not published how far its copy goes, and its server does not answer. The copy may be the newest, and "+
			"the server could vote in the old cluster.",
		"Start it: the quorum may then be back. If not, its next update-status, after at most 5 minutes, reports the "+
			"copy. "+lostForGood),
	entry(RecoveryMayReturn, Error, Database, "cannot confirm that the server of {units} stays off",
		"The unit is being removed, or is gone. If its server came back, it could vote in the old cluster.",
		"Wait for a removal that makes progress. Otherwise power off its machine and run the printed command; the "+
			"removal continues after the recovery."),
	entry(RecoveryRunsElsewhere, Error, Database, "a recovery or restore on {unit} goes first",
		"The unit that leads the application accepts one recovery of a database at a time.",
		"Wait for it, or withdraw it with the first printed command. If its unit is lost for good, power it off and "+
			"run the second."),
	entry(RecoveryNotAccepted, Waiting, Database, "recovery or restore on {unit}: Juju's leader has not accepted it yet",
		"It does so in its next hook. If its machine is off, Juju elects another leader within two minutes. Until "+
			"then no server is stopped.", "Nothing. If it lasts, look at the unit that leads (*).").alert(waitsOn),
	entry(RecoveryUnderWay, Error, Database, "another recovery has made its new cluster here",
		"What was typed has other data than the recovery or restore that is under way.",
		"Run the printed command until that cluster is in use. Then run yours, if you still need it."),
	entry(RecoveryDying, Error, Database, "this unit is being removed, and makes no new cluster",
		"No other unit stops its server for a unit that is being removed.",
		"Run it on a unit that stays. If this unit has newer data, back it up, and restore the backup there with "+
			"this unit in give-up."),
	entry(RecoveryDataUnusable, Error, Database, "no new cluster can be made: {value}",
		"The data can't be read, don't fit the packages, or there is no space.",
		"Make space, or upgrade the packages, or use another unit or another backup."),
	entry(RecoveryForceUnnamed, Error, Database, "force=true needs units in give-up",
		"The parameter gives up newer data of units that are lost. They have to be named.",
		"Name them in give-up, or leave out force."),
	entry(RecoveryOfGivenUp, Error, Unit, "give-up names {name}, on which this runs",
		"The new cluster is made of this unit's file.", "Leave it out, or run the recovery on another unit."),
	entry(RecoveryNameUnknown, Error, Unit, "{name} is neither a unit nor an identity of a member",
		"The parameter give-up has a name that neither a member has nor a unit with a copy.",
		"Correct the name, or leave it out."),
	entry(Unconfirmed, Error, Application, "not confirmed with i-really-mean-it=true",
		"What is given up, kicked, or was written since a backup was taken, can't be brought back; gateways that "+
			"move are interrupted.", "Look at the plan with dry-run=true, then confirm."),
	entry(RejoinNotNeeded, Error, Database, "its server runs, or can be started",
		"Only a server that can't start, or whose data differ, is replaced.", ""),
	entry(RejoinUnknown, Error, Database, "cannot tell which member this unit's server was",
		"The unit has no record of its server's ID, so no other unit can remove it.",
		"On another unit, run cluster-status and the kick that it prints."),
	entry(RejoinNoCluster, Error, Database, "no other unit serves it with a leader", "There is nothing to join.",
		"Start the other units. If they are lost for good, recover (docs/how-to/recover-quorum.md)."),
	entry(RejoinOldMember, Error, Member, "the old member {name} is still in the configuration",
		"This unit has joined as a new member, and the unit that leads the database has not removed the old one.",
		"Run the same command again. If it lasts, kick that member."),
	entry(RecoveryNotLed, Error, Database, "the new cluster {cluster}, asked for at {time}, has no leader here",
		"The same command has come about before. Its new cluster may not have elected a leader yet, or may have lost "+
			"its quorum, too.", "Wait. If its quorum is lost for good, run the printed command."),
	entry(RecoveryEnded, Error, Database, "the restore that was asked for at {time} has ended",
		"The same backup was restored before, and another recovery or restore went first or followed.",
		"To restore it again, and lose what was written since, run the printed command."),
	entry(RecoveryWithdrawn, Error, Database, "the recovery was withdrawn",
		"The recovery that was asked for on this unit is over, for the reason in parentheses. Nothing was changed, "+
			"and the servers run again.", "See the reason, which says what to do."),
	entry(RecoveryNotStored, Error, Database, "the new cluster has not acknowledged a write",
		"The new cluster is in place, but has no majority that stores what is written.",
		"Repair its members' servers, then run the same command again."),
	entry(RecoveryNotRead, Error, Unit, "a write was not read back from {name}",
		"The unit is a member of the new cluster, and its server does not serve it.",
		"Repair that server, then run the same command again. If the unit is lost for good, run the printed command."),
	entry(RecoveryUnanswered, Waiting, Database,
		"recovery or restore on {unit}: it has the new cluster and does not answer",
		"The leader unit publishes a new cluster only if the unit that has it answers: its machine now, its hooks "+
			"within 10 minutes.", lostForGood).alert(waitsOn),
	entry(RecoveryNotStopped, Waiting, Unit, "recovery or restore on {unit}: {name} stops its server in its next hook",
		"The new cluster is made once no server of the old one runs. Each unit stops its own in its next hook; one "+
			"whose file lacks entries writes it again first.", lostForGood).alert(waitsOn),
	entry(RecoveryQuorumReturned, Waiting, Database,
		"recovery or restore on {unit}: the cluster has a quorum again, at {address}",
		"The new cluster is not published. That unit withdraws the recovery in its next hook, and all servers start "+
			"again.",
		"Start its machine if it is off. If the unit is lost for good, remove it by force.").alert(waitsOn),
	entry(RecoveryNotPublished, Waiting, Database, "recovery or restore on {unit}: the new cluster is not published yet",
		"The unit that leads the application publishes it in its next hook. A unit that is being removed may still "+
			"lead it, and not hear of the recovery.", "Nothing. If it lasts, run the printed command.").alert(waitsOn),
	entry(RecoveryUnread, Waiting, Database, "stopped for the recovery or restore on {unit}, whose data can't be read",
		"Juju has not told this unit what that unit publishes. Until it does, the server stays off.",
		"Nothing. If it lasts, look at the relation ovsdb-peer.").alert(waitsOn),
	entry(RecoveryHolds, Waiting, Database, "stopped for the recovery or restore on {unit}",
		"An operator has run a recovery or a restore on that unit. It continues in the units' next hooks.",
		"Nothing. "+lostForGood).alert(waitsOn),
	entry(RecoveryUnserved, Waiting, Database, "this unit's server is not yet a member with a leader",
		"Nothing was written to the new cluster yet, so nothing is proved.",
		"Wait until all units are active, then run recovery-status."),
	entry(RecoveryMarkUnread, Waiting, Database, "this unit's server can't say how its cluster was made",
		"The database has a record of the recovery that made it, and could not be read.",
		"Wait until this unit is active, or run the action on another unit."),
	entry(RecoveryPlanned, Info, Application, "the plan can be carried out",
		"The answer of a dry run. Nothing was changed.", "Read the plan, then run the printed command."),
	entry(RecoveryBegun, Info, Application, "the recovery has begun", "It continues in the hooks of all units.",
		"Watch juju status until all units that were not given up are active, then do what is printed."),
	entry(RecoveryDone, Info, Database, "asked for at {time} and done: the new cluster is {cluster}",
		"The same command has come about before. Nothing was done now.", "Run recovery-status for the proof."),
	entry(RecoveryProved, Info, Application, "every unit that was not given up serves the new cluster",
		"A write was acknowledged, and read back from the server of each unit.", "Type what is printed."),
}
