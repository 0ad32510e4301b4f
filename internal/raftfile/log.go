// Package raftfile reads database files without another program: the Raft log, the first record and the size. It also
// makes a standalone copy of a file, and reads the version of a schema.
package raftfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Log describes the Raft log in the file of a clustered database.
type Log struct {
	// Term is the term of the newest entry. End is one more than its index, as in [raft.Log]. Of two copies, the one with
	// the higher term is newer; if the terms are equal, the one with the higher end (Raft paper, section 5.4.1).
	Term, End uint64
	// Members are the full IDs in the newest configuration, Addresses their Raft addresses.
	Members   []raft.ID
	Addresses map[raft.ID]string
	// Damage is why a server would not start on the file, or would start without the entries after the damage. It is
	// empty if the log is intact. The last record may be incomplete: a server is writing it, or a loss of power cut it
	// off.
	Damage string
	// Outside reports whether the newest configuration in the log lacks the file's own server. Then ovsdb-server refuses
	// the file ("server does not belong to cluster", raft_open() in ovsdb/raft.c). Such a file results if a server is
	// killed while it joins, or if it has logged its own removal; check-cluster of ovsdb-tool finds only the first case.
	// Outside is false if there is Damage: the newest configuration may be in the missing part.
	Outside bool
}

// logScan is the state of a scan of one file. It is stored next to the server's sockets, so that the next scan reads
// only new records. If it is lost, the next scan reads the whole file again.
type logScan struct {
	Device, Inode uint64
	// Head is the header of the first record. Its checksum distinguishes two files that have had the same inode.
	Head   string
	Offset int64
	// Records counts the records after the first.
	Records uint64
	// Start and End are the bounds of the log, End exclusive. Commit is the newest index that is known to be committed.
	Start, End, Commit uint64
	// Term and Vote are the newest ones. Terms has the first index of each term of the entries, in ascending order.
	Term  uint64
	Vote  string
	Terms []termStart
	// Server is the file's own server. Configurations are in ascending order of their indexes.
	Server         string
	Configurations []configuration
	Damage         string
	// seen, if not nil, is called for each record with the offset where it begins.
	seen func(at int64, r logRecord)
}

// configuration has the members from the entry Index on: their addresses by server ID.
type configuration struct {
	Index   uint64
	Servers map[string]string
}

type termStart struct{ Index, Term uint64 }

// ReadLog describes the whole log in the file of database d. It reads only what was appended since the last call. It
// judges records as ovsdb-server does at its start (raft_apply_record() in ovsdb/raft.c of Open vSwitch), and keeps
// none of them in memory. A server may write meanwhile. The file must belong to a clustered database.
func ReadLog(ctx context.Context, p ovndb.Paths, d ovndb.Database) (Log, error) {
	scan, err := scanLog(ctx, p, d)
	if err != nil {
		return Log{}, err
	}
	log := Log{End: scan.End, Damage: scan.Damage}
	if n := len(scan.Terms); n > 0 {
		log.Term = scan.Terms[n-1].Term
	}
	if n := len(scan.Configurations); n > 0 {
		log.Addresses = map[raft.ID]string{}
		for server, address := range scan.Configurations[n-1].Servers {
			log.Addresses[raft.ID(server)] = address
		}
		log.Members = slices.Sorted(maps.Keys(log.Addresses))
		log.Outside = log.Damage == "" && !slices.Contains(log.Members, raft.ID(scan.Server))
	}
	return log, nil
}

// Sole reports whether server is the only member of the newest configuration.
func (l Log) Sole(server raft.ID) bool {
	return len(l.Members) == 1 && l.Members[0] == server
}

// Unread returns how many bytes the next [ReadLog] will read. That is the whole file if it was compacted since the
// last call, and 0 if it can't be read.
func Unread(p ovndb.Paths, d ovndb.Database) int64 {
	file, err := os.Open(p.File(d))
	if err != nil {
		return 0
	}
	defer file.Close()
	last := recallScan(p, d)
	info, fresh, err := beginning(file)
	if err != nil {
		return 0
	}
	if last.isOf(fresh) && last.Offset <= info.Size() {
		return info.Size() - last.Offset
	}
	return info.Size()
}

