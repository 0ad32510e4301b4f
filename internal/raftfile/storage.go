package raftfile

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Storage has the sizes of a clustered database's file. A compaction replaces the file. The server compacts if the
// file is twice as large as after the last compaction and at least 10 MB, and after 24 hours with 100 commits
// (ovsdb-server(1), ovsdb-server/compact).
type Storage struct {
	// Size is the size of the file, Compacted the size of the part that the last compaction wrote, both in bytes.
	Size, Compacted int64
	// Written is the time of the last compaction, or of a later join. It is zero if the file
	// system doesn't store the time of creation.
	Written time.Time
}

// Grown returns by how many bytes the file has grown since the last compaction.
func (s Storage) Grown() int64 { return max(s.Size-s.Compacted, 0) }

// ReadStorage reads the first line of the file of database d: the header of the snapshot
// (ovsdb(5), "Clustered Format"). The file of a standalone database is an error.
func ReadStorage(p ovndb.Paths, d ovndb.Database) (Storage, error) {
	file, err := os.Open(p.File(d))
	if err != nil {
		return Storage{}, fmt.Errorf("cannot look at the database file: %w", err)
	}
	defer file.Close()
	var stat unix.Statx_t
	if err := unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_SIZE|unix.STATX_BTIME, &stat); err != nil {
		return Storage{}, fmt.Errorf("cannot look at the database file %s: %w", file.Name(), err)
	}
	var length int64
	line, err := readHeader(bufio.NewReaderSize(file, maxHeader))
	if err == nil {
		length, _, err = parseHeader(line)
	}
	if err != nil {
		return Storage{}, fmt.Errorf("cannot read %s: %w", file.Name(), err)
	}
	s := Storage{Size: int64(stat.Size), Compacted: int64(len(line)) + length} //nolint:gosec // no file is that long
	if stat.Mask&unix.STATX_BTIME != 0 {
		s.Written = time.Unix(stat.Btime.Sec, int64(stat.Btime.Nsec)).UTC()
	}
	return s, nil
}

// Size returns a file's size in bytes; 0 if it is unknown.
func Size(path string) int64 {
	stat, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return stat.Size()
}

// SchemaVersion returns the version of the schema in a file (RFC 7047, section 3.2). OVN's files have it at their
// beginning: reading stops there.
func SchemaVersion(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it is only read
	version, err := schemaVersion(json.NewDecoder(file))
	if err != nil {
		return "", fmt.Errorf("cannot read %s: %w", path, err)
	}
	return version, nil
}

func schemaVersion(in *json.Decoder) (version string, err error) {
	if start, err := in.Token(); err != nil || start != json.Delim('{') {
		return "", cmp.Or(err, errors.New("it is not an object"))
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return "", err
		}
		if key == "version" {
			err := in.Decode(&version)
			return version, err
		}
		if err := in.Decode(new(json.RawMessage)); err != nil {
			return "", err
		}
	}
	return "", errors.New("it has no version")
}
