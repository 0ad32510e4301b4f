package finding

import "time"

// What concerns the application's clusters.
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
	{
		Code: NoQuorum, Severity: Error, Kind: Database, For: time.Minute,
		Line: "no quorum",
		Meaning: "No majority of the members works together: nothing can be written. " +
			"A majority is down, or this unit is cut off.",
		Do: "The printed command changes nothing and says which. Start the members that don't answer; " +
			"if they are lost for good, recover (docs/how-to/recover-quorum.md).",
	},
	{
		Code: ClusterLost, Severity: Error, Kind: Database, For: time.Minute,
		Line:    "no unit has cluster {cluster}",
		Meaning: "No unit of the application has a copy of its database.",
		Do:      "Look at cluster-status of each unit. If none shows the cluster, restore a backup on a new application.",
	},
	{
		Code: TwoClusters, Severity: Error, Kind: Database, For: time.Minute,
		Line:    "two clusters under one application",
		Meaning: "Units of one application serve different clusters of the same database.",
		Do:      "Decide which cluster's data are right, then remove the units of the other cluster.",
	},
	{
		Code: ClusterElsewhere, Severity: Error, Kind: Database, For: time.Minute,
		Line: "{unit} is in another cluster, {cluster}; this unit's is {other}",
		Meaning: "Two clusters serve one application. Until one of them is gone, " +
			"no member is called stale and no kick is advised.",
		Do: "docs/how-to/recover-quorum.md says how the units of the old cluster join the new one.",
	},
	{
		Code: CopyGivenUp, Severity: Waiting, Kind: Database,
		Line:    "its copy is of a cluster given up in a recovery; it joins the new one",
		Meaning: "The file is renamed, never deleted.",
		Do:      "Nothing.",
	},
	{
		Code: OldClusterServed, Severity: Waiting, Kind: Database, For: 5 * time.Minute,
		Line:    "the old cluster is still served at {address}",
		Meaning: "This unit's server starts once that server is stopped. Its unit stops it in its next hook.",
		Do:      "If no hook runs there, stop the server or power off its machine.",
	},
	{
		Code: ClusterAwaited, Severity: Waiting, Kind: Database, For: 15 * time.Minute,
		Line:    "waiting for {unit} to serve cluster {cluster}",
		Meaning: "This unit joins once another unit serves the cluster.",
		Do:      "Nothing, if that unit is being set up. Otherwise look at its status.",
	},
	{
		Code: ClustersAwaited, Severity: Waiting, Kind: Application, For: 15 * time.Minute,
		Line:    "peers: {value}",
		Meaning: "The application has not agreed on its clusters yet.",
		Do:      "Nothing. If it lasts, look at the status of the leader unit.",
	},
	{
		Code: ClaimContested, Severity: Waiting, Kind: Application, For: 15 * time.Minute,
		Line:    "peers: {unit} has claimed clusters too; {value}",
		Meaning: "Two units have led the application for a moment, and both have made clusters. Only one pair is served.",
		Do:      "Nothing.",
	},
	{
		Code: CutOff, Severity: Waiting, Kind: Database, For: time.Minute,
		Line:    "this unit's server hears no leader, {count} of {total} members do",
		Meaning: "The cluster works, and this unit is cut off from it.",
		Do:      "Open the port of this unit's machine.",
	},
	{
		Code: Electing, Severity: Waiting, Kind: Database, For: time.Minute,
		Line:    "a leader is being elected; {count} of {total} members answer",
		Meaning: "An election takes one or two election timers.",
		Do:      "Nothing.",
	},
	{
		Code: PeersUnknown, Severity: Waiting, Kind: Database, For: 5 * time.Minute,
		Line:    "this unit's server hears no leader; the other units are not known yet",
		Meaning: "Juju has not told this unit about the others. Its server may belong to no cluster of the application.",
		Do:      "Nothing. If it lasts, look at the relation ovsdb-peer.",
	},
	{
		Code: MajorityUnseen, Severity: Waiting, Kind: Database, For: 5 * time.Minute,
		Line: "a leader is known, but this unit sees only {count} of {total} members up",
		Meaning: "The cluster works. This unit can't reach the others: their client ports are closed to it, " +
			"or its certificate is missing. Until it can, it can neither leave nor kick.",
		Do: "Open the client ports between the units.",
	},
	{
		Code: ReplacesItself, Severity: Warning, Kind: Database,
		Line:    "the database names its own cluster as replaced (ignored)",
		Meaning: "The list of replaced clusters in the database means nothing if it names the cluster that is served.",
		Do:      "Remove the list with the printed command; the charm writes again what belongs there.",
	},
}

