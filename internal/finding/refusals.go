package finding

// Why a change of a cluster is refused. Nothing was touched.
const (
	QuorumWouldBeLost   Code = "QUORUM_WOULD_BE_LOST"
	ServerNeeded        Code = "SERVER_NEEDED"
	NoLeader            Code = "NO_LEADER"
	LeaderUnseen        Code = "LEADER_UNSEEN"
	SoleMember          Code = "SOLE_MEMBER"
	SoleMemberLeaves    Code = "SOLE_MEMBER_LEAVES"
	OnlyCopy            Code = "ONLY_COPY"
	NewClusterUnplaced  Code = "NEW_CLUSTER_UNPLACED"
	NotAMember          Code = "NOT_A_MEMBER"
	ChangeFailed        Code = "CHANGE_FAILED"
	MemberIDInvalid     Code = "MEMBER_ID_INVALID"
	IDReadAsNumber      Code = "ID_READ_AS_NUMBER"
	UnknownMember       Code = "UNKNOWN_MEMBER"
	MemberAmbiguous     Code = "MEMBER_AMBIGUOUS"
	MemberOfOther       Code = "MEMBER_OF_OTHER_DATABASE"
	UnitUnknown         Code = "UNIT_UNKNOWN"
	OwnMember           Code = "OWN_MEMBER"
	MemberIsLive        Code = "MEMBER_IS_LIVE"
	UnitInModel         Code = "UNIT_IN_MODEL"
	ChangePending       Code = "CHANGE_PENDING"
	ChangedElsewhere    Code = "CHANGED_ELSEWHERE"
	RemovalMayBeUndone  Code = "REMOVAL_MAY_BE_UNDONE"
	RemovalMayFollow    Code = "REMOVAL_MAY_FOLLOW"
	RemovalNotProved    Code = "REMOVAL_NOT_PROVED"
	RemovalNotCommitted Code = "REMOVAL_NOT_COMMITTED"
	KickRefused         Code = "KICK_REFUSED"
	OtherRefused        Code = "OTHER_DATABASE_REFUSED"
	FewWouldStay        Code = "FEW_WOULD_STAY"
	UpWithoutUnit       Code = "UP_WITHOUT_UNIT"
)

