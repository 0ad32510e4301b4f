package ovsctl

import (
	"bufio"
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

// LongPolls are the turns of a server's main loop that took a second or more: for so long
// it answered no client and no member. One that takes as long as the election timer
// costs the leader its lead.
type LongPolls struct {
	Count   int
	Longest time.Duration
}

// logTail is how much of a log's end is read, in bytes: a line of a long turn has about 100,
// with its counters a few thousand.
const logTail = 1 << 20

// longPoll is what log_poll_interval() in lib/timeval.c of Open vSwitch says, behind the
// time in UTC (the default pattern of ovs-appctl's vlog/set).
var longPoll = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z)\|` +
		`.*\|timeval\|WARN\|Unreasonably long (\d+)ms poll interval`)
})

// ReadLongPolls counts those since a moment in the log of the server of database d. Where
// there is no log, or was rotated, what it had is not counted.
func ReadLongPolls(p ovndb.Paths, d ovndb.Database, since time.Time) (LongPolls, error) {
	file, err := os.Open(p.Log(d))
	if errors.Is(err, fs.ErrNotExist) {
		return LongPolls{}, nil
	} else if err != nil {
		return LongPolls{}, fmt.Errorf("cannot read the server's log: %w", err)
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	if err == nil {
		_, err = file.Seek(max(info.Size()-logTail, 0), io.SeekStart)
	}
	if err != nil {
		return LongPolls{}, fmt.Errorf("cannot read the server's log: %w", err)
	}
	found, err := countLongPolls(file, since)
	if err != nil {
		return found, fmt.Errorf("cannot read the server's log %s: %w", file.Name(), err)
	}
	return found, nil
}

func countLongPolls(log io.Reader, since time.Time) (found LongPolls, err error) {
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, logTail)
	for lines.Scan() {
		m := longPoll().FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		at, err := time.Parse(time.RFC3339Nano, m[1])
		ms, tooLong := strconv.ParseInt(m[2], 10, 32)
		if err != nil || tooLong != nil || at.Before(since) {
			continue
		}
		found.Count++
		found.Longest = max(found.Longest, time.Duration(ms)*time.Millisecond)
	}
	return found, lines.Err()
}
