package membership

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovn"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Between two looks at a log that seems to be longer in the server than in its file,
// and how many looks there are: a follower may just have dropped entries that were
// not committed.
const (
	lostInterval = 50 * time.Millisecond
	lostLooks    = 4
)

// MissingEntries says what is wrong with the file of a server that runs as a member, so that no
// server could be started on it, or one would lack entries that this one has
// acknowledged; empty where the file has all of the log. A write that fails has been
// added to the log in memory already, and is acknowledged with the next one that
// succeeds (raft_write_entry() in ovsdb/raft.c of Open vSwitch, all releases up to
// 3.6): no status shows it, of any member. The error is that of ctx, or of a server
// that does not answer any more.
func (s *Observer) MissingEntries(ctx context.Context, l ServerState) (string, error) {
	d := l.Database
	for look := 1; ; look++ {
		if l.Condition != ovndb.Serving || l.Status.State == raft.JoiningCluster || l.Status.State == raft.LeavingCluster {
			return "", nil
		}
		// First the server, then the file: it writes an entry before it counts it.
		log, err := s.Files.Log(ctx, d)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil // nothing is there that could be wrong
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
		if err := Wait(ctx, lostInterval); err != nil {
			return "", err
		}
		if l = s.ObserveServer(ctx, d); l.Condition != ovndb.Serving && l.Err != nil {
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
		if err := Wait(ctx, lostInterval); err != nil {
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
func (l ServerState) EntriesMissing(log ovn.LogFile) string {
	failed := (*ovn.FailedError)(nil)
	if !errors.As(l.Err, &failed) || log.End+1 >= failed.Status.Log.End {
		return ""
	}
	return fmt.Sprintf("the server has entries up to %d, its file has them up to %d", failed.Status.Log.End-2, log.End-1)
}

// fsyncPatience is how long a server may take to store what it has appended: an fsync of
// a busy disk takes hundreds of milliseconds.
const fsyncPatience = 3 * time.Second

// mendPatience is how long a server may take to put the new file in the place of the
// old one once it has said that it compacts.
const mendPatience = 5 * time.Second

// DamagedFileError says that a server's file lacks entries of its log, and that it could not
// be written anew. The server must not be stopped.
type DamagedFileError struct {
	Database ovndb.Database
	// Missing is what the file lacks, Err why it still does.
	Missing string
	Err     error
}

// Error is one line.
func (e *DamagedFileError) Error() string {
	return fmt.Sprintf("%s: the file of this unit's server lacks entries, so it must not be stopped (%s): %v", e.Database.Short(), e.Missing, e.Err)
}

// Unwrap is why it could not be written anew.
func (e *DamagedFileError) Unwrap() error { return e.Err }

// RewriteFile makes a server whose file lacks entries write it anew, from what it has in
// memory, and proves by ovsdb-tool that it then can be loaded. Nothing is deleted, and
// a server whose file is whole is not asked for anything. Whoever is about to stop a
// server calls it first. The error is a [*DamagedFileError] where the file is still as bad.
func (s *Changer) RewriteFile(ctx context.Context, d ovndb.Database) error {
	l := s.ObserveServer(ctx, d)
	lost, err := s.MissingEntries(ctx, l)
	if err != nil {
		return fmt.Errorf("cannot find out whether the file of %s is whole: %w", d, err)
	}
	if lost == "" && l.Condition == ovndb.Hung {
		log, err := s.Files.Log(ctx, d)
		if err == nil && log.Damage != "" {
			return &DamagedFileError{d, log.Damage, l.Err}
		}
	}
	if lost == "" {
		return nil
	}
	s.Log.WarnContext(ctx, "the server's file lacks entries; it is written anew", "database", d.Short(), "lost", lost)
	if err := s.Control.Compact(ctx, d); err != nil {
		return &DamagedFileError{d, lost, err}
	}
	// It may be written a moment later.
	for until := s.Now().Add(s.Patience(d, mendPatience)); ; {
		lost, err = s.MissingEntries(ctx, s.ObserveServer(ctx, d))
		if err != nil || lost == "" || s.Now().After(until) {
			break
		}
		if err := Wait(ctx, lostInterval); err != nil {
			return err
		}
	}
	if err == nil && lost == "" {
		lost, err = s.Files.Damaged(ctx, d)
	}
	switch {
	case err != nil:
		return &DamagedFileError{d, lost, err}
	case lost != "":
		return &DamagedFileError{d, lost, errors.New("the server has not written it anew; see its log")}
	}
	s.Log.InfoContext(ctx, "the server's file was written anew, and is whole", "database", d.Short())
	return nil
}

// statusDigits is how much of an ID a command in a status has, of which Juju shows
// 120 characters: eight digits are no other server's.
const statusDigits = 8

// RejoinCommand is the command by which another unit removes this unit's server, so that it
// can join again as a new one; empty where there is no other unit, or the server is not
// known.
func RejoinCommand(m Application, servers map[ovndb.Database]ServerState, d ovndb.Database) string {
	id := m.Published[m.Unit][d].Server
	if id == "" || len(m.Others()) == 0 {
		return ""
	}
	clusters := Views{}
	if other := servers[d.Other()]; other.Condition == ovndb.Serving {
		clusters[other.Database] = raft.View{Status: other.Status}
	}
	return KickCommand(m, OtherUnit(m, clusters), shortened(map[ovndb.Database]string{d: string(id)}), true)
}

// RemovedWhileDown says whether this unit's server, which does not run, was removed by
// the members that remain: by the history of this unit, or by a record in the database
// as another unit has it.
func (s *Observer) RemovedWhileDown(ctx context.Context, m Application, d ovndb.Database, cache Cache) bool {
	id := m.Published[m.Unit][d].Server
	if id == "" {
		return false
	}
	if cache.RemovedBefore(d, id) {
		return true
	}
	for _, unit := range m.Others() {
		published, _ := relation.ParseUnitState(m.Data[unit].Values())
		if !published.Address.IsValid() {
			continue
		}
		address := ovndb.RaftAddress(d, published.Address.String())
		removed, err := s.ReadRemovals(ctx, d, ovsdb.Endpoints(d, address)...)
		if err == nil {
			return removed[id] != ""
		}
	}
	return false
}

// keepIdentities has a unit go on publishing the identity of a server whose file can't be
// read, as long as the file is there: the server is a member, and this unit's.
func keepIdentities(own relation.Identities, unit string, servers map[ovndb.Database]ServerState, cache Cache) {
	for d, l := range servers {
		if own[d].Server != "" || l.FileErr == nil && l.Condition != ovndb.Hung && l.Condition != ovndb.Unreadable {
			continue
		}
		if known := cache.Published[unit][d]; known.Server != "" {
			own[d] = known // until the file is put away, also once it was kicked
		}
	}
}
