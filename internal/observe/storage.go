package observe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// DamagedPrefix with a full server ID behind it is the key in external_ids of NB_Global and SB_Global for a member that
// has lost entries of its log. The member's unit writes it when it can't repair the file, and removes it after the
// repair, so that the member is down for every unit (R0). No other channel reaches all units.
const DamagedPrefix = "ovn-central:unhealthy/"

// DamagedServers returns the full IDs of the servers that have lost entries, according to ids, the external_ids of
// NB_Global or SB_Global; in no order. It ignores keys without a valid ID.
func DamagedServers(ids map[string]string) (lost []raft.ID) {
	for key := range ids {
		text, found := strings.CutPrefix(key, DamagedPrefix)
		if id, ok := raft.ParseID(text); found && ok {
			lost = append(lost, id)
		}
	}
	return lost
}

// externalIDs reads the external_ids of NB_Global or SB_Global from this unit's own server. If that fails, the
// observation of the members has to suffice; the lock's holder reads them again, or does nothing.
func (s *Observer) externalIDs(ctx context.Context, d ovndb.Database) map[string]string {
	ids, err := s.readIDs(ctx, d, "unix:"+s.Control.Paths.Socket(d))
	if err != nil {
		s.Log.DebugContext(ctx, "cannot read the notes on the members in the database", "database", d.Short(), "error", err)
	}
	return ids
}

// The number and interval of further checks if a log seems to be longer in the server than in its file, or the file
// is missing: a follower may just have dropped entries that were not committed.
const (
	lostInterval = 50 * time.Millisecond
	lostLooks    = 4
)

// ErrOutdated means that a server has ended, or hangs, since it was observed.
var ErrOutdated = errors.New("the server no longer answers")

// MissingEntries explains what is wrong with the file of a server that runs as a member: no server could be started
// on it, or a started server would lack entries that this one has acknowledged. It returns no reason if the file has
// the whole log.
//
// After a failed write the entry is already in the log in memory, and is acknowledged with the next successful write
// (raft_write_entry() in ovsdb/raft.c of Open vSwitch, all releases up to 3.6): no member's status shows it. After a
// file was deleted or moved away, later writes of its server are lost; a compaction renames the new file over the old
// one (ovsdb_log_replace_commit() in ovsdb/log.c), so a file always exists.
//
// The error is the error of ctx, or wraps [ErrOutdated].
func (s *Observer) MissingEntries(ctx context.Context, l ServerState) (whole finding.Reason, err error) {
	d := l.Database
	for look := 1; ; look++ {
		if l.Condition != ovndb.Serving || l.Status.State == raft.JoiningCluster || l.Status.State == raft.LeavingCluster {
			return whole, nil
		}
		// The order matters: the server writes an entry before it counts it.
		log, err := raftfile.ReadLog(ctx, s.Files.Paths, d)
		switch {
		case errors.Is(err, fs.ErrNotExist) && look == lostLooks:
			return finding.Reason{Code: finding.FileMissing, Value: s.Files.Paths.File(d)}, nil
		case errors.Is(err, fs.ErrNotExist): // an ended server's file may just have been moved away
		case err != nil && ctx.Err() == nil:
			return finding.Quote(err.Error()), nil // the server has the entries nevertheless
		case err != nil:
			return whole, err
		case log.Damage != "":
			return finding.Quote(log.Damage), nil
		case log.End >= l.Status.Log.End:
			return s.unstoredEntries(ctx, l)
		case look == lostLooks:
			return fileBehind(l.Status.Log.End-1, log), nil
		}
		if err := poll.Wait(ctx, lostInterval); err != nil {
			return whole, err
		}
		if l = s.ObserveServer(ctx, d); l.Condition != ovndb.Serving && l.Condition != ovndb.Absent && l.Err != nil {
			return whole, fmt.Errorf("%w: %w", ErrOutdated, l.Err)
		}
	}
}

func fileBehind(last uint64, log raftfile.Log) finding.Reason {
	return finding.Reason{Code: finding.FileBehind, Count: int(log.End - 1), Total: int(last)}
}

