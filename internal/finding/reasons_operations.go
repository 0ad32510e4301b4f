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
}
