package finding

// Reasons why a member counts as down, and facts about it.
const (
	MemberLeaderless   ReasonCode = "HAS_NO_LEADER"
	MemberStopping     ReasonCode = "IS_STOPPED"
	MemberLostEntries  ReasonCode = "LOST_ENTRIES"
	MemberDiskFull     ReasonCode = "HAS_FULL_DISK"
	MemberUnheard      ReasonCode = "NEVER_HEARD"
	MemberSilent       ReasonCode = "MEMBER_SILENT"
	MemberDisconnected ReasonCode = "CONNECTION_GONE"
	MemberBehind       ReasonCode = "ENTRIES_BEHIND"
	MemberUnconnected  ReasonCode = "NOT_CONNECTED"
	MemberUnanswering  ReasonCode = "NO_ANSWER"
	MemberElsewhere    ReasonCode = "OF_OTHER_CLUSTER"
	MemberCutOff       ReasonCode = "REPORTS_CUT_OFF"
	MemberApart        ReasonCode = "APART_FROM_MAJORITY"
	MemberUnreached    ReasonCode = "CANNOT_BE_REACHED"
	MemberUnreaching   ReasonCode = "CANNOT_REACH"
	MemberUnlinked     ReasonCode = "CANNOT_BE_REACHED_NOR_REACH"
	MemberIs           ReasonCode = "MEMBER_IS"
	MemberDead         ReasonCode = "IS_DOWN"
	MemberRuns         ReasonCode = "STILL_RUNS"
	MemberUp           ReasonCode = "MEMBER_UP"
	MemberUpBut        ReasonCode = "MEMBER_UP_BUT"
	MemberNotUp        ReasonCode = "MEMBER_NOT_UP"
	UpBefore           ReasonCode = "UP_BEFORE"
	UpAfter            ReasonCode = "UP_AFTER"
	UpNow              ReasonCode = "UP_NOW"
	LeaderUnknown      ReasonCode = "NO_LEADER_KNOWN"
	MembersAnswer      ReasonCode = "MEMBERS_ANSWER"
	MembersSilent      ReasonCode = "MEMBERS_SILENT"
)

// Reasons why a server does not serve, or a file can't be used.
const (
	Quoted             ReasonCode = "QUOTED"
	ServerAbsent       ReasonCode = "NO_FILE"
	ServerLeft         ReasonCode = "HAS_LEFT"
	ServerStandalone   ReasonCode = "STANDALONE"
	ServerGaveUp       ReasonCode = "GAVE_UP"
	ServerFileUnusable ReasonCode = "FILE_NOT_USABLE"
	ServerNotRunning   ReasonCode = "NOT_RUNNING"
	ServerSilentFor    ReasonCode = "HANGS"
	NoDatabaseYet      ReasonCode = "NO_DATABASE_YET"
	NotChecked         ReasonCode = "NOT_CHECKED"
	BesideFile         ReasonCode = "BESIDE"
	SchemaExpected     ReasonCode = "EXPECTED"
	SizeCompacted      ReasonCode = "AFTER_COMPACTION"
	CopyEmpty          ReasonCode = "COPY_EMPTY"
	OwnCopyEnds        ReasonCode = "OWN_COPY_ENDS"
	NotApplied         ReasonCode = "NOT_APPLIED"
)