// unstoredEntries describes entries that a leading server has appended to its log but not stored. Its file may have
// them: a write or an fsync that failed once is not repeated until the file is rewritten (measured with Open vSwitch
// 3.1). Entries are always in flight, so the server gets some time to store the first ones.
func (s *Observer) unstoredEntries(ctx context.Context, l ServerState) (none finding.Reason, err error) {
	appended := l.Status.Log.End - 1
	for until := s.Now().Add(s.Patience(l.Database, fsyncPatience)); ; {
		stored, leads := l.Status.Stored()
		if !leads || stored >= appended {
			return none, nil
		}
		if s.Now().After(until) {
			return finding.Reason{Code: finding.WriteFailed, Count: int(stored), Total: int(appended)}, nil
		}
		if err := poll.Wait(ctx, lostInterval); err != nil {
			return none, err
		}
		if l = s.ObserveServer(ctx, l.Database); l.Condition != ovndb.Serving {
			return none, fmt.Errorf("%w: %w", ErrOutdated, l.Err)
		}
	}
}

// EntriesMissing describes how many more entries than its file has a server may have acknowledged that has given up
// the database; no reason if none, or unknown. No other server has its last entry, on which it failed.
func (l ServerState) EntriesMissing(log raftfile.Log) finding.Reason {
	failed := (*ovsctl.FailedError)(nil)
	if !errors.As(l.Err, &failed) || log.End+1 >= failed.Status.Log.End {
		return finding.Reason{}
	}
	return fileBehind(failed.Status.Log.End-2, log)
}

// fsyncPatience is how long a server may take to store appended entries: an fsync on a busy disk takes hundreds of
// milliseconds.
const fsyncPatience = 3 * time.Second

// observeStorage asks a server whether it has applied its whole log. The raft library stores an entry before the
// database applies it. An entry that can't be applied is skipped, and the member votes and acknowledges as before.
func (s *Observer) observeStorage(ctx context.Context, l *ServerState) {
	said, err := s.Control.StorageError(ctx, l.Database)
	switch {
	case err != nil:
		s.Log.DebugContext(ctx, "cannot ask whether the server has applied all of its log",
			"database", l.Database.Short(), "error", err)
	case said != "":
		l.Inconsistent = finding.Reason{Code: finding.NotApplied, Because: []finding.Reason{finding.Quote(said)}}
	}
}

// Inconsistent returns the reason why the data of this unit's server differs from the cluster's; none if it is not
// known to differ. The result is kept: only a new server that joins gets the cluster's data. After a compaction and a
// restart the server itself no longer reports the difference.
func (s Snapshot) Inconsistent(d ovndb.Database) finding.Reason {
	l := s.Servers[d]
	switch {
	case l.Condition != ovndb.Serving:
		return finding.Reason{}
	case l.Inconsistent.IsZero() && s.Cache.Inconsistent[d] == l.Status.Server:
		return finding.Reason{Code: finding.NotApplied}
	}
	return l.Inconsistent
}

// inconsistent returns the servers that were or are inconsistent. A server that is not serving keeps its entry.
func inconsistent(
	before map[ovndb.Database]raft.ID, servers map[ovndb.Database]ServerState,
) map[ovndb.Database]raft.ID {
	all := map[ovndb.Database]raft.ID{}
	for d, id := range before {
		if l := servers[d]; l.Condition != ovndb.Serving || l.Status.Server == id {
			all[d] = id
		}
	}
	for d, l := range servers {
		if !l.Inconsistent.IsZero() {
			all[d] = l.Status.Server
		}
	}
	return all
}

// longPollWindow is the part of the server's log that is read, counted back from now.
const longPollWindow = time.Hour

// ServerFacts are facts about a running server for operators, apart from its cluster. Unknown ones are nil.
type ServerFacts struct {
	Storage   *raftfile.Storage
	LongPolls *ovsctl.LongPolls
	// Schemas is empty if they are unknown.
	Schemas ovndb.Schemas
	// Socket is the server's control socket, for printed commands.
	Socket string
}

// ServerFacts collects the facts about this unit's running server of database d. It logs failures.
func (s *Observer) ServerFacts(ctx context.Context, d ovndb.Database, schemas ovndb.Schemas) *ServerFacts {
	facts := ServerFacts{Schemas: schemas, Socket: s.Control.Paths.Control(d)}
	if storage, err := raftfile.ReadStorage(s.Files.Paths, d); err == nil {
		facts.Storage = &storage
	} else {
		s.Log.WarnContext(ctx, "cannot look at the database file", "database", d.Short(), "error", err)
	}
	if polls, err := ovsctl.ReadLongPolls(s.Control.Paths, d, s.Now().Add(-longPollWindow)); err == nil {
		facts.LongPolls = &polls
	} else {
		s.Log.WarnContext(ctx, "cannot read the server's log", "database", d.Short(), "error", err)
	}
	return &facts
}