var refusalEntries = []Entry{
	{
		Code: QuorumWouldBeLost, Severity: Error, Kind: Database,
		Line: "{count} of {total} members are up; then {after}",
		Meaning: "After the change, or during it, too few of the members would be up: nothing could be " +
			"written. Nothing was touched.",
		Do: "Bring back the members that are named. If one is lost for good, remove its unit by force, " +
			"and kick what it leaves behind.",
	},
	{
		Code: ServerNeeded, Severity: Error, Kind: Database,
		Line: "without this unit's server, which does not answer, {after}",
		Meaning: "The unit is being removed, and its server does not answer. The others are no majority without it, " +
			"and could not even remove it.",
		Do: "Start the server with the printed command. The unit then leaves by itself.",
	},
	{
		Code: NoLeader, Severity: Error, Kind: Database,
		Line: "this unit's server knows no leader",
		Meaning: "Either a majority of the members is down, or this unit is cut off from it. " +
			"Without a leader no membership changes.",
		Do: "See whether another unit knows a leader. If it does, this unit is cut off; " +
			"if none does, docs/how-to/recover-quorum.md has the way out.",
	},
	{
		Code: LeaderUnseen, Severity: Error, Kind: Database,
		Line:    "its leader {member} is not known to be up; an election may be under way",
		Meaning: "This unit's server follows a leader that does not answer. An election takes one or two election timers.",
		Do:      "Wait. If it lasts, see whether another unit knows a leader.",
	},
	{
		Code: SoleMember, Severity: Error, Kind: Database,
		Line: "the only member has the only copy of the database",
		Meaning: "A cluster of one can't change: leaving or a kick would make its only copy unusable, " +
			"and while it is down no client has the database.",
		Do: "Add units, and wait until they have joined.",
	},
	{
		Code: SoleMemberLeaves, Severity: Error, Kind: Database,
		Line:    "the only member was told to leave, which it can't finish",
		Meaning: "Until its server is restarted, the database is not served.",
		Do:      "Restart the server with the printed command.",
	},
	{
		Code: OnlyCopy, Severity: Error, Kind: Database,
		Line:    "no unit that stays has joined, so the only copy of the database is here",
		Meaning: "The unit is being removed, its server does not answer, and no other unit is known to have the database.",
		Do:      "Start the server with the printed command, and wait until another unit has joined.",
	},
	{
		Code: NewClusterUnplaced, Severity: Error, Kind: Database,
		Line:    "the new cluster is not in its place yet, and its only copy is here",
		Meaning: "The unit is being removed, and has made the cluster of a recovery or a restore that no other unit has yet.",
		Do:      "Put it in its place and start it with the printed command, and wait until another unit has joined.",
	},
	{
		Code: NotAMember, Severity: Error, Kind: Database,
		Line:    "this unit's server is no member that works",
		Meaning: "Only a server that is a member, and neither joins nor leaves, can judge and change the membership.",
		Do:      "Run the action on a unit whose server is a member.",
	},
	{
		Code: ChangeFailed, Severity: Error, Kind: Database,
		Line:    "the change could not begin",
		Meaning: "Something that the change needs could not be read or written. Nothing was touched.",
		Do:      "Run the same command again.",
	},
	{
		Code: MemberIDInvalid, Severity: Error, Kind: Database,
		Line: "{value} is no ID: give four of its hex digits, or more",
		Meaning: "`cluster-status` shows the first four digits of each member's server ID. " +
			"They, or more of it, name a member.",
		Do: "Name the member as cluster-status shows it.",
	},
	{
		Code: IDReadAsNumber, Severity: Info, Kind: Database,
		Line:    "Juju made the number {value} of what was typed; to pass 0123, type '\"0123\"'",
		Meaning: "Juju reads the values of parameters as YAML, in which some IDs are numbers.",
		Do:      "Type the ID in both kinds of quotes.",
	},
	{
		Code: UnknownMember, Severity: Error, Kind: Database,
		Line:    "{value} is neither a member nor one that was removed",
		Meaning: "No member of this database has an ID that begins so.",
		Do:      "Name one of the members that are listed.",
	},
	{
		Code: MemberAmbiguous, Severity: Error, Kind: Database,
		Line:    "{value} can mean {count} members",
		Meaning: "Several members have an ID that begins so, or the unit has left several behind.",
		Do:      "Name the member by its whole ID.",
	},
	{
		Code: MemberOfOther, Severity: Error, Kind: Database,
		Line:    "{member} is a member of {value}",
		Meaning: "The ID is that of a server of the other database.",
		Do:      "Name it with the other database's parameter.",
	},
	{
		Code: UnitUnknown, Severity: Error, Kind: Database,
		Line:    "there is no record of a server of {unit}",
		Meaning: "Neither the relation data nor the records in the database say that this unit had a server.",
		Do:      "If one of the members that are listed was that unit's, name it by its identity.",
	},
	{
		Code: OwnMember, Severity: Error, Kind: Database,
		Line:    "{member} is this unit's own server",
		Meaning: "A server is kicked from another unit. A unit that is removed leaves by itself.",
		Do:      "Remove the unit.",
	},
	{
		Code: MemberIsLive, Severity: Error, Kind: Database,
		Line: "the member is up",
		Meaning: "A member that is up is kicked only with force=true. Its unit, if it has one, " +
			"leaves by itself when it is removed.",
		Do: "Remove its unit, or power off its machine and run the same command again.",
	},
	{
		Code: UnitInModel, Severity: Error, Kind: Database,
		Line: "{unit}, whose member it is, is still in the model",
		Meaning: "A unit that is removed leaves by itself. After a kick, one that stays in the model " +
			"joins again as a new member.",
		Do: "Remove the unit; by force if its machine is lost for good.",
	},
	{
		Code: ChangePending, Severity: Waiting, Kind: Database,
		Line:    "another change is not finished: {member} is {value}",
		Meaning: "A cluster changes by one member at a time.",
		Do:      "Wait until it is done, and run the same command again.",
	},
	{
		Code: ChangedElsewhere, Severity: Waiting, Kind: Database,
		Line: "{unit} is changing the membership",
		Meaning: "One unit at a time changes a cluster. That unit did not finish in time; " +
			"its lock expires if it does not renew it.",
		Do: "Wait until it is done, and run the same command again.",
	},
	{
		Code: RemovalMayBeUndone, Severity: Info, Kind: Database,
		Line:    "a removal that is not committed may be undone",
		Meaning: "The next leader may not have the removal, and then there is one member more.",
		Do:      "Wait until the removal is committed.",
	},
	{
		Code: RemovalMayFollow, Severity: Info, Kind: Database,
		Line:    "a removal that was begun earlier may still be carried out",
		Meaning: "Another unit began to remove a member, and did not see the end of it.",
		Do:      "Wait until it has ended.",
	},
	{
		Code: RemovalNotProved, Severity: Warning, Kind: Database,
		Line:    "the removal of {member} is not proved",
		Meaning: "The kick was sent, or may have been, and its end was not seen in time. It may still take effect.",
		Do:      "Look at cluster-status. If the member is still there, run the same command again.",
	},
	{
		Code: RemovalNotCommitted, Severity: Warning, Kind: Database,
		Line:    "this server does not show it as a member, but that may not be committed",
		Meaning: "Without a leader, or before the change is committed, the member may come back.",
		Do:      "Wait until the database has a leader, and run the same command again.",
	},
	{
		Code: KickRefused, Severity: Info, Kind: Database,
		Line:    "it can't be kicked yet",
		Meaning: "The rules of a kick refuse it for now.",
		Do:      "Do what the finding names that is in the way.",
	},
	{
		Code: OtherRefused, Severity: Info, Kind: Database,
		Line:    "not touched, for what is said of the other database",
		Meaning: "All databases that a command names are judged before any of them is touched.",
		Do:      "Do what is said of the other database, and run the same command again.",
	},
	{
		Code: FewWouldStay, Severity: Warning, Kind: Database,
		Line: "members that this leaves: {count}; {total} may fail",
		Meaning: "A cluster of fewer than three members tolerates no failure, and one of four members no " +
			"more than one of three.",
		Do: "Add a unit.",
	},
	{
		Code: UpWithoutUnit, Severity: Warning, Kind: Database,
		Line:    "{member} has no unit and is up; its ovn-northd runs until its machine is off",
		Meaning: "Nothing has stopped the services on that machine, and ovn-northd needs no membership to write.",
		Do:      "Power off its machine.",
	},
}
