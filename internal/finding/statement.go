package finding

import "github.com/ovn-central/ovn-central-operator/internal/ovndb"

// Statement is a line of a plan, a report or a proof. It has no remedy.
type Statement struct {
	// Database is the database that the statement is about; empty if there is none.
	Database ovndb.Database
	Line     Line
	Name     string
	Args     Args
	// More are appended to the line.
	More []Line
}

// Line is the text of a statement. It may have arguments, as a finding's line does.
type Line string

// Statements about the copies of a database.
const (
	CopyEnds       Line = "copy of {name}: {value}"
	CopyUnreported Line = "copy of {name}: not known; its server answers, and its next update-status reports it"
	CopyUnknown    Line = "copy of {name}: not known, it can't be asked"
	CopyLed        Line = "copy of {name}: not known, since it has a leader"
	CopyLastLed    Line = "copy of {name}: not known; it had a leader when it last reported, " +
		"and its server does not answer"
	AddNewest        Line = ", the newest"
	AddLastReported  Line = ", as last reported; its server does not answer"
	AddDamaged       Line = ", damaged"
	AddGivenUp       Line = "; given up"
	GivenUpWithMore  Line = "what {name} has beyond {value} is lost: it had {other} when it last reported"
	GivenUpWithALead Line = "what {name} has beyond {value} is lost: it had a leader when it last reported, " +
		"and may have stored more since"
)

// Effects of a recovery or a restore, and the resulting losses.
const (
	MadeOfFile    Line = "a new cluster is made of the file of {unit} ({value}) and replaces {cluster}"
	MadeOfBackup  Line = "a new cluster is made of the backup {path} and replaces {cluster}"
	OthersJoin    Line = "units that rename their files and join it: {units}"
	OthersStayOff Line = "units that must never serve the old cluster again: {units}; power off their machines, or " +
		"remove them; a unit that comes back renames its file"
	LosesSinceBackup Line = "every change since the backup was taken is lost"
	LosesNothing     Line = "nothing that was acknowledged is lost: {count} of {total} copies are compared, " +
		"and a majority had each change"
	LosesGivenUp Line = "an unknown number of changes may be lost: {count} of {total} copies are given up"
	LosesUnknown Line = "an unknown number of changes may be lost: {count} of {total} copies are given up or " +
		"not known yet"
	BackupTaken       Line = "the backup was taken on {unit} at {time}, {duration} ago"
	BackupOfOther     Line = "the backup is of cluster {other}, the application's is {cluster}"
	AlreadyReplaced   Line = "the new cluster has replaced {cluster}; nothing more is done"
	AlreadyMade       Line = "this unit made this cluster at {time}; the printed command makes another one"
	TakenBack         Line = "what was asked for at {time} is withdrawn; all units start their servers again"
	NothingToTakeBack Line = "no recovery or restore that was asked for on this unit is under way"
	ClusterReplaced   Line = "its cluster was given up in a recovery ({address} serves the cluster " +
		"that replaced {cluster})"
)

// Progress of a recovery, a restore, or the replacement of a server.
const (
	RecoverAsked    Line = "recover on {unit}, asked at {time}"
	RestoreAsked    Line = "restore of {path} on {unit}, asked at {time}"
	AddGivesUp      Line = ", gives up {units}"
	AddUnaccepted   Line = "; Juju's leader has not accepted it"
	AddMade         Line = "; the new cluster {cluster} is made, and not published yet"
	Recovered       Line = "cluster {cluster}: recovered from the data of {unit} at {time}, in place of {other}"
	RestoredCluster Line = "cluster {cluster}: restored from {path} on {unit} at {time}, in place of {other}"
	ProvedMember    Line = "{unit} is a member, and an acknowledged write was read back from its server"
	ProvedGivenUp   Line = "{unit} was given up, and is no member; it joins if it returns"
	JoinedAnew      Line = "this unit has joined as a new member in the place of {name}; " +
		"to prove that it works, a write is read back from each unit"
	LeaderRemoves Line = "the unit that leads it removes member {name}, if the others are a quorum without it; " +
		"then this unit renames {path} and joins as a new member"
	OthersRemove Line = "the first of the other units removes member {name}, if the others are a quorum without it; " +
		"then this unit renames {path} and joins as a new member"
)

// String returns the text with the arguments filled in.
func (s Statement) String() string {
	text := string(s.Line)
	for _, more := range s.More {
		text += string(more)
	}
	text = Finding{Subject: Subject{Name: s.Name}, Args: s.Args}.expand(text)
	if s.Database == "" {
		return text
	}
	return s.Database.Short() + ": " + text
}

// Statements returns the texts of statements, each a line.
func Statements(all []Statement) []string {
	texts := make([]string, len(all))
	for i, s := range all {
		texts[i] = s.String()
	}
	return texts
}
