package observe

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// DamagedPrefix is, with a full server ID behind it, the key in external_ids of
// NB_Global and SB_Global that says of a member that it has lost entries of its log:
// it stands there from when its own unit has found that it can't be mended until it
// was, so that it is down for every unit (rule R0). No other way reaches all units.
const DamagedPrefix = "ovn-central:unhealthy/"

// DamagedServers returns the full IDs of the servers that ids, the external_ids of
// NB_Global or SB_Global, say have lost entries; in no order. What is not an ID is left out.
func DamagedServers(ids map[string]string) (lost []raft.ID) {
	for key := range ids {
		text, found := strings.CutPrefix(key, DamagedPrefix)
		if id, ok := raft.ParseID(text); found && ok {
			lost = append(lost, id)
		}
	}
	return lost
}

// notes reads from this unit's own server what stands in its data for all units: the
// external_ids of NB_Global or SB_Global. Where that can't be read, what is seen of the
// members has to do; the lock's holder reads it there, or does nothing.
func (s *Observer) notes(ctx context.Context, d ovndb.Database) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, ProbeTimeout)
	defer cancel()
	global, err := s.Dialer.Global(ctx, d, "unix:"+s.Control.Paths.Socket(d))
	if err != nil {
		s.Log.DebugContext(ctx, "cannot read the notes on the members in the database", "database", d.Short(), "error", err)
		return nil
	}
	defer global.Close()
	ids, err := global.Read(ctx)
	if err != nil {
		s.Log.DebugContext(ctx, "cannot read the notes on the members in the database", "database", d.Short(), "error", err)
	}
	return ids
}

// Between two looks at a log that seems to be longer in the server than in its file, or at a
// file that isn't there, and how many looks there are: a follower may just have dropped entries
// that were not committed.
const (
	lostInterval = 50 * time.Millisecond
	lostLooks    = 4
)

// MissingEntries says what is wrong with the file of a server that runs as a member, so that no
// server could be started on it, or one would lack entries that this one has
// acknowledged; empty where the file has all of the log. A write that fails has been
// added to the log in memory already, and is acknowledged with the next one that
// succeeds (raft_write_entry() in ovsdb/raft.c of Open vSwitch, all releases up to
// 3.6): no status shows it, of any member. A file that was deleted or moved away has nothing of
// what its server goes on writing to it; a compaction renames the new file over the old one
// (ovsdb_log_replace_commit() in ovsdb/log.c), so there always is one. The error is that of ctx,
// or of a server that does not answer any more.
func (s *Observer) MissingEntries(ctx context.Context, l ServerState) (string, error) {
	d := l.Database
	for look := 1; ; look++ {
		if l.Condition != ovndb.Serving || l.Status.State == raft.JoiningCluster || l.Status.State == raft.LeavingCluster {
			return "", nil
		}
		// First the server, then the file: it writes an entry before it counts it.
		log, err := raftfile.ReadLog(ctx, s.Files.Paths, d)
		switch {
		case errors.Is(err, fs.ErrNotExist) && look == lostLooks:
			return s.Files.Paths.File(d) + " is gone", nil
		case errors.Is(err, fs.ErrNotExist): // it may just be put away, of a server that has ended
		case err != nil && ctx.Err() == nil:
			return err.Error(), nil // the server has it all the same
		case err != nil:
			return "", err
		case log.Damage != "":
			return log.Damage, nil
		case log.End >= l.Status.Log.End:
			return s.unstoredEntries(ctx, l)
		case look == lostLooks:
			return fmt.Sprintf("the server has entries up to %d, its file has them up to %d", l.Status.Log.End-1, log.End-1), nil
		}
		if err := poll.Wait(ctx, lostInterval); err != nil {
			return "", err
		}
		if l = s.ObserveServer(ctx, d); l.Condition != ovndb.Serving && l.Condition != ovndb.Absent && l.Err != nil {
			return "", l.Err
		}
	}
}

// unstoredEntries says that a server which leads has not stored what it has appended to its
// log, though its file may have it: a write, or an fsync, that failed once is not tried
// again before the file is written anew (measured with Open vSwitch 3.1). Entries are
// always on their way, so it gets some time for those that it has at first.
func (s *Observer) unstoredEntries(ctx context.Context, l ServerState) (string, error) {
	appended := l.Status.Log.End - 1
	for until := s.Now().Add(s.Patience(l.Database, fsyncPatience)); ; {
		stored, leads := l.Status.Stored()
		if !leads || stored >= appended {
			return "", nil
		}
		if s.Now().After(until) {
			return fmt.Sprintf("the server leads and has entries up to %d, and has stored them up to %d: a write to its disk has failed", appended, stored), nil
		}
		if err := poll.Wait(ctx, lostInterval); err != nil {
			return "", err
		}
		if l = s.ObserveServer(ctx, l.Database); l.Condition != ovndb.Serving {
			return "", l.Err
		}
	}
}

// EntriesMissing says of a server that has given up the database how much more of the log it
// may have acknowledged than its file has; empty where that is nothing, or not known.
// The entry on which it failed, its last, no other server has.
func (l ServerState) EntriesMissing(log raftfile.Log) string {
	failed := (*ovsctl.FailedError)(nil)
	if !errors.As(l.Err, &failed) || log.End+1 >= failed.Status.Log.End {
		return ""
	}
	return fmt.Sprintf("the server has entries up to %d, its file has them up to %d", failed.Status.Log.End-2, log.End-1)
}

// fsyncPatience is how long a server may take to store what it has appended: an fsync of
// a busy disk takes hundreds of milliseconds.
const fsyncPatience = 3 * time.Second
