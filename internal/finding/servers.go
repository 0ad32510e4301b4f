package finding

import "time"

// Codes about the machine of a unit.
const (
	PublishedDataInvalid Code = "PUBLISHED_DATA_INVALID"
	DiskFull             Code = "DISK_FULL"
)

var machineEntries = []Entry{
	entry(PublishedDataInvalid, Error, Application, "the data that name the application's clusters can't be used",
		"The relation data in which the application's clusters are named can't be used. The charm changes nothing "+
			"while that is so.",
		"Something else has written these data. Compare them with docs/reference/relation-data.md, and restore them "+
			"from a unit that still has them."),
	entry(DiskFull, Error, Unit, "no space left on the disk of {value}",
		"A server that can't write gives up its database, or keeps running on a file that lacks entries.",
		"Make space on the disk. The next hook then repairs what can be repaired.").alert(time.Minute),
}

// Codes about a server of this unit, or its file.
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
	entry(FileLacksEntries, Error, Database, "the file lacks entries of its log; don't stop the server",
		"A write has failed. The server still has the entries in memory, but no server could start on its file.",
		"Make space: the charm then has the server write its file again. If that is impossible, put another unit in "+
			"this one's place.").alert(time.Minute),
	entry(FileUnusable, Error, Database, "its file lacks entries",
		"A write has failed, and then the server was stopped or the machine lost power. No server can start on the "+
			"file.", rejoins).alert(time.Minute),
	entry(FileCutOff, Error, Database, "its file ends in the middle of a removal",
		"The machine lost power while this unit's server was being removed from the cluster. The others may still "+
			"count its vote.", rejoins).alert(time.Minute),
	entry(FileUnreadable, Error, Database, "its file can't be read",
		"The file is damaged, or the charm may not read it.",
		rejoins+" If no other unit has the database, bring the file back from a backup.").alert(time.Minute),
	entry(FileTooNew, Error, Database, "file of a newer Open vSwitch than {version}",
		"A newer server has converted the database. Each hook looks for newer packages and then starts the server.",
		"Make the newer packages available to this machine: check its sources and the option "+
			"`source`.").alert(time.Minute),
	entry(FileOfOtherCluster, Error, Database, "file of cluster {cluster}, not {other}",
		"The file in the database's place belongs to another cluster than the application's.",
		"Move the file away. The unit then joins the application's cluster."),
	entry(FileMadeElsewhere, Error, Database, "file of cluster {cluster}, made elsewhere (no cluster here yet)",
		"The machine had a database before this application was deployed.",
		"If nothing needs the data, stop the server and move the file away."),
	entry(DatabaseStandalone, Error, Database, "standalone database, of no cluster",
		"The file in the database's place was not made by this charm.", "Stop the service and move the file away."),
	entry(DataDiffer, Error, Database, "its data differ from the cluster's",
		"The server votes and counts as up, but could not apply an entry of its log and left it out. A restart "+
			"doesn't repair that. The charm sends no client to this unit.", rejoins).alert(time.Minute),
	entry(ServerOfOtherCluster, Error, Database,
		"this unit's server is of cluster {cluster}, the application's is {other}",
		"Two clusters serve one application, and this unit's is not the one that the application has agreed on.",
		"Decide which cluster's data are right (docs/how-to/recover-quorum.md), then remove the units of the other "+
			"cluster."),
	entry(ServerHangs, Error, Database, "the server hangs",
		"The server did not answer within 5 s, plus one second for each 4 MiB of its file.",
		"Look at its log, its disk and its load. If this lasts, restart it with the printed "+
			"command.").alert(time.Minute),
	entry(ServerFailed, Error, Database, "the server has given up the database", "The server could not write.",
		"Make space on the disk. Each hook restarts the service until it can write.").alert(time.Minute),
	entry(ServerUnreadable, Error, Database, "the server can't be asked",
		"The server's socket or its file could not be read, or its answer could not be understood.",
		"Follow the details. Until the server answers, nothing is known about this member.").alert(5 * time.Minute),
	entry(ServerRemoved, Waiting, Database, "this unit's server was removed; it joins again as a new member",
		"The server was kicked, or has left, or belonged to a unit that had this machine before. Its file is "+
			"renamed, never deleted.", ""),
	entry(ServerStarting, Waiting, Database, "the server is starting",
		"systemd has started the server, which reads its file before it opens its control socket.",
		"If this lasts, look at the service's state and log.").alert(5 * time.Minute),
	entry(ServerDown, Waiting, Database, "the server is not running",
		"The charm starts the server in this hook or the next one. The details say what keeps it from starting.",
		"If this lasts, look at the service's log."),
	entry(ServerJoining, Waiting, Database, "joining the cluster; {count} of {total} units joined",
		"The server gets the database from the leader.",
		"Nothing. It takes longer for large databases.").alert(15 * time.Minute),
	entry(ServerLeaving, Waiting, Database, "leaving the cluster",
		"A leave has begun. It ends by itself, or `stop` continues to wait for it.", "").alert(15 * time.Minute),
	entry(ConversionLacksRoom, Error, Database, "no room to convert the schema",
		"There may be too little disk or memory for the conversion. Each member converts its own copy. Until then "+
			"the database works with the older schema.", "Make room, or compact the file."),
	entry(ConversionFailed, Error, Database, "not converted at an election timer of {duration}",
		"The charm tried the conversion with longer and longer election timers; this is the longest. The database "+
			"works with the older schema.",
		"Run the printed command when clients may wait (docs/how-to/upgrade-ovn.md)."),
}

// noteEntries come last: the unit works.
var noteEntries = []Entry{
	entry(AddressChanged, Warning, Database, "address changed: the member is at {address}, the unit at {other}",
		"Since the unit joined, its machine has lost the member's address, or Juju offers another one. A member "+
			"can't change its address.", "Add a unit, and then remove this one."),
	entry(ListenerWithoutTLS, Warning, Database, "a listener has no TLS: {value}",
		"A row of `Connection` has all members listen without TLS, or connect to another machine without it: "+
			"everything that reaches the port may do everything. The charm does not remove rows that it did not make.",
		"Find out which clients need it and have them use TLS. Then remove it with the printed command."),
	entry(RolesNotEnforced, Warning, Database, "roles are not enforced",
		"Until the server is restarted, chassis may write everything. This happens only after the Python charm, with "+
			"Open vSwitch before 3.3, which wrote the role after the server had opened the port.",
		"Restart the server with the printed command."),
	entry(SchemaOlder, Info, Database, "older schema",
		"The database's schema is older than the packages'. A database is converted for all members at once, when "+
			"every unit runs the new packages.", "The details say what the conversion waits for."),
	entry(ElectionTimerChanges, Info, Database, "election timer is {milliseconds} ms, changing to {value}",
		"The timer changes in steps.", ""),
}
