package finding

// Results of a kick, or of the removal of this unit from the clusters.
const (
	LeaveQueued     ReasonCode = "LEAVE_QUEUED"
	LeaveBegun      ReasonCode = "LEAVE_BEGUN"
	LeaveNotBegun   ReasonCode = "LEAVE_NOT_BEGUN"
	LeaveMaySent    ReasonCode = "LEAVE_MAY_BE_SENT"
	LeaveCancelled  ReasonCode = "LEAVE_CANCELLED"
	LeaveUnseen     ReasonCode = "LEAVE_UNSEEN"
	NotLeftWithin   ReasonCode = "NOT_LEFT_WITHIN"
	LeftAs          ReasonCode = "LEFT_AS"
	LeftBefore      ReasonCode = "LEFT_BEFORE"
	KickedMeanwhile ReasonCode = "KICKED_MEANWHILE"
	RemovedByOthers ReasonCode = "REMOVED_BY_OTHERS"
	DataKept        ReasonCode = "DATA_KEPT"
	NoDatabase      ReasonCode = "NO_DATABASE"
	StandaloneKept  ReasonCode = "STANDALONE_KEPT"
	NotJoined       ReasonCode = "NOT_JOINED"
	JoinedMeanwhile ReasonCode = "JOINED_MEANWHILE"
	StaysMember     ReasonCode = "STAYS_MEMBER"
	FileRenamed     ReasonCode = "FILE_RENAMED"
	StopUnseen      ReasonCode = "STOP_UNSEEN"
	RemovedEarlier  ReasonCode = "REMOVED_EARLIER"
	NoServerRecord  ReasonCode = "NO_SERVER_RECORD"
	NoMemberLeft    ReasonCode = "NO_MEMBER_LEFT"
	NoLongerMember  ReasonCode = "NO_LONGER_MEMBER"
)

// Reasons why a change of a cluster, or of its members' services, is not made or has failed.
const (
	MembersUnlisted   ReasonCode = "MEMBERS_NOT_LISTED"
	NoMajorityWithout ReasonCode = "NO_MAJORITY_WITHOUT"
	ChangeBegun       ReasonCode = "CHANGE_BEGUN"
	OtherFileDamaged  ReasonCode = "OTHER_FILE_DAMAGED"
	FileNotRewritten  ReasonCode = "FILE_NOT_REWRITTEN"
	LeadershipLost    ReasonCode = "LEADERSHIP_LOST"
	LockLost          ReasonCode = "LOCK_LOST"
	LockExpired       ReasonCode = "LOCK_EXPIRED"
)

// Reasons about operations on nodes.
const (
	Listed            ReasonCode = "LISTED"
	TimedOut          ReasonCode = "TIMED_OUT"
	InterruptsTraffic ReasonCode = "INTERRUPTS_TRAFFIC"
	MembersOf         ReasonCode = "MEMBERS_OF"
	MachineUnnamed    ReasonCode = "MACHINE_UNNAMED"
	UnitsUnseen       ReasonCode = "UNITS_UNSEEN"
	HealthUnseen      ReasonCode = "HEALTH_UNSEEN"
	StillResponds     ReasonCode = "STILL_RESPONDS"
	ResponseUnknown   ReasonCode = "RESPONSE_UNKNOWN"
	RefusedIfResponds ReasonCode = "REFUSED_IF_IT_RESPONDS"
	ChassisIsNew      ReasonCode = "CHASSIS_IS_NEW"
	RecordUnread      ReasonCode = "RECORD_UNREAD"
)