func scanLog(ctx context.Context, p ovndb.Paths, d ovndb.Database) (scan logScan, err error) {
	file, err := os.Open(p.File(d))
	if err != nil {
		return scan, fmt.Errorf("cannot read the log: %w", err)
	}
	defer file.Close()
	if scan, err = scanFrom(ctx, recallScan(p, d), file); err == nil {
		rememberScan(p, d, scan)
	}
	return scan, err
}

func scanPath(p ovndb.Paths, d ovndb.Database) string {
	return filepath.Join(p.Run, "ovn"+d.Short()+"_db.log-scan")
}

func recallScan(p ovndb.Paths, d ovndb.Database) (scan logScan) {
	text, err := os.ReadFile(scanPath(p, d))
	if err != nil || json.Unmarshal(text, &scan) != nil {
		return logScan{}
	}
	return scan
}

// rememberScan ignores errors: without the stored scan the next call reads the whole file.
func rememberScan(p ovndb.Paths, d ovndb.Database, scan logScan) {
	if text, err := json.Marshal(scan); err == nil {
		_, _ = atomicfile.WriteIfChanged(scanPath(p, d), text, 0o600)
	}
}

// beginning returns a scan that identifies the file and has read nothing yet.
func beginning(file *os.File) (info os.FileInfo, fresh logScan, err error) {
	if info, err = file.Stat(); err != nil {
		return nil, fresh, fmt.Errorf("cannot read the log: %w", err)
	}
	head := make([]byte, maxHeader)
	n, err := file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fresh, fmt.Errorf("cannot read the log: %w", err)
	}
	line, _, _ := bytes.Cut(head[:n], []byte{'\n'})
	fresh.Head = string(line)
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		fresh.Device, fresh.Inode = stat.Dev, stat.Ino
	}
	return info, fresh, nil
}

// isOf reports whether the scan is of the same file as fresh.
func (s *logScan) isOf(fresh logScan) bool {
	return s.Server != "" && s.Device == fresh.Device && s.Inode == fresh.Inode && s.Head == fresh.Head
}

// scanFrom continues where an earlier scan of the same file ended, or starts at the beginning.
func scanFrom(ctx context.Context, last logScan, file *os.File) (scan logScan, err error) {
	info, fresh, err := beginning(file)
	if err != nil {
		return scan, err
	}
	if scan = fresh; last.isOf(fresh) && last.Offset <= info.Size() {
		scan = last
	}
	torn, err := scan.read(ctx, file)
	if torn && scan.Offset == last.Offset && last.Offset > 0 {
		// No new record was complete. The server may have truncated records of the last scan.
		scan = fresh
		_, err = scan.read(ctx, file)
	}
	return scan, err
}

// read applies all complete records, beginning at Offset.
func (s *logScan) read(ctx context.Context, file io.ReadSeeker) (torn bool, err error) {
	r := bufio.NewReaderSize(file, 256<<10)
	if err := s.rewind(file, r); err != nil {
		return false, err
	}
	for s.Damage == "" {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		rec, err := readRecord(r)
		if errors.Is(err, errTorn) {
			more, failed := followed(file, s.Offset)
			if failed != nil || !more {
				return true, failed
			}
			// Another record follows this one, so it must be complete by now.
			if err := s.rewind(file, r); err != nil {
				return false, err
			}
			rec, err = readRecord(r)
		}
		switch {
		case errors.Is(err, io.EOF):
			return false, nil
		case errors.Is(err, errTorn):
			s.Damage = fmt.Sprintf("record %d, at byte %d, can't be read, and others follow it", s.Records+1, s.Offset)
			return false, nil
		case err != nil:
			return false, fmt.Errorf("cannot read the log: %w", err)
		}
		s.accept(rec)
	}
	return false, nil
}

// rewind makes r read from Offset.
func (s *logScan) rewind(file io.ReadSeeker, r *bufio.Reader) error {
	if _, err := file.Seek(s.Offset, io.SeekStart); err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	r.Reset(file)
	return nil
}

