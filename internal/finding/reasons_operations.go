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