// Reasons why the clusters, or their conversion, wait.
const (
	JujuRelationAwaited ReasonCode = "RELATION_AWAITED"
	ServesOthers        ReasonCode = "SERVES_OTHER_CLUSTERS"
	ClustersUncreated   ReasonCode = "CLUSTERS_NOT_CREATED"
	ClustersUnpublished ReasonCode = "CLUSTERS_NOT_PUBLISHED"
	OneClusterOnly      ReasonCode = "ONE_CLUSTER_ONLY"
	UnitUnread          ReasonCode = "UNIT_UNREAD"
	DiscardsOwn         ReasonCode = "DISCARDS_OWN"
	ServesOrDiscards    ReasonCode = "SERVES_OR_DISCARDS"
	ClustersServed      ReasonCode = "CLUSTERS_SERVED"
	ClusterOn           ReasonCode = "CLUSTER_ON"
	ClusterIsOurs       ReasonCode = "CLUSTER_IS_OURS"
	NoneShowsIt         ReasonCode = "NONE_SHOWS_IT"
	CreatorGone         ReasonCode = "CREATOR_GONE"
	FileGone            ReasonCode = "FILE_GONE"
	PeerDyingUnread     ReasonCode = "DYING_AND_UNREAD"
	PeerUnread          ReasonCode = "IS_UNREAD"
	PeerDyingSilent     ReasonCode = "DYING_AND_SILENT"
	PeerDyingJoined     ReasonCode = "DYING_AND_MAY_HAVE_JOINED"
	PeerUnpublished     ReasonCode = "PUBLISHED_NOTHING"
	PeerJoining         ReasonCode = "IS_JOINING"
	PeerIsMember        ReasonCode = "IS_MEMBER"
	AfterRestarts       ReasonCode = "AFTER_RESTARTS"
	OnceRemoved         ReasonCode = "ONCE_REMOVED"
	OncePublished       ReasonCode = "ONCE_PUBLISHED"
	OnceJoined          ReasonCode = "ONCE_JOINED"
	OnceUp              ReasonCode = "ONCE_UP"
	OnceRuns            ReasonCode = "ONCE_RUNS"
	LeaderConverts      ReasonCode = "LEADER_CONVERTS"
	OnceRoom            ReasonCode = "ONCE_IT_HAS_ROOM"
	TimerInvalid        ReasonCode = "TIMER_INVALID"
	TimerRises          ReasonCode = "TIMER_RISES"
	MayTake             ReasonCode = "MAY_TAKE"
	DiskLacking         ReasonCode = "DISK_LACKING"
	MemoryLacking       ReasonCode = "MEMORY_LACKING"
)

// Reasons about a unit's services, certificates and options.
const (
	NorthdHeldHere         ReasonCode = "HELD_HERE"
	NorthdHangsHere        ReasonCode = "HANGS_HERE"
	NorthdHangsOn          ReasonCode = "HANGS_ON"
	NorthdStopped          ReasonCode = "STOPPED_HERE"
	NorthdElsewhere        ReasonCode = "ACTIVE_ELSEWHERE"
	NorthdLastSeen         ReasonCode = "AS_LAST_SEEN"
	NorthdTakesOver        ReasonCode = "TAKES_OVER"
	RestartsQueued         ReasonCode = "RESTARTS_QUEUED"
	CertificateFor         ReasonCode = "CERTIFICATE_FOR"
	OldCAKept              ReasonCode = "OLD_CA_KEPT"
	CADistrusted           ReasonCode = "CA_NOT_TRUSTED"
	CertificateAwaitedFrom ReasonCode = "CERTIFICATE_AWAITED"
	CharmsDiffer           ReasonCode = "CHARMS_DIFFER"
	GivenAs                ReasonCode = "GIVEN_AS"
	TakesOneOf             ReasonCode = "TAKES_ONE_OF"
	TakesBoolean           ReasonCode = "TAKES_BOOLEAN"
	TakesText              ReasonCode = "TAKES_TEXT"
	TakesAgain             ReasonCode = "TAKES_TIME_OF_REQUEST"
	TakesNumber            ReasonCode = "TAKES_NUMBER"
	TakesSeconds           ReasonCode = "TAKES_SECONDS"
	TakesHours             ReasonCode = "TAKES_HOURS"
	TakesPort              ReasonCode = "TAKES_PORT"
	TakesChannel           ReasonCode = "TAKES_CHANNEL"
	TakesName              ReasonCode = "TAKES_NAME"
	TakesNames             ReasonCode = "TAKES_NAMES"
	TakesServerID          ReasonCode = "TAKES_SERVER_ID"
	TakesPath              ReasonCode = "TAKES_PATH"
	PathUnread             ReasonCode = "PATH_NOT_READ"
	TakesBackup            ReasonCode = "TAKES_BACKUP"
	NoneIn                 ReasonCode = "NONE_IN"
	NearestIs              ReasonCode = "NEAREST_IS"
	TakesMember            ReasonCode = "MEMBER_MISSING"
	GivenTwice             ReasonCode = "GIVEN_TWICE"
	NeverComesBack         ReasonCode = "NEVER_COMES_BACK"
)