// Reasons why a drain waits, and about holds.
const (
	NotCordoned      ReasonCode = "NOT_CORDONED"
	GatewaysToMove   ReasonCode = "GATEWAYS_TO_MOVE"
	GatewaysBlocked  ReasonCode = "GATEWAYS_BLOCKED"
	GatewaysNotBound ReasonCode = "GATEWAYS_NOT_BOUND"
	PortsHeld        ReasonCode = "PORTS_HELD"
	HoldSet          ReasonCode = "HOLD_SET"
	NothingProved    ReasonCode = "NOTHING_LEFT_NOT_PROVED"
	NothingLeft      ReasonCode = "NOTHING_LEFT"
	NotBound         ReasonCode = "NOT_BOUND"
	PortOfMachine    ReasonCode = "PORT_OF_MACHINE"
	PortGone         ReasonCode = "PORT_GONE"
	PortMisplaced    ReasonCode = "PORT_MISPLACED"
	HoldPorts        ReasonCode = "HOLD_OF_PORTS"
	HoldSetBy        ReasonCode = "HOLD_SET_BY"
	HoldAge          ReasonCode = "HOLD_AGE"
	HoldSeenFor      ReasonCode = "HOLD_SEEN_FOR"
	HoldUnexplained  ReasonCode = "HOLD_UNEXPLAINED"
)

// Reasons about the health of a cluster.
const (
	DatabaseUnreached ReasonCode = "DATABASE_UNREACHED"
	MembersUp         ReasonCode = "MEMBERS_UP"
	LeaderKnown       ReasonCode = "LEADER_KNOWN"
	UpStandalone      ReasonCode = "UP_STANDALONE"
)

// Reasons why a backup, or the contents of a new cluster, can't be used.
const (
	BackupBusy       ReasonCode = "BACKUP_BUSY"
	WrittenWrong     ReasonCode = "WRITTEN_WRONG"
	FileNotClustered ReasonCode = "FILE_NOT_CLUSTERED"
	DamagedUnserved  ReasonCode = "DAMAGED_AND_NOT_SERVED"
	BackupTooNew     ReasonCode = "BACKUP_TOO_NEW"
	NoCopyOf         ReasonCode = "NO_COPY_OF"
	FormatUnknown    ReasonCode = "FORMAT_UNKNOWN"
	ManifestDamaged  ReasonCode = "MANIFEST_DAMAGED"
	NamedFileMissing ReasonCode = "NAMED_FILE_MISSING"
	SizeStated       ReasonCode = "SIZE_STATED"
	TextUnusable     ReasonCode = "TEXT_NOT_USABLE"
	HoldsMore        ReasonCode = "HOLDS_MORE"
	HoldsOther       ReasonCode = "HOLDS_OTHER"
	WrongChecksum    ReasonCode = "WRONG_CHECKSUM"
	OwnedByOther     ReasonCode = "OWNED_BY_OTHER_USER"
	NotFolder        ReasonCode = "NOT_A_FOLDER"
	OthersMayWrite   ReasonCode = "OTHERS_MAY_WRITE"
	OthersMayReplace ReasonCode = "OTHERS_MAY_REPLACE"
	IsLink           ReasonCode = "IS_A_LINK"
	NotRegular       ReasonCode = "NOT_A_REGULAR_FILE"
	FileTooLarge     ReasonCode = "FILE_TOO_LARGE"
	CopyOfFile       ReasonCode = "COPY_OF_FILE"
	SchemaTooNew     ReasonCode = "SCHEMA_TOO_NEW"
	SpaceLacking     ReasonCode = "SPACE_LACKING"
	QuorumAgain      ReasonCode = "QUORUM_AGAIN"
	MachineSilent    ReasonCode = "MACHINE_SILENT"
	OtherWrites      ReasonCode = "OTHER_WRITES"
	NotSeenWithin    ReasonCode = "NOT_SEEN_WITHIN"
	NotAllServe      ReasonCode = "NOT_ALL_SERVE"
	ServesNone       ReasonCode = "SERVES_NONE"
	RejoinNotProved  ReasonCode = "REJOIN_NOT_PROVED"
)

// Reasons about units, their servers and their agents.
const (
	RewrittenFirst     ReasonCode = "REWRITTEN_FIRST"
	SchemaIsOlder      ReasonCode = "SCHEMA_IS_OLDER"
	SchemaIsNewer      ReasonCode = "SCHEMA_IS_NEWER"
	SilentTimes        ReasonCode = "SILENT_TIMES"
	UnknownMembersDown ReasonCode = "UNKNOWN_MEMBERS_DOWN"
	NotReported        ReasonCode = "NOT_REPORTED"
	NoSuchUnit         ReasonCode = "NO_SUCH_UNIT"
	NoneActs           ReasonCode = "NONE_ACTS"
	LeaseNames         ReasonCode = "LEASE_NAMES"
	AddressTaken       ReasonCode = "ADDRESS_TAKEN"
	ClockIsAhead       ReasonCode = "CLOCK_IS_AHEAD"
	ClockIsBehind      ReasonCode = "CLOCK_IS_BEHIND"
	NorthdIs           ReasonCode = "NORTHD_IS"
	NotServingEach     ReasonCode = "NOT_SERVING_EACH"
	AnswerTooLong      ReasonCode = "ANSWER_TOO_LONG"
)

