package ovsctl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// readLogEnd returns at most n bytes from the end of the log of a database's server; nothing if there is no log.
func readLogEnd(p ovndb.Paths, d ovndb.Database, n int64) ([]byte, error) {
	file, err := os.Open(p.Log(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("cannot read the server's log: %w", err)
	}
	defer file.Close()
	var text []byte
	info, err := file.Stat()
	if err == nil {
		text, err = io.ReadAll(io.NewSectionReader(file, max(0, info.Size()-n), n))
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the server's log: %w", err)
	}
	return text, nil
}

// LongPolls are the iterations of a server's main loop that took a second or more. During an iteration the server
// answers no client and no member. A leader whose iteration takes as long as the election timer loses its lead.
type LongPolls struct {
	Count   int
	Longest time.Duration
}

// pollsEnd bounds the part of a log that is searched for long polls, in bytes. A line about a long poll has about 100
// bytes, and a few thousand with its counters.
const pollsEnd = 1 << 20

// longPoll matches the text of log_poll_interval() in lib/timeval.c of Open vSwitch, after the time in UTC (the
// default pattern of ovs-appctl's vlog/set).
var longPoll = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z)\|` +
		`.*\|timeval\|WARN\|Unreasonably long (\d+)ms poll interval`)
})

// ReadLongPolls counts the long polls since a given time in the log of the server of database d. It does not read
// rotated logs.
func ReadLongPolls(p ovndb.Paths, d ovndb.Database, since time.Time) (found LongPolls, err error) {
	text, err := readLogEnd(p, d, pollsEnd)
	for line := range bytes.Lines(text) {
		m := longPoll().FindSubmatch(line)
		if m == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, string(m[1]))
		ms, tooLong := strconv.ParseInt(string(m[2]), 10, 32)
		if err != nil || tooLong != nil || at.Before(since) {
			continue
		}
		found.Count++
		found.Longest = max(found.Longest, time.Duration(ms)*time.Millisecond)
	}
	return found, err
}

// Lines in the log of an ovsdb-server. The first is its first line. The second is the last line of a server older
// than OVS 3.2 that can't use its file, or an entry from the leader, because a newer server has converted the
// database: then an entry has a schema and no data (parse_txn in ovsdb/ovsdb-server.c, the same line since 2.9; seen
// with Debian's 3.1).
const (
	logBegins = "|vlog|INFO|opened log file "
	logTooNew = "assertion txn_json failed in parse_txn()"
)

// tooNewEnd bounds the part of a log that is searched for these lines, in bytes. A server that exits for this reason
// writes less than 2 KiB.
const tooNewEnd = 64 << 10

// FileTooNew reports whether, by its log, the database's last server exited because its file, or the leader, is of a
// newer Open vSwitch.
func FileTooNew(p ovndb.Paths, d ovndb.Database) (bool, error) {
	text, err := readLogEnd(p, d, tooNewEnd)
	if begin := bytes.LastIndex(text, []byte(logBegins)); begin >= 0 {
		text = text[begin:]
	}
	return bytes.Contains(text, []byte(logTooNew)), err
}
