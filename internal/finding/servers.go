package finding

import "time"

// Codes about the machine of a unit.
const (
	PublishedDataInvalid Code = "PUBLISHED_DATA_INVALID"
	DiskFull             Code = "DISK_FULL"
)

var machineEntries = []Entry{
	entry(PublishedDataInvalid, Error, Application, "the data that name the application's clusters can't be used"),
	entry(DiskFull, Error, Unit, "no space left on the disk of {value}").alert(time.Minute),
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

var serverEntries = []Entry{
	entry(FileLacksEntries, Error, Database,
		"the file lacks entries of its log; don't stop the server").alert(time.Minute),
	entry(FileUnusable, Error, Database, "its file lacks entries").alert(time.Minute),
	entry(FileCutOff, Error, Database, "its file ends in the middle of a removal").alert(time.Minute),
	entry(FileUnreadable, Error, Database, "its file can't be read").alert(time.Minute),
	entry(FileTooNew, Error, Database, "file of a newer Open vSwitch than {version}").alert(time.Minute),
	entry(FileOfOtherCluster, Error, Database, "file of cluster {cluster}, not {other}"),
	entry(FileMadeElsewhere, Error, Database, "file of cluster {cluster}, made elsewhere (no cluster here yet)"),
	entry(DatabaseStandalone, Error, Database, "standalone database, of no cluster"),
	entry(DataDiffer, Error, Database, "its data differ from the cluster's").alert(time.Minute),
	entry(ServerOfOtherCluster, Error, Database,
		"this unit's server is of cluster {cluster}, the application's is {other}"),
	entry(ServerHangs, Error, Database, "the server hangs").alert(time.Minute),
	entry(ServerFailed, Error, Database, "the server has given up the database").alert(time.Minute),
	entry(ServerUnreadable, Error, Database, "the server can't be asked").alert(5 * time.Minute),
	entry(ServerRemoved, Waiting, Database, "this unit's server was removed; it joins again as a new member"),
	entry(ServerStarting, Waiting, Database, "the server is starting").alert(5 * time.Minute),
	entry(ServerDown, Waiting, Database, "the server is not running").alert(5 * time.Minute),
	entry(ServerJoining, Waiting, Database,
		"joining the cluster; {count} of {total} units joined").alert(15 * time.Minute),
	entry(ServerLeaving, Waiting, Database, "leaving the cluster").alert(15 * time.Minute),
	entry(ConversionLacksRoom, Error, Database, "no room to convert the schema"),
	entry(ConversionFailed, Error, Database, "not converted at an election timer of {duration}"),
}

// noteEntries come last: the unit works.
var noteEntries = []Entry{
	entry(AddressChanged, Warning, Database, "address changed: the member is at {address}, the unit at {other}"),
	entry(ListenerWithoutTLS, Warning, Database, "a listener has no TLS: {value}"),
	entry(RolesNotEnforced, Warning, Database, "roles are not enforced"),
	entry(SchemaOlder, Info, Database, "older schema"),
	entry(ElectionTimerChanges, Info, Database, "election timer is {milliseconds} ms, changing to {value}"),
}
