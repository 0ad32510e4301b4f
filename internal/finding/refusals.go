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
	entry(QuorumWouldBeLost, Error, Database, "{count} of {total} members are up; afterwards {after}"),
	entry(ServerNeeded, Error, Database, "without this unit's server, which does not answer, {after}"),
	entry(NoLeader, Error, Database, "this unit's server knows no leader"),
	entry(LeaderUnseen, Error, Database, "its leader {member} is not known to be up; an election may be under way"),
	entry(SoleMember, Error, Database, "the only member has the only copy of the database"),
	entry(SoleMemberLeaves, Error, Database, "the only member was told to leave, which it can't finish"),
	entry(OnlyCopy, Error, Database, "no unit that stays has joined, so the only copy of the database is here"),
	entry(NewClusterUnplaced, Error, Database, "the new cluster is not in its place yet, and its only copy is here"),
	entry(NotAMember, Error, Database, "this unit's server is no member that works"),
	entry(ChangeFailed, Error, Database, "the change could not begin"),
	entry(MemberIDInvalid, Error, Database, "{value} is no ID: give its first four hexadecimal digits, or the whole ID"),
	entry(IDReadAsNumber, Info, Database, "Juju made the number {value} of what was typed; to pass 0123, type '\"0123\"'"),
	entry(UnknownMember, Error, Database, "{value} is neither a member nor one that was removed"),
	entry(MemberAmbiguous, Error, Database, "{value} can mean {count} members"),
	entry(MemberOfOther, Error, Database, "{member} is a member of {value}"),
	entry(UnitUnknown, Error, Database, "there is no record of a server of {unit}"),
	entry(OwnMember, Error, Database, "{member} is this unit's own server"),
	entry(MemberIsLive, Error, Database, "the member is up"),
	entry(UnitInModel, Error, Database, "{unit}, whose member it is, is still in the model"),
	entry(ChangePending, Waiting, Database, "another change is not finished: {member} is {value}"),
	entry(ChangedElsewhere, Waiting, Database, "{unit} is changing the membership"),
	entry(RemovalMayBeUndone, Info, Database, "a removal that is not committed may be undone"),
	entry(RemovalMayFollow, Info, Database, "a removal that was begun earlier may still be carried out"),
	entry(RemovalNotProved, Warning, Database, "the removal of {member} is not proved"),
	entry(RemovalNotCommitted, Warning, Database,
		"this server does not show it as a member, but that may not be committed"),
	entry(KickRefused, Info, Database, "it can't be kicked yet"),
	entry(OtherRefused, Info, Database, "not touched, for what is said of the other database"),
	entry(FewWouldStay, Warning, Database, "members that this leaves: {count}; {tolerance} may fail"),
	entry(UpWithoutUnit, Warning, Database,
		"{member} has no unit and is up; its ovn-northd runs until its machine is off"),
}