// accept applies a complete record.
func (s *logScan) accept(r logRecord) {
	s.apply(r)
	if s.seen != nil && s.Damage == "" {
		s.seen(s.Offset, r)
	}
	s.Offset += r.size
}

// followed reports whether another record begins after the one at offset. JSON texts in the file have no line breaks.
func followed(file io.ReadSeeker, offset int64) (bool, error) {
	if _, err := file.Seek(offset+1, io.SeekStart); err != nil {
		return false, fmt.Errorf("cannot read the log: %w", err)
	}
	mark := []byte("\n" + recordLead)
	buffer, kept := make([]byte, 64<<10), 0
	for {
		n, err := file.Read(buffer[kept:])
		if bytes.Contains(buffer[:kept+n], mark) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		} else if err != nil {
			return false, fmt.Errorf("cannot read the log: %w", err)
		}
		tail := buffer[max(0, kept+n-len(mark)):(kept + n)]
		kept = copy(buffer, tail)
	}
}

// apply changes the state by one record, as raft_apply_record() does.
func (s *logScan) apply(r logRecord) {
	if s.Offset == 0 {
		s.Start, s.End, s.Commit = r.PrevIndex+1, r.PrevIndex+1, r.PrevIndex
		s.Terms = []termStart{{r.PrevIndex, r.PrevTerm}}
		s.Server = r.Server
		if r.Servers != nil {
			s.Configurations = []configuration{{r.PrevIndex, r.Servers}}
		}
		return
	}
	s.Records++
	if r.Note != "" {
		return
	}
	if r.Commit != 0 {
		s.commit(r.Commit)
		return
	}
	if r.Term > s.Term {
		s.Term, s.Vote = r.Term, ""
	}
	switch {
	case r.Index != 0:
		s.entry(r)
	case r.Vote == "":
	case r.Term < s.Term:
		s.damage("votes for term %d, but the term is %d already", r.Term, s.Term)
	case s.Vote != "" && s.Vote != r.Vote:
		s.damage("votes a second time in term %d", r.Term)
	default:
		s.Vote = r.Vote
	}
}

func (s *logScan) commit(index uint64) {
	switch {
	case index < s.Commit:
		s.damage("takes the commit index back from %d to %d", s.Commit, index)
	case index >= s.End:
		s.damage("advances the commit index to %d, but the last entry is %d", index, s.End-1)
	default:
		s.Commit = index
	}
}

// entry appends an entry, or replaces entries that were not committed.
func (s *logScan) entry(r logRecord) {
	switch {
	case r.Index < s.Commit:
		s.damage("takes entry %d back, but %d is committed", r.Index, s.Commit)
		return
	case r.Index > s.End:
		s.damage("has entry %d, but the one before it is %d", r.Index, s.End-1)
		return
	}
	s.End = r.Index
	s.Terms = slices.DeleteFunc(s.Terms, func(t termStart) bool { return t.Index >= r.Index && t.Index >= s.Start })
	if before := s.Terms[len(s.Terms)-1].Term; r.Term < before {
		s.damage("has entry %d of term %d behind one of term %d", r.Index, r.Term, before)
		return
	} else if r.Term > before {
		s.Terms = append(s.Terms, termStart{r.Index, r.Term})
	}
	s.End++
	s.Configurations = slices.DeleteFunc(s.Configurations, func(c configuration) bool {
		return c.Index >= r.Index && c.Index >= s.Start
	})
	if r.Servers != nil {
		s.Configurations = append(s.Configurations, configuration{r.Index, r.Servers})
	}
	if i := slices.IndexFunc(s.Configurations, func(c configuration) bool { return c.Index > s.Commit }); i > 1 {
		s.Configurations = s.Configurations[i-1:] // configurations before the last committed one can't come back
	}
}

func (s *logScan) damage(format string, args ...any) {
	s.Damage = fmt.Sprintf("record %d "+format, append([]any{s.Records}, args...)...)
}