var operationReasons = map[ReasonCode]string{
	LeaveQueued:     "the server hangs; it was told to leave, and leaves when it responds again",
	LeaveBegun:      "the leave has begun and is not finished",
	LeaveNotBegun:   "still a member, nothing was changed",
	LeaveMaySent:    "{name} may have been told to leave ({value}); Juju tries again",
	LeaveCancelled:  "the server was restarted while it was leaving, which cancels it; Juju tries again",
	LeaveUnseen:     "the leave has begun, and its end was not seen: {value}",
	NotLeftWithin:   "{name} has not left within {after} ({because}); Juju tries again and continues to wait",
	LeftAs:          "left the cluster as {name}",
	LeftBefore:      "the server has left already",
	KickedMeanwhile: "another unit has kicked {name} meanwhile",
	RemovedByOthers: "the others have removed {name} while it was down or cut off",
	DataKept:        "no unit stays that could serve the database; its data stay in {value}",
	NoDatabase:      "there is no database",
	StandaloneKept:  "the database is standalone; it stays in {value}",
	NotJoined:       "the server had not joined yet",
	JoinedMeanwhile: "the server has joined the cluster meanwhile and stays its member; the next try continues " +
		"from there",
	StaysMember: "it stays a member until another unit kicks it: the action cluster-status there prints the " +
		"command",
	FileRenamed:    "its file is now {value}",
	StopUnseen:     "its service was stopped, and its process was not seen to end",
	RemovedEarlier: "{value} was removed earlier",
	NoServerRecord: "there is no record of a server of {name}",
	NoMemberLeft:   "{name} has no member in {value} any more",
	NoLongerMember: "{name} is no longer a member of {value}",

	MembersUnlisted:   "its file does not list the members",
	NoMajorityWithout: "the others are no majority without it: {tally}",
	ChangeBegun:       "{name} has begun to change the membership: {value}",
	OtherFileDamaged:  "the file of another member is damaged: {value}",
	FileNotRewritten:  "the server has not rewritten its file; see its log",
	LeadershipLost:    "the server has lost the leadership; the next try uses a larger election timer",
	LockLost:          "another unit has taken over the lock",
	LockExpired:       "the lock was not renewed in time; nothing was started",

	BackupBusy:       "another backup is being made there",
	WrittenWrong:     "{value} does not contain what was written to it",
	FileNotClustered: "{value} is not a clustered database",
	DamagedUnserved:  "{name} is not served here, and its file is damaged: {value}; back up on another unit",
	BackupTooNew:     "the schema of {name} is {value}, newer than that of the installed packages, {because}",
	NoCopyOf:         "the backup has no copy of {name}",
	FormatUnknown:    "its format is {count}, not {total}",
	ManifestDamaged:  "it is damaged: its SHA-256 is {name}, but it states {value}",
	NamedFileMissing: "a file that it names is missing",
	SizeStated:       "it states a size of {count} bytes",
	TextUnusable:     "a text in it is too long, or has control characters: {value}",
	HoldsMore:        "it is damaged: it holds more than the {count} bytes that its manifest says",
	HoldsOther: "{name} is damaged: it holds {count} bytes with SHA-256 {value}, its manifest says {total} " +
		"and {because}",
	WrongChecksum: "{name} is damaged: its SHA-256 is {value}, its manifest says {because}",
	OwnedByOther: "{value} belongs to user {count}, which could replace what root writes there; " +
		"use a folder of root's: chown root {value}",
	NotFolder:      "{value} is not a folder",
	OthersMayWrite: "other users may write to {value}; use a new folder in it",
	OthersMayReplace: "other users may write to {value}, and could replace what root writes there; " +
		"use a folder of root's, or: chmod go-w {value}",
	IsLink:       "{value} is a link",
	NotRegular:   "{value} is not a regular file",
	FileTooLarge: "{value} has more than {count} bytes",
	CopyOfFile: "this unit's server serves nothing; the copy is of its file, and other units may have newer " +
		"data",
	SchemaTooNew: "its schema is {value}, newer than that of this unit's packages, {name}; " +
		"upgrade them first, or run it on a unit that has them",
	SpaceLacking:    "the disk of {value} has {count} MiB free, and it takes {total}; make space",
	QuorumAgain:     "the cluster has a quorum again: {value}",
	MachineSilent:   "the machine of {name}, which has the new cluster, does not answer",
	OtherWrites:     "another process writes {value}",
	NotSeenWithin:   "not seen within {after}",
	NotAllServe:     "the new cluster is in place, but not every member serves it",
	ServesNone:      "it serves no database",
	RejoinNotProved: "this unit has joined as a new member, but not every member serves the database",

	RewrittenFirst:     "its file lacks entries and must be rewritten first",
	SchemaIsOlder:      "schema {value}, older than the packages' {name}",
	SchemaIsNewer:      "schema {value}, newer than the packages' {name}",
	SilentTimes:        "silent {count} times for a second or more in the last hour, at most for {after}",
	UnknownMembersDown: "not known (its members are down)",
	NotReported:        "not reported as working (as of its last hook)",
	NoSuchUnit:         "there is no unit {name}; there are {value}",
	NoneActs:           "no unit is known to act",
	LeaseNames:         "the lease names {name}",
	AddressTaken:       "another program has {value}; look at: ss -ltnp",
	ClockIsAhead: "clock: {name} is {value} ahead of this unit: certificates are not valid for both; " +
		"look at: {because}",
	ClockIsBehind: "clock: {name} is {value} behind this unit: certificates are not valid for both; " +
		"look at: {because}",
	NorthdIs:       "this unit's ovn-northd: {value}",
	NotServingEach: "{name} does not serve each database: {value}; run: {because}",
	AnswerTooLong: "the answer is too long for Juju; ask for one network, or on the unit run: " +
		"sudo /var/lib/ovn-central-operator/ovn-central-operator gateways status",

	Listed:            "{list}",
	TimedOut:          "timed out after {after}",
	InterruptsTraffic: "{value}; this interrupts traffic: confirm it",
	MembersOf:         "members of {name}",
	MachineUnnamed:    "{name} has not published the name of its machine",
	UnitsUnseen:       "this command cannot tell which units are on its machine; with the charm, run: {value}",
	HealthUnseen:      "this command cannot tell the health of the clusters; with the charm, run: {value}",
	StillResponds:     "its ovn-controller still responds",
	ResponseUnknown:   "cannot tell whether its ovn-controller responds: {value}",
	RefusedIfResponds: "it responded when it was last asked, and the command is refused if it still does",
	ChassisIsNew:      "new: uncordon it once you know it",
	RecordUnread:      "record {value} cannot be read",

	NotCordoned:      "not cordoned",
	GatewaysToMove:   "{value} to move",
	GatewaysBlocked:  "{value} blocked",
	GatewaysNotBound: "{value} not bound to any chassis",
	PortsHeld:        "{name} {count}",
	HoldSet:          "hold {name}",
	NothingProved:    "nothing is left, not proved yet",
	NothingLeft:      "nothing is left",
	NotBound:         "not bound to any chassis",
	PortOfMachine:    "a port of a virtual machine",
	PortGone:         "no row of NB has it on this node any more",
	PortMisplaced:    "bound to this node, though it should be on {name}",
	HoldPorts:        "{value} ({name})",
	HoldSetBy:        "set by {name}",
	HoldAge:          "{after} old",
	HoldSeenFor:      "for at least {after}",
	HoldUnexplained:  "no reason was given",

	DatabaseUnreached: "Unable to access {name}",
	MembersUp:         "{count} of {total} members up",
	LeaderKnown:       "a leader is known",
	UpStandalone:      "up, not clustered",
}
