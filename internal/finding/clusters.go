package finding

import "time"

// Codes about the application's clusters.
const (
	ClusterLost      Code = "CLUSTER_LOST"
	TwoClusters      Code = "TWO_CLUSTERS"
	ClusterElsewhere Code = "CLUSTER_ELSEWHERE"
	NoQuorum         Code = "NO_QUORUM"
	CopyGivenUp      Code = "COPY_GIVEN_UP"
	OldClusterServed Code = "OLD_CLUSTER_SERVED"
	ClusterAwaited   Code = "CLUSTER_AWAITED"
	ClustersAwaited  Code = "CLUSTERS_AWAITED"
	ClaimContested   Code = "CLAIM_CONTESTED"
	CutOff           Code = "CUT_OFF"
	Electing         Code = "ELECTING"
	PeersUnknown     Code = "PEERS_UNKNOWN"
	MajorityUnseen   Code = "MAJORITY_UNSEEN"
	ReplacesItself   Code = "REPLACES_ITSELF"
)

var clusterEntries = []Entry{
	entry(NoQuorum, Error, Database, "no quorum").alert(time.Minute),
	entry(ClusterLost, Error, Database, "no unit has cluster {cluster}").alert(time.Minute),
	entry(TwoClusters, Error, Database, "two clusters under one application").alert(time.Minute),
	entry(ClusterElsewhere, Error, Database,
		"{unit} is in another cluster, {cluster}; this unit's is {other}").alert(time.Minute),
	entry(CopyGivenUp, Waiting, Database, "its copy is of a cluster given up in a recovery; it joins the new one"),
	entry(OldClusterServed, Waiting, Database, "the old cluster is still served at {address}").alert(5 * time.Minute),
	entry(ClusterAwaited, Waiting, Database, "waiting for {unit} to serve cluster {cluster}").alert(15 * time.Minute),
	entry(ClustersAwaited, Waiting, Application, "peers: {value}").alert(15 * time.Minute),
	entry(ClaimContested, Waiting, Application, "peers: {unit} has claimed clusters too; {value}").alert(15 * time.Minute),
	entry(CutOff, Waiting, Database,
		"this unit's server hears no leader, {count} of {total} members do").alert(time.Minute),
	entry(Electing, Waiting, Database, "a leader is being elected; {count} of {total} members answer").alert(time.Minute),
	entry(PeersUnknown, Waiting, Database,
		"this unit's server hears no leader; the other units are not known yet").alert(5 * time.Minute),
	entry(MajorityUnseen, Waiting, Database,
		"a leader is known, but this unit sees only {count} of {total} members up").alert(5 * time.Minute),
	entry(ReplacesItself, Warning, Database, "the database names its own cluster as replaced (ignored)"),
}

// Codes about members, mostly of other units.
const (
	LeaveBlocked     Code = "LEAVE_BLOCKED"
	LeaveWaits       Code = "LEAVE_WAITS"
	NotInNewCluster  Code = "NOT_IN_NEW_CLUSTER"
	StaleMember      Code = "STALE_MEMBER"
	MemberDown       Code = "MEMBER_DOWN"
	PortsClosed      Code = "PORTS_CLOSED"
	WrongDatabase    Code = "WRONG_DATABASE"
	SameAddress      Code = "SAME_ADDRESS"
	UnknownText      Code = "UNKNOWN_TEXT"
	FewMembers       Code = "FEW_MEMBERS"
	NotPublished     Code = "NOT_PUBLISHED"
	IdentityOutdated Code = "IDENTITY_OUTDATED"
	PublishedDamaged Code = "PUBLISHED_DATA_DAMAGED"
	JujuUnread       Code = "JUJU_UNREAD"
	StopUnsafe       Code = "STOP_UNSAFE"
	RemovalUnsafe    Code = "REMOVAL_UNSAFE"
	FileOvergrown    Code = "FILE_OVERGROWN"
	ServerSilent     Code = "SERVER_SILENT"
	SchemaNewer      Code = "SCHEMA_NEWER"
)

var memberEntries = []Entry{
	entry(LeaveBlocked, Warning, Unit, "{name} waits to leave").alert(time.Minute),
	entry(LeaveWaits, Info, Unit, "{name} waits to leave: {unit} is changing the membership"),
	entry(NotInNewCluster, Warning, Unit, "{name} has not joined the new cluster yet").alert(15 * time.Minute),
	entry(StaleMember, Warning, Member, "stale member {name}").alert(5 * time.Minute),
	entry(MemberDown, Warning, Member, "{name} is down").alert(5 * time.Minute),
	entry(PortsClosed, Warning, Unit, "{units} can't reach {name} at {value}").alert(5 * time.Minute),
	entry(WrongDatabase, Warning, Member, "{name} is a server of {value}: it votes here and holds nothing").quiet(),
	entry(SameAddress, Warning, Member, "two members have the address {address}: {name}").quiet(),
	entry(FileOvergrown, Warning, Database, "the file has grown to {value}: its server does not compact it").quiet(),
	entry(ServerSilent, Warning, Database, "the server was silent for {value}, the election timer is {duration}").quiet(),
	entry(SchemaNewer, Warning, Database, "schema {version} is newer than this unit's packages expect").quiet(),
	entry(UnknownText, Info, Database, "ovsdb-server reports a text that this charm does not know: {value}").quiet(),
	entry(FewMembers, Info, Database, "cluster of {count}: {tolerance} may fail").quiet(),
	entry(StopUnsafe, Error, Unit, "{name} can't be stopped now"),
	entry(RemovalUnsafe, Error, Unit, "{name} can't be removed now"),
	entry(NotPublished, Info, Unit, "{name} has published no identity of its server").quiet(),
	entry(IdentityOutdated, Info, Unit, "{name} publishes {member}, which is no longer a member").quiet(),
	entry(PublishedDamaged, Info, Unit, "{name} has published data that can't be read").quiet(),
	entry(JujuUnread, Info, Application, "Juju could not be asked").quiet(),
}