// What concerns members, most of them other units'.
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
	{
		Code: LeaveBlocked, Severity: Warning, Kind: Unit, For: time.Minute,
		Line: "{name} waits to leave",
		Meaning: "The `stop` hook of that unit is refused: leaving would break a quorum. " +
			"Juju itself shows only that a hook failed.",
		Do: "Start the machine that is down. If it is lost for good, run the printed command. " +
			"Juju then retries the hook; if it doesn't, run `juju resolved`.",
	},
	{
		Code: LeaveWaits, Severity: Info, Kind: Unit,
		Line:    "{name} waits to leave: {unit} is changing the membership",
		Meaning: "Another unit holds the lock of a database; its turn ends by itself.",
		Do:      "Nothing.",
	},
	{
		Code: NotInNewCluster, Severity: Warning, Kind: Unit, For: 15 * time.Minute,
		Line:    "{name} has not joined the new cluster yet",
		Meaning: "After a recovery, each unit joins the new cluster in its next hooks, once it is back.",
		Do:      "Start its machine. If it is lost for good, remove the unit by force.",
	},
	{
		Code: StaleMember, Severity: Warning, Kind: Member, For: 5 * time.Minute,
		Line:    "stale member {name}",
		Meaning: "A member belongs to no unit of the model. It counts for the majority, and no unit needs its copy.",
		Do: "Kick it with the printed command (docs/how-to/kick-a-stale-member.md). " +
			"If its machine is on, power it off first, unless the printed command has force=true: " +
			"then the quorum needs the member until it is kicked.",
	},
	{
		Code: MemberDown, Severity: Warning, Kind: Member, For: 5 * time.Minute,
		Line:    "{name} is down",
		Meaning: "A member is down whose unit is in the model, so fewer others may fail.",
		Do: "Start its machine. If it is lost for good, remove the unit by force, kick what it leaves " +
			"behind, and add a unit.",
	},
	{
		Code: PortsClosed, Severity: Warning, Kind: Unit, For: 5 * time.Minute,
		Line:    "{units} can't reach {name} at {value}",
		Meaning: "The server of that unit runs and has a leader, but doesn't count: others must be able to connect to it.",
		Do:      "Open the ports of its machine (docs/reference/ports.md).",
	},
	{
		Code: WrongDatabase, Severity: Warning, Kind: Member, Quiet: true,
		Line:    "{name} is a server of {value}: it votes here and holds nothing",
		Meaning: "ovsdb-server lets a server of the other database join.",
		Do:      "Kick it.",
	},
	{
		Code: SameAddress, Severity: Warning, Kind: Member, Quiet: true,
		Line:    "two members have the address {address}: {name}",
		Meaning: "One of them is what a former server at that address has left behind.",
		Do:      "Kick the one that is down.",
	},
	{
		Code: FileOvergrown, Severity: Warning, Kind: Database, Quiet: true,
		Line:    "the file has grown to {value}: its server does not compact it",
		Meaning: "ovsdb-server compacts a file when it has doubled, from 10 MB on.",
		Do:      "Compact it with the printed command, and look at the server's log.",
	},
	{
		Code: ServerSilent, Severity: Warning, Kind: Database, Quiet: true,
		Line:    "the server was silent for {value}, the election timer is {duration}",
		Meaning: "A leader that is silent for as long as the election timer loses the leadership.",
		Do:      "If it happens again, raise the timer with the printed command.",
	},
	{
		Code: SchemaNewer, Severity: Warning, Kind: Database, Quiet: true,
		Line:    "schema {version} is newer than this unit's packages expect",
		Meaning: "This unit's packages are older than another unit's.",
		Do:      "Make the newer packages available to this machine.",
	},
	{
		Code: UnknownText, Severity: Info, Kind: Database, Quiet: true,
		Line:    "ovsdb-server reports a text that this charm does not know: {value}",
		Meaning: "A newer Open vSwitch prints more than this charm reads.",
		Do:      "Report it.",
	},
	{
		Code: FewMembers, Severity: Info, Kind: Database, Quiet: true,
		Line: "cluster of {count}: {total} may fail",
		Meaning: "A cluster of fewer than three members tolerates no failure, and one of four members no " +
			"more than one of three.",
		Do: "Add a unit.",
	},
	{
		Code: StopUnsafe, Severity: Error, Kind: Unit,
		Line: "{name} can't be stopped now",
		Meaning: "The answer of ok-to-stop: while the unit's servers were down, a database would have no majority, " +
			"or something else is under way.",
		Do: "Do what is printed, and ask again.",
	},
	{
		Code: RemovalUnsafe, Severity: Error, Kind: Unit,
		Line:    "{name} can't be removed now",
		Meaning: "The answer of ok-to-remove: the unit's leave would be refused, and `juju remove-unit` would wait.",
		Do:      "Do what is printed, and ask again.",
	},
	{
		Code: NotPublished, Severity: Info, Kind: Unit, Quiet: true,
		Line:    "{name} has published no identity of its server",
		Meaning: "A unit has published nothing about its servers yet. Until it has, no member is called stale.",
		Do:      "Nothing, if it is being set up.",
	},
	{
		Code: IdentityOutdated, Severity: Info, Kind: Unit, Quiet: true,
		Line:    "{name} publishes {member}, which is no longer a member",
		Meaning: "The unit's server was removed, and its next hook joins again. Until it has, no member is called stale.",
		Do:      "Nothing.",
	},
	{
		Code: PublishedDamaged, Severity: Info, Kind: Unit, Quiet: true,
		Line:    "{name} has published data that can't be read",
		Meaning: "What a unit, or the application, has on the peer relation is malformed, and left out.",
		Do:      "Something else has written these data. Compare them with docs/reference/relation-data.md.",
	},
	{
		Code: JujuUnread, Severity: Info, Kind: Application, Quiet: true,
		Line:    "Juju could not be asked",
		Meaning: "A call of Juju has failed. What is remembered takes the place of its answer.",
		Do:      "Ask again.",
	},
}
