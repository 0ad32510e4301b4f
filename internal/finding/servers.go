package finding

import "time"

// What concerns the machine of a unit before all else.
const (
	PublishedDataInvalid Code = "PUBLISHED_DATA_INVALID"
	DiskFull             Code = "DISK_FULL"
)

var machineEntries = []Entry{
	{
		Code: PublishedDataInvalid, Severity: Error, Kind: Application,
		Line: "the data that name the application's clusters can't be used",
		Meaning: "The relation data in which the application's clusters are named can't be used. " +
			"The charm changes nothing while that is so.",
		Do: "Something else has written these data. Compare them with docs/reference/relation-data.md, " +
			"and restore them from a unit that still has them.",
	},
	{
		Code: DiskFull, Severity: Error, Kind: Unit, For: time.Minute,
		Line:    "no space left on the disk of {value}",
		Meaning: "A server that can't write gives up its database, or keeps running on a file that lacks entries.",
		Do:      "Make space on the disk. The next hook then repairs what can be repaired.",
	},
}

// What concerns a server of this unit, or its file.
const (
	FileLacksEntries     Code = "FILE_LACKS_ENTRIES"
	FileUnusable         Code = "FILE_UNUSABLE"
	FileCutOff           Code = "FILE_CUT_OFF"
	FileUnreadable       Code = "FILE_UNREADABLE"
	FileTooNew           Code = "FILE_TOO_NEW"
	FileOfOtherCluster   Code = "FILE_OF_OTHER_CLUSTER"
	FileMadeElsewhere    Code = "FILE_MADE_ELSEWHERE"
	DatabaseStandalone   Code = "DATABASE_STANDALONE"
	DataDiffer           Code = "DATA_DIFFER"
	ServerOfOtherCluster Code = "SERVER_OF_OTHER_CLUSTER"
	ServerHangs          Code = "SERVER_HANGS"
	ServerFailed         Code = "SERVER_FAILED"
	ServerUnreadable     Code = "SERVER_UNREADABLE"
	ServerStarting       Code = "SERVER_STARTING"
	ServerDown           Code = "SERVER_DOWN"
	ServerRemoved        Code = "SERVER_REMOVED"
	ServerJoining        Code = "SERVER_JOINING"
	ServerLeaving        Code = "SERVER_LEAVING"
	AddressChanged       Code = "ADDRESS_CHANGED"
	ConversionLacksRoom  Code = "CONVERSION_LACKS_ROOM"
	ConversionFailed     Code = "CONVERSION_FAILED"
	SchemaOlder          Code = "SCHEMA_OLDER"
	RolesNotEnforced     Code = "ROLES_NOT_ENFORCED"
	ListenerWithoutTLS   Code = "LISTENER_WITHOUT_TLS"
	ElectionTimerChanges Code = "ELECTION_TIMER_CHANGES"
)

const rejoins = "Run the printed command. The unit that leads removes the old member by the rules of a kick; " +
	"this unit then puts the file away and joins again."

