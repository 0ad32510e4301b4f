package finding

// Codes of refused changes of a cluster.
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
	entry(QuorumWouldBeLost, Error, Database, "{count} of {total} members are up; afterwards {after}",
		"After the change, or during it, too few of the members would be up: nothing could be written. Nothing was "+
			"touched.",
		"Bring back the members that are named. If one is lost for good, remove its unit by force, and kick what it "+
			"leaves behind."),
	entry(ServerNeeded, Error, Database, "without this unit's server, which does not answer, {after}",
		"The unit is being removed, and its server does not answer. The others are no majority without it, and could "+
			"not even remove it.", "Start the server with the printed command. The unit then leaves by itself."),
	entry(NoLeader, Error, Database, "this unit's server knows no leader",
		"Either a majority of the members is down, or this unit is cut off from it. Without a leader no membership "+
			"changes.",
		"See whether another unit knows a leader. If it does, this unit is cut off; if none does, "+
			"docs/how-to/recover-quorum.md has the way out."),
	entry(LeaderUnseen, Error, Database, "its leader {member} is not known to be up; an election may be under way",
		"This unit's server follows a leader that does not answer. An election takes one or two election timers.",
		"Wait. If it lasts, see whether another unit knows a leader."),
	entry(SoleMember, Error, Database, "the only member has the only copy of the database",
		"A cluster of one can't change: leaving or a kick would make its only copy unusable, and while it is down no "+
			"client has the database.", "Add units, and wait until they have joined."),
	entry(SoleMemberLeaves, Error, Database, "the only member was told to leave, which it can't finish",
		"Until its server is restarted, the database is not served.", "Restart the server with the printed command."),
	entry(OnlyCopy, Error, Database, "no unit that stays has joined, so the only copy of the database is here",
		"The unit is being removed, its server does not answer, and no other unit is known to have the database.",
		"Start the server with the printed command, and wait until another unit has joined."),
	entry(NewClusterUnplaced, Error, Database, "the new cluster is not in its place yet, and its only copy is here",
		"The unit is being removed, and has made the cluster of a recovery or a restore that no other unit has yet.",
		"Put it in its place and start it with the printed command, and wait until another unit has joined."),
	entry(NotAMember, Error, Database, "this unit's server is no member that works",
		"Only a server that is a member, and neither joins nor leaves, can judge and change the membership.",
		"Run the action on a unit whose server is a member."),
	entry(ChangeFailed, Error, Database, "the change could not begin",
		"Something that the change needs could not be read or written. Nothing was touched.",
		"Run the same command again."),
	entry(MemberIDInvalid, Error, Database, "{value} is no ID: give its first four hexadecimal digits, or the whole ID",
		"`cluster-status` shows the first four digits of each member's server ID. They, or more of it, name a member.",
		"Name the member as cluster-status shows it."),
	entry(IDReadAsNumber, Info, Database,
		"Juju read the ID as the number {value}; put quotes around an ID: '\"0123\"'",
		"Juju reads parameters as YAML, in which some IDs are numbers.",
		"Type the ID in both kinds of quotes."),
	entry(UnknownMember, Error, Database, "{value} is neither a member nor one that was removed",
		"No member of this database has an ID that begins so.", "Name one of the members that are listed."),
	entry(MemberAmbiguous, Error, Database, "{value} can mean {count} members",
		"Several members have an ID that begins so, or the unit has left several behind.",
		"Name the member by its whole ID."),
	entry(MemberOfOther, Error, Database, "{member} is a member of {value}",
		"The ID is that of a server of the other database.", "Name it with the other database's parameter."),
	entry(UnitUnknown, Error, Database, "there is no record of a server of {unit}",
		"Neither the relation data nor the records in the database say that this unit had a server.",
		"If one of the members that are listed was that unit's, name it by its identity."),
	entry(OwnMember, Error, Database, "{member} is this unit's own server",
		"A server is kicked from another unit. A unit that is removed leaves by itself.", "Remove the unit."),
	entry(MemberIsLive, Error, Database, "the member is up",
		"A member that is up is kicked only with force=true. Its unit, if it has one, leaves by itself when it is "+
			"removed.", "Remove its unit, or power off its machine and run the same command again."),
	entry(UnitInModel, Error, Database, "{unit}, whose member it is, is still in the model",
		"A unit that is removed leaves by itself. After a kick, one that stays in the model joins again as a new "+
			"member.", "Remove the unit; by force if its machine is lost for good."),
	entry(ChangePending, Waiting, Database, "another change is not finished: {member} is {value}",
		"A cluster changes by one member at a time.", "Wait until it is done, and run the same command again."),
	entry(ChangedElsewhere, Waiting, Database, "{unit} is changing the membership",
		"One unit at a time changes a cluster. That unit did not finish in time; its lock expires if it does not "+
			"renew it.", "Wait until it is done, and run the same command again."),
	entry(RemovalMayBeUndone, Info, Database, "a removal that is not committed may be undone",
		"The next leader may not have the removal, and then there is one member more.",
		"Wait until the removal is committed."),
	entry(RemovalMayFollow, Info, Database, "a removal that was begun earlier may still be carried out",
		"Another unit began to remove a member, and did not see the end of it.", "Wait until it has ended."),
	entry(RemovalNotProved, Warning, Database, "the removal of {member} is not proved",
		"The kick was sent, or may have been, and its end was not seen in time. It may still take effect.",
		"Look at cluster-status. If the member is still there, run the same command again."),
	entry(RemovalNotCommitted, Warning, Database,
		"this server does not show it as a member, but that may not be committed",
		"Without a leader, or before the change is committed, the member may come back.",
		"Wait until the database has a leader, and run the same command again."),
	entry(KickRefused, Info, Database, "it can't be kicked yet", "The rules of a kick refuse it for now.",
		"Remove the obstacle that the finding names."),
	entry(OtherRefused, Info, Database, "not touched, because of the other database",
		"All databases that a command names are judged before any of them is touched.",
		"Repair the other database as its finding says, and run the same command again."),
	entry(FewWouldStay, Warning, Database, "members that this leaves: {count}; {tolerance} may fail",
		"A cluster of fewer than three members tolerates no failure, and one of four members no more than one of "+
			"three.", "Add a unit."),
	entry(UpWithoutUnit, Warning, Database,
		"{member} has no unit and is up; its ovn-northd runs until its machine is off",
		"Nothing has stopped the services on that machine, and ovn-northd needs no membership to write.",
		"Power off its machine."),
}