// Reasons about scheduled backups.
const (
	BackupsLate    ReasonCode = "BACKUPS_LATE"
	BackupsMissing ReasonCode = "NO_BACKUP"
	BackupIsNew    ReasonCode = "NEW_BACKUP"
	BackupHours    ReasonCode = "BACKUP_HOURS"
	BackupDays     ReasonCode = "BACKUP_DAYS"
)

// Reasons about the removal of a member, or of a unit.
const (
	StillConfigured    ReasonCode = "STILL_CONFIGURED"
	RemovalUncommitted ReasonCode = "NOT_COMMITTED"
	LeaveUncommitted   ReasonCode = "LEAVE_NOT_COMMITTED"
	AfterLimit         ReasonCode = "AFTER_LIMIT"
)

var clusterReasons = map[ReasonCode]string{
	MemberLeaderless: "it has no leader",
	MemberStopping: "its unit has recorded that it stops this server, and not yet that the server " +
		"runs again",
	MemberLostEntries:  "its file lacks entries of its log",
	MemberDiskFull:     "its disk is full",
	MemberUnheard:      "the leader has never heard from it",
	MemberSilent:       "its last message is {age} old, election timer {limit}",
	MemberDisconnected: "its connection is gone",
	MemberBehind:       "it does not store what it is sent: {entries} behind",
	MemberUnconnected:  "it has no connection to this unit",
	MemberUnanswering:  "it does not answer on its client port",
	MemberElsewhere:    "it answers as a member of another cluster",
	MemberCutOff:       "it reports that it is disconnected from the cluster",
	MemberApart:        "it and a majority can't connect to each other in both directions",
	MemberUnreached:    "this unit's server can't connect to it",
	MemberUnreaching:   "it can't connect to this unit's server",
	MemberUnlinked:     "neither it nor this unit's server can connect to the other",
	MemberIs:           "{name}",
	MemberDead:         "{name}, down",
	MemberRuns:         "{name}, up: its servers and its ovn-northd run until its machine is off",
	MemberUp:           "{name}, up",
	MemberUpBut:        "{name}, up ({because})",
	MemberNotUp:        "{name}, not known to be up ({because})",
	UpBefore:           "now {tally}",
	UpAfter:            "after it {tally}",
	UpNow:              "{tally}",
	LeaderUnknown:      "no leader is known",
	MembersAnswer:      "{count} of {total} members answer",
	MembersSilent:      "none from {value}",
	Quoted:             "{value}",
	ServerAbsent:       "there is no database file, and no server runs",
	ServerLeft:         "this unit's server has left the cluster or was kicked from it",
	ServerStandalone:   "the database is standalone, not a member of a cluster",
	ServerGaveUp: "the server runs but has given up the database, as it does when it can't write " +
		"to the disk; see its log",
	ServerFileUnusable:     "its file can't be used: {value}; the server is not running",
	ServerNotRunning:       "the server is not running",
	ServerSilentFor:        "the server hangs",
	NoDatabaseYet:          "no database yet",
	NotChecked:             "it was not checked",
	BesideFile:             "beside {value}",
	SchemaExpected:         "they expect {value}",
	SizeCompacted:          "{value} after its last compaction",
	CopyEmpty:              "its server has not joined: its copy is empty",
	OwnCopyEnds:            "this unit's end with {value}",
	NotApplied:             "an entry of its log was not applied",
	JujuRelationAwaited:    "waiting for Juju to set up the relation to the other units",
	ServesOthers:           "{name} serves other clusters; the leader unit will publish them",
	ClustersUncreated:      "the leader unit has not created the clusters yet",
	ClustersUnpublished:    "the leader unit has not published the clusters' IDs yet",
	OneClusterOnly:         "a unit has a server of one database only; waiting for the other",
	UnitUnread:             "cannot read what {name} publishes; it may have the clusters",
	DiscardsOwn:            "it will discard its own",
	ServesOrDiscards:       "it will serve or discard them",
	ClustersServed:         "{list}",
	ClusterOn:              "{value} on {name}",
	ClusterIsOurs:          "{value} is the application's",
	NoneShowsIt:            "none says that it has it: see cluster-status on each",
	CreatorGone:            "{name}, which created it, is gone",
	FileGone:               "it was created here, and its file is gone",
	PeerDyingUnread:        "it is being removed, and what it publishes can't be read",
	PeerUnread:             "what it publishes can't be read",
	PeerDyingSilent:        "it is being removed, and publishes nothing",
	PeerDyingJoined:        "it is being removed, and may have joined",
	PeerUnpublished:        "it has published nothing",
	PeerJoining:            "it is joining",
	PeerIsMember:           "it is known as a member",
	AfterRestarts:          "converted after the restarts",
	OnceRemoved:            "converted once {name} is removed",
	OncePublished:          "converted once {name} says what it runs",
	OnceJoined:             "converted once {name} has joined (if it can't, remove it)",
	OnceUp:                 "start or remove {name}, which is down (it must run {value})",
	OnceRuns:               "converted once {name} runs {value}",
	LeaderConverts:         "the leader converts it",
	OnceRoom:               "converted once {name} has room",
	TimerInvalid:           "the conversion needs a valid {name}, since it raises the election timer",
	TimerRises:             "the election timer rises to {milliseconds} ms to convert it",
	MayTake:                "it may take {because}",
	DiskLacking:            "{count} MiB of the disk, {total} MiB are free",
	MemoryLacking:          "{count} MiB of memory, {total} MiB are available",
	NorthdHeldHere:         "this unit's is held",
	NorthdHangsHere:        "this unit's hangs",
	NorthdHangsOn:          "{name}'s hangs",
	NorthdStopped:          "this unit's is not running",
	NorthdElsewhere:        "another unit's is active",
	NorthdLastSeen:         "as of the other units' last hooks",
	NorthdTakesOver:        "one becomes active by {value} UTC",
	RestartsQueued:         "Services queued for restart: {value}",
	CertificateFor:         "from {name} for {value}",
	OldCAKept:              "old CA kept until {name} uses the new one",
	CADistrusted:           "new one used once {name} trusts its CA",
	CertificateAwaitedFrom: "a new one is awaited from {name}",
	CharmsDiffer:           "{value}, others {name}",
	GivenAs:                "it is {value}",
	TakesOneOf:             "it takes one of {value}",
	TakesBoolean:           "it takes true or false",
	TakesText:              "it takes a text",
	TakesAgain:             "it takes the time that the same command without it prints, as in 20261123T190312Z",
	TakesNumber:            "it takes a whole number from {count} to {total}",
	TakesSeconds:           "it takes {count} to {total} seconds",
	TakesHours:             "it takes {count} to {total} hours",
	TakesPort:              "it takes a free port from {count} to {total}",
	TakesChannel:           "it takes nothing, or one of {value}, after a track and a slash if there is one",
	TakesName:              `it takes letters, digits, ".", "_" and "-"`,
	TakesNames:             `it takes names of letters, digits, ".", "_" and "-", separated by commas`,
	TakesServerID:          "it takes a server ID, at least the four digits that cluster-status shows",
	TakesPath:              "it takes an absolute path",
	PathUnread:             "cannot read it: {value}",
	TakesBackup:            "it takes the absolute path of a backup on this machine; {because}",
	NoneIn:                 "none is in {value}",
	NearestIs:              "the nearest is {value}",
	TakesMember: "name the member to kick by it, or by sb-identity and nb-identity; " +
		"cluster-status shows them",
	GivenTwice:         "it is given beside an identity: name the member by one of them",
	NeverComesBack:     "a member that is kicked never comes back",
	BackupsLate:        "overdue",
	BackupsMissing:     "none",
	BackupIsNew:        "newest backup less than 1 h old",
	BackupHours:        "newest backup {count} h old",
	BackupDays:         "newest backup {count} d old",
	StillConfigured:    "it still is in the configuration",
	RemovalUncommitted: "its removal is not committed",
	LeaveUncommitted:   "it has left, but that is not committed yet",
	AfterLimit:         "after {after} {because}",
}