var serverEntries = []Entry{
	{
		Code: FileLacksEntries, Severity: Error, Kind: Database, For: time.Minute,
		Line:    "the file lacks entries of its log; don't stop the server",
		Meaning: "A write has failed. The server still has the entries in memory, but no server could start on its file.",
		Do: "Make space: the charm then has the server write its file again. " +
			"If that is impossible, put another unit in this one's place.",
	},
	{
		Code: FileUnusable, Severity: Error, Kind: Database, For: time.Minute,
		Line: "its file lacks entries",
		Meaning: "A write has failed, and then the server was stopped or the machine lost power. " +
			"No server can start on the file.",
		Do: rejoins,
	},
	{
		Code: FileCutOff, Severity: Error, Kind: Database, For: time.Minute,
		Line: "its file ends in the middle of a removal",
		Meaning: "The machine lost power while this unit's server was being removed from the cluster. " +
			"The others may still count its vote.",
		Do: rejoins,
	},
	{
		Code: FileUnreadable, Severity: Error, Kind: Database, For: time.Minute,
		Line:    "its file can't be read",
		Meaning: "The file is damaged, or the charm may not read it.",
		Do:      rejoins + " If no other unit has the database, bring the file back from a backup.",
	},
	{
		Code: FileTooNew, Severity: Error, Kind: Database, For: time.Minute,
		Line:    "file of a newer Open vSwitch than {version}",
		Meaning: "A newer server has converted the database. Each hook looks for newer packages and then starts the server.",
		Do:      "Make the newer packages available to this machine: check its sources and the option `source`.",
	},
	{
		Code: FileOfOtherCluster, Severity: Error, Kind: Database,
		Line:    "file of cluster {cluster}, not {other}",
		Meaning: "The file in the database's place belongs to another cluster than the application's.",
		Do:      "Move the file away. The unit then joins the application's cluster.",
	},
	{
		Code: FileMadeElsewhere, Severity: Error, Kind: Database,
		Line:    "file of cluster {cluster}, made elsewhere (no cluster here yet)",
		Meaning: "The machine had a database before this application was deployed.",
		Do:      "If nothing needs the data, stop the server and move the file away.",
	},
	{
		Code: DatabaseStandalone, Severity: Error, Kind: Database,
		Line:    "standalone database, of no cluster",
		Meaning: "The file in the database's place was not made by this charm.",
		Do:      "Stop the service and move the file away.",
	},
	{
		Code: DataDiffer, Severity: Error, Kind: Database, For: time.Minute,
		Line: "its data differ from the cluster's",
		Meaning: "The server votes and counts as up, but could not apply an entry of its log and left it out. " +
			"A restart doesn't repair that. The charm sends no client to this unit.",
		Do: rejoins,
	},
	{
		Code: ServerOfOtherCluster, Severity: Error, Kind: Database,
		Line:    "this unit's server is of cluster {cluster}, the application's is {other}",
		Meaning: "Two clusters serve one application, and this unit's is not the one that the application has agreed on.",
		Do: "Decide which cluster's data are right (docs/how-to/recover-quorum.md), " +
			"then remove the units of the other cluster.",
	},
	{
		Code: ServerHangs, Severity: Error, Kind: Database, For: time.Minute,
		Line:    "the server hangs",
		Meaning: "The server did not answer within 5 s, plus one second for each 4 MiB of its file.",
		Do:      "Look at its log, its disk and its load. If this lasts, restart it with the printed command.",
	},
	{
		Code: ServerFailed, Severity: Error, Kind: Database, For: time.Minute,
		Line:    "the server has given up the database",
		Meaning: "The server could not write.",
		Do:      "Make space on the disk. Each hook restarts the service until it can write.",
	},
	{
		Code: ServerUnreadable, Severity: Error, Kind: Database, For: 5 * time.Minute,
		Line:    "the server can't be asked",
		Meaning: "The server's socket or its file could not be read, or its answer could not be understood.",
		Do:      "Follow the details. Until the server answers, nothing is known about this member.",
	},
	{
		Code: ServerRemoved, Severity: Waiting, Kind: Database,
		Line: "this unit's server was removed; it joins again as a new member",
		Meaning: "The server was kicked, or has left, or belonged to a unit that had this machine before. " +
			"Its file is renamed, never deleted.",
		Do: "Nothing.",
	},
	{
		Code: ServerStarting, Severity: Waiting, Kind: Database, For: 5 * time.Minute,
		Line:    "the server is starting",
		Meaning: "systemd has started the server, which reads its file before it opens its control socket.",
		Do:      "If this lasts, look at the service's state and log.",
	},
	{
		Code: ServerDown, Severity: Waiting, Kind: Database, For: 5 * time.Minute,
		Line:    "the server is not running",
		Meaning: "The charm starts the server in this hook or the next one. The details say what keeps it from starting.",
		Do:      "If this lasts, look at the service's log.",
	},
	{
		Code: ServerJoining, Severity: Waiting, Kind: Database, For: 15 * time.Minute,
		Line:    "joining the cluster; {count} of {total} units joined",
		Meaning: "The server gets the database from the leader.",
		Do:      "Nothing. It takes longer for large databases.",
	},
	{
		Code: ServerLeaving, Severity: Waiting, Kind: Database, For: 15 * time.Minute,
		Line:    "leaving the cluster",
		Meaning: "A leave has begun. It ends by itself, or `stop` continues to wait for it.",
		Do:      "Nothing.",
	},
	{
		Code: ConversionLacksRoom, Severity: Error, Kind: Database,
		Line: "no room to convert the schema",
		Meaning: "There may be too little disk or memory for the conversion. Each member converts its own copy. " +
			"Until then the database works with the older schema.",
		Do: "Make room, or compact the file.",
	},
	{
		Code: ConversionFailed, Severity: Error, Kind: Database,
		Line: "not converted at an election timer of {duration}",
		Meaning: "The charm tried the conversion with longer and longer election timers; this is the longest. " +
			"The database works with the older schema.",
		Do: "Run the printed command when clients may wait (docs/how-to/upgrade-ovn.md).",
	},
}

// noteEntries are what is said last of a unit that works.
var noteEntries = []Entry{
	{
		Code: AddressChanged, Severity: Warning, Kind: Database,
		Line: "address changed: the member is at {address}, the unit at {other}",
		Meaning: "Since the unit joined, its machine has lost the member's address, or Juju offers another one. " +
			"A member can't change its address.",
		Do: "Add a unit, and then remove this one.",
	},
	{
		Code: ListenerWithoutTLS, Severity: Warning, Kind: Database,
		Line: "a listener has no TLS: {value}",
		Meaning: "A row of `Connection` has all members listen without TLS, or connect to another machine without it: " +
			"everything that reaches the port may do everything. The charm does not remove rows that it did not make.",
		Do: "Find out which clients need it and have them use TLS. Then remove it with the printed command.",
	},
	{
		Code: RolesNotEnforced, Severity: Warning, Kind: Database,
		Line: "roles are not enforced",
		Meaning: "Until the server is restarted, chassis may write everything. This happens only after the Python charm, " +
			"with Open vSwitch before 3.3, which wrote the role after the server had opened the port.",
		Do: "Restart the server with the printed command.",
	},
	{
		Code: SchemaOlder, Severity: Info, Kind: Database,
		Line: "older schema",
		Meaning: "The database's schema is older than the packages'. A database is converted for all members at once, " +
			"when every unit runs the new packages.",
		Do: "The details say what the conversion waits for.",
	},
	{
		Code: ElectionTimerChanges, Severity: Info, Kind: Database,
		Line:    "election timer is {milliseconds} ms, changing to {value}",
		Meaning: "The timer changes in steps.",
		Do:      "Nothing.",
	},
}
