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

// waitsOn is how long a wait for another unit may last before the alert fires.
const waitsOn = 15 * time.Minute

var recoveryEntries = []Entry{
	entry(RecoveryNoCluster, Error, Database, "the application has no cluster yet"),
	entry(RecoveryNoCopy, Error, Database, "this unit has no copy of cluster {cluster}"),
	entry(RecoveryHasQuorum, Error, Unit, "the quorum is not lost: {name} knows a leader"),
	entry(RecoveryNewerData, Error, Unit, "{name} has newer data"),
	entry(RecoveryCopyDamaged, Error, Unit, "the file of {name} is damaged"),
	entry(RecoveryNotReported, Error, Database, "the copy of {units} is not reported"),
	entry(RecoveryMayReturn, Error, Database, "cannot confirm that the server of {units} stays off"),
	entry(RecoveryRunsElsewhere, Error, Database, "a recovery on {unit} goes first"),
	entry(RecoveryNotAccepted, Waiting, Database,
		"recovery on {unit}: Juju's leader has not accepted it yet").alert(waitsOn),
	entry(RecoveryUnderWay, Error, Database, "another recovery has made its new cluster here"),
	entry(RecoveryDying, Error, Database, "this unit is being removed, and makes no new cluster"),
	entry(RecoveryDataUnusable, Error, Database, "no new cluster can be made: {value}"),
	entry(RecoveryForceUnnamed, Error, Database, "force=true needs units in give-up"),
	entry(RecoveryNameUnknown, Error, Unit, "{name} is neither a unit nor an identity of a member"),
	entry(Unconfirmed, Error, Application, "not confirmed with i-really-mean-it=true"),
	entry(RejoinNotNeeded, Error, Database, "no damage of its file and no difference of its data is known"),
	entry(RejoinUnknown, Error, Database, "cannot tell which member this unit's server was"),
	entry(RejoinNoCluster, Error, Database, "no other unit serves it with a leader"),
	entry(RejoinOldMember, Error, Member, "the old member {name} is still in the configuration"),
	entry(RecoveryNotLed, Error, Database, "the new cluster {cluster}, asked for at {time}, has no leader here"),
	entry(RecoveryEnded, Error, Database, "the restore that was asked for at {time} has ended"),
	entry(RecoveryWithdrawn, Error, Database, "the recovery was withdrawn"),
	entry(RecoveryNotStored, Error, Database, "the new cluster has not acknowledged a write"),
	entry(RecoveryNotRead, Error, Unit, "a write was not read back from {name}"),
	entry(RecoveryUnanswered, Waiting, Database,
		"recovery on {unit}: it has the new cluster and does not answer").alert(waitsOn),
	entry(RecoveryNotStopped, Waiting, Unit,
		"recovery on {unit}: {name} stops its server in its next hook").alert(waitsOn),
	entry(RecoveryQuorumReturned, Waiting, Database,
		"recovery on {unit}: the cluster has a quorum again, at {address}").alert(waitsOn),
	entry(RecoveryNotPublished, Waiting, Database,
		"recovery on {unit}: the new cluster is not published yet").alert(waitsOn),
	entry(RecoveryUnread, Waiting, Database,
		"stopped for the recovery on {unit}, whose data can't be read").alert(waitsOn),
	entry(RecoveryHolds, Waiting, Database, "stopped for the recovery on {unit}").alert(waitsOn),
	entry(RecoveryUnserved, Waiting, Database, "this unit's server is not yet a member with a leader"),
	entry(RecoveryMarkUnread, Waiting, Database, "this unit's server can't say how its cluster was made"),
	entry(RecoveryPlanned, Info, Application, "the plan can be carried out"),
	entry(RecoveryBegun, Info, Application, "the recovery has begun"),
	entry(RecoveryDone, Info, Database, "asked for at {time} and done: the new cluster is {cluster}"),
	entry(RecoveryProved, Info, Application, "every unit that was not given up serves the new cluster"),
}
