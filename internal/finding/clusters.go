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
	entry(NoQuorum, Error, Database, "no quorum",
		"No majority of the members works together: nothing can be written. A majority is down, or this unit is cut "+
			"off.",
		"The printed command changes nothing and says which. Start the members that don't answer; if they are lost "+
			"for good, recover (docs/how-to/recover-quorum.md)."),
	entry(ClusterLost, Error, Database, "no unit has cluster {cluster}",
		"No unit of the application has a copy of its database.",
		"Look at cluster-status of each unit. If none shows the cluster, restore a backup on a new "+
			"application.").alert(time.Minute),
	entry(TwoClusters, Error, Database, "two clusters under one application",
		"Units of one application serve different clusters of the same database.",
		"Decide which cluster's data are right, then remove the units of the other cluster."),
	entry(ClusterElsewhere, Error, Database, "{unit} is in another cluster, {cluster}; this unit's is {other}",
		"Two clusters serve one application. Until one of them is gone, no member is called stale and no kick is "+
			"advised.",
		"docs/how-to/recover-quorum.md says how the units of the old cluster join the new one.").alert(time.Minute),
	entry(CopyGivenUp, Waiting, Database, "its copy is of a cluster given up in a recovery; it joins the new one",
		"The file is renamed, never deleted.", ""),
	entry(OldClusterServed, Waiting, Database, "the old cluster is still served at {address}",
		"This unit's server starts once that server is stopped. Its unit stops it in its next hook.",
		"If no hook runs there, stop the server or power off its machine.").alert(5 * time.Minute),
	entry(ClusterAwaited, Waiting, Database, "waiting for {unit} to serve cluster {cluster}",
		"This unit joins once another unit serves the cluster.",
		"Nothing, if that unit is being set up. Otherwise look at its status.").alert(15 * time.Minute),
	entry(ClustersAwaited, Waiting, Application, "peers: {reason}",
		"The application has not agreed on its clusters yet.",
		"Nothing. If it lasts, look at the status of the leader unit.").alert(15 * time.Minute),
	entry(ClaimContested, Waiting, Application, "peers: {unit} has claimed clusters too; {reason}",
		"Two units have led the application for a moment, and both have made clusters. Only one pair is served.",
		"").alert(15 * time.Minute),
	entry(CutOff, Waiting, Database, "this unit's server hears no leader, {count} of {total} members do",
		"The cluster works, and this unit is cut off from it.",
		"Open the port of this unit's machine."),
	entry(Electing, Waiting, Database, "a leader is being elected; {count} of {total} members answer",
		"An election takes one or two election timers.", "").alert(time.Minute),
	entry(PeersUnknown, Waiting, Database, "this unit's server hears no leader; the other units are not known yet",
		"Juju has not told this unit about the others. Its server may belong to no cluster of the application.",
		"Nothing. If it lasts, look at the relation ovsdb-peer.").alert(5 * time.Minute),
	entry(MajorityUnseen, Waiting, Database, "a leader is known, but this unit sees only {count} of {total} members up",
		"The cluster works. This unit can't reach the others: their client ports are closed to it, or its "+
			"certificate is missing. Until it can, it can neither leave nor kick.",
		"Open the client ports between the units.").alert(5 * time.Minute),
	entry(ReplacesItself, Warning, Database, "the database names its own cluster as replaced (ignored)",
		"The list of replaced clusters in the database means nothing if it names the cluster that is served.",
		"Remove the list with the printed command; the charm writes again what belongs there."),
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
	entry(LeaveBlocked, Warning, Unit, "{name} waits to leave",
		"Its hook `stop` is refused (it would break a quorum), or it is down. Juju shows only a failed hook.",
		"Start the machine that is down. If it is lost for good, run the printed command. Juju then retries the "+
			"hook; if it doesn't, run `juju resolved`.").alert(time.Minute),
	entry(LeaveWaits, Info, Unit, "{name} waits to leave: {unit} is changing the membership",
		"Another unit holds the lock of a database; its turn ends by itself.", ""),
	entry(NotInNewCluster, Warning, Unit, "{name} has not joined the new cluster yet",
		"After a recovery, each unit joins the new cluster in its next hooks, once it is back.",
		"Start its machine. If it is lost for good, remove the unit by force.").alert(15 * time.Minute),
	entry(StaleMember, Warning, Member, "stale member {name}",
		"A member belongs to no unit of the model. It counts for the majority, and no unit needs its copy.",
		"Kick it with the printed command (docs/how-to/kick-a-stale-member.md). If its machine is on, power it off "+
			"first, unless the printed command has force=true: then the quorum needs the member until it is "+
			"kicked.").alert(5 * time.Minute),
	entry(MemberDown, Warning, Member, "{name} is down",
		"A member is down whose unit is in the model, so fewer others may fail.",
		"Start its machine. If it is lost for good, remove the unit by force, kick what it leaves behind, and add a "+
			"unit.").alert(5 * time.Minute),
	entry(PortsClosed, Warning, Unit, "{units} can't reach {name} at {value}",
		"The server of that unit runs and has a leader, but doesn't count: others must be able to connect to it.",
		"Open the ports of its machine (docs/reference/ports.md).").alert(5 * time.Minute),
	entry(WrongDatabase, Warning, Member, "{name} is a server of {value}: it votes here and holds nothing",
		"ovsdb-server lets a server of the other database join.", "Kick it.").quiet(),
	entry(SameAddress, Warning, Member, "two members have the address {address}: {name}",
		"One of them is what a former server at that address has left behind.", "Kick the one that is down.").quiet(),
	entry(FileOvergrown, Warning, Database, "the file has grown to {value}: its server does not compact it",
		"ovsdb-server compacts a file when it has doubled, from 10 MB on.",
		"Compact it with the printed command, and look at the server's log.").quiet(),
	entry(ServerSilent, Warning, Database, "the server was silent for {value}, the election timer is {duration}",
		"A leader that is silent for as long as the election timer loses the leadership.",
		"If it happens again, raise the timer with the printed command.").quiet(),
	entry(SchemaNewer, Warning, Database, "schema {version} is newer than this unit's packages expect",
		"This unit's packages are older than another unit's.",
		"Make the newer packages available to this machine.").quiet(),
	entry(UnknownText, Info, Database, "ovsdb-server reports a text that this charm does not know: {value}",
		"A newer Open vSwitch prints more than this charm reads.", "Report it.").quiet(),
	entry(FewMembers, Info, Database, "cluster of {count}: {tolerance} may fail",
		"A cluster of fewer than three members tolerates no failure, and one of four members no more than one of "+
			"three.", "Add a unit.").quiet(),
	entry(StopUnsafe, Error, Unit, "{name} can't be stopped now",
		"The answer of ok-to-stop: while the unit's servers were down, a database would have no majority, or "+
			"something else is under way.", "Type what is printed, and ask again."),
	entry(RemovalUnsafe, Error, Unit, "{name} can't be removed now",
		"The answer of ok-to-remove: the unit's leave would be refused, or the unit is down and can't leave, and "+
			"`juju remove-unit` would wait.",
		"Type what is printed, and ask again."),
	entry(NotPublished, Info, Unit, "{name} has published no identity of its server",
		"A unit has published nothing about its servers yet. Until it has, no member is called stale.",
		"Nothing, if it is being set up.").quiet(),
	entry(IdentityOutdated, Info, Unit, "{name} publishes {member}, which is no longer a member",
		"The unit's server was removed, and its next hook joins again. Until it has, no member is called stale.",
		"").quiet(),
	entry(PublishedDamaged, Info, Unit, "{name} has published data that can't be read",
		"What a unit, or the application, has on the peer relation is malformed, and left out.",
		"Something else has written these data. Compare them with docs/reference/relation-data.md.").quiet(),
	entry(JujuUnread, Info, Application, "Juju could not be asked",
		"A call of Juju has failed. What is remembered takes the place of its answer.", "Ask again.").quiet(),
}
