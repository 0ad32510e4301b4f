package raftfile

import (
	"bufio"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Storage is the size of a clustered database's file on the disk. The server replaces the
// file when it compacts the database: by itself once the file is twice as large as after the
// last compaction and at least 10 MB, and after 24 hours with 100 commits (ovsdb-server(1),
// ovsdb-server/compact).
type Storage struct {
	// Size is the file's, in bytes; Compacted is how much of it the last compaction wrote,
	// which is what the database held then.
	Size, Compacted int64
	// Written is when the file was made: by the last compaction, or by a join since. It is
	// zero if the file system does not tell.
	Written time.Time
}

// Grown is by how many bytes the file has grown since it was last compacted.
func (s Storage) Grown() int64 { return max(s.Size-s.Compacted, 0) }

// ReadStorage looks at the file of database d. It reads no more than the line that the
// file begins with: the first record is the snapshot (ovsdb(5), "Clustered Format"). A
// standalone database's file is an error.
func ReadStorage(p ovndb.Paths, d ovndb.Database) (Storage, error) {
	file, err := os.Open(p.File(d))
	if err != nil {
		return Storage{}, fmt.Errorf("cannot look at the database file: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	var stat unix.Statx_t
	if err := unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_SIZE|unix.STATX_BTIME, &stat); err != nil {
		return Storage{}, fmt.Errorf("cannot look at the database file %s: %w", file.Name(), err)
	}
	line, err := readHeader(bufio.NewReaderSize(file, maxHeader))
	if err != nil {
		return Storage{}, fmt.Errorf("cannot read %s: %w", file.Name(), err)
	}
	length, _, err := parseHeader(line)
	if err != nil {
		return Storage{}, fmt.Errorf("cannot read %s: %w", file.Name(), err)
	}
	s := Storage{Size: int64(stat.Size), Compacted: int64(len(line)) + length} //nolint:gosec // no file is that long
	if stat.Mask&unix.STATX_BTIME != 0 {
		s.Written = time.Unix(stat.Btime.Sec, int64(stat.Btime.Nsec)).UTC()
	}
	return s, nil
}
