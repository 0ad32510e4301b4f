package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// WriterOptions are those of [Lab.StartWriter].
type WriterOptions struct {
	// Interval is the least time between two writes to one database; half a second. Each write
	// costs a client process, and makes ovn-northd compute everything anew.
	Interval time.Duration
}

// Writes is what became of a writer's writes to one database.
type Writes struct {
	// Acknowledged were reported as done by the client; of them Lost weren't there
	// when they were read back.
	Acknowledged, Lost int
	// Missing are the numbers of the acknowledged ones that are lost, counted from 0 in the
	// order of their acknowledgement.
	Missing []int
	// Unacknowledged are those whose client failed: they may or may not be there.
	Unacknowledged int
	// LongestGap is the longest time without an acknowledgement.
	LongestGap time.Duration
}

// Writer writes rows to both databases, one after another, through the client
// ports of whichever units are in the model.
type Writer struct {
	lab   *Lab
	stop  chan struct{}
	once  sync.Once
	group sync.WaitGroup
	rows  map[DB]*rows
	// name begins its rows: those of another writer would hide what it lost, and
	// ovn-nbctl refuses a name that is there.
	name string
}

type rows struct {
	mu           sync.Mutex
	acknowledged []string
	times        []time.Time // of the acknowledgements
	failed       int
	longest      time.Duration
}

// writeTimeout is after how many seconds a client gives up. An election, of a
// timer of 4 s, fits in.
const writeTimeout = "15"

// How a row of its own is written and read, by database. The row must be of a
// table that ovn-northd leaves alone.
var (
	insert = map[DB]func(row string) []string{
		NB: func(row string) []string { return []string{"ovn-nbctl", "ls-add", row} },
		SB: func(row string) []string {
			return []string{"ovn-sbctl", "create", "Controller_Event", "event_type=empty_lb_backends", "event_info:row=" + row}
		},
	}
	list = map[DB][]string{
		NB: {"ovn-nbctl", "--bare", "--columns=name", "list", "Logical_Switch"},
		SB: {"ovn-sbctl", "--bare", "--columns=event_info", "list", "Controller_Event"},
	}
)

// StartWriter starts to write to both databases, until [Writer.Stop] or the end
// of ctx.
func (l *Lab) StartWriter(ctx context.Context, o WriterOptions) *Writer {
	if o.Interval == 0 {
		o.Interval = 500 * time.Millisecond
	}
	w := &Writer{lab: l, stop: make(chan struct{}), rows: map[DB]*rows{NB: {}, SB: {}}, name: fmt.Sprintf("write-%08x", rand.Uint32())}
	for _, db := range Databases {
		w.group.Go(func() { w.write(ctx, db, o.Interval) })
	}
	return w
}

func (w *Writer) write(ctx context.Context, db DB, interval time.Duration) {
	mine := w.rows[db]
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := time.Now()
	for n := 0; !w.stopped(ctx); n++ {
		row := fmt.Sprintf("%s-%d", w.name, n)
		_, err := w.client(ctx, db, insert[db](row))
		now := time.Now()
		mine.mu.Lock()
		if err == nil {
			mine.acknowledged = append(mine.acknowledged, row)
			mine.times = append(mine.times, now)
			mine.longest = max(mine.longest, now.Sub(last))
			last = now
		} else {
			mine.failed++
		}
		mine.mu.Unlock()
		select {
		case <-ticker.C:
		case <-w.stop:
		case <-ctx.Done():
		}
	}
	mine.mu.Lock()
	defer mine.mu.Unlock()
	mine.longest = max(mine.longest, time.Since(last))
}

// Acknowledged is how many writes to db have been acknowledged so far.
func (w *Writer) Acknowledged(db DB) int {
	mine := w.rows[db]
	mine.mu.Lock()
	defer mine.mu.Unlock()
	return len(mine.acknowledged)
}

// Acknowledgement is which row was acknowledged, and when, as number n of db.
func (w *Writer) Acknowledgement(db DB, n int) (row string, at time.Time) {
	mine := w.rows[db]
	mine.mu.Lock()
	defer mine.mu.Unlock()
	return mine.acknowledged[n], mine.times[n]
}

// Unacknowledged is how many writes to db have failed so far.
func (w *Writer) Unacknowledged(db DB) int {
	mine := w.rows[db]
	mine.mu.Lock()
	defer mine.mu.Unlock()
	return mine.failed
}

func (w *Writer) stopped(ctx context.Context) bool {
	select {
	case <-w.stop:
		return true
	default:
		return ctx.Err() != nil
	}
}

// client runs one of OVN's clients against all members; it finds the leader.
func (w *Writer) client(ctx context.Context, db DB, command []string) (string, error) {
	if len(w.lab.Units()) == 0 {
		return "", errors.New("there is no unit to ask")
	}
	args := append([]string{"--timeout=" + writeTimeout, "--db=" + w.lab.Remotes(db)}, command[1:]...)
	return w.lab.Exec(ctx, command[0], args...)
}

// Stop ends the writing, after the writes that are under way.
func (w *Writer) Stop() {
	w.once.Do(func() { close(w.stop) })
	w.group.Wait()
}

// Verify stops the writing and reads all rows back: a row that is acknowledged between
// the reading and the counting would be taken for lost.
func (w *Writer) Verify(ctx context.Context) (map[DB]Writes, error) {
	w.Stop()
	result := map[DB]Writes{}
	for _, db := range Databases {
		text, err := w.client(ctx, db, list[db])
		if err != nil {
			return nil, fmt.Errorf("cannot read back what was written to %s: %w", db, err)
		}
		there := rowsOf(text)
		mine := w.rows[db]
		writes := Writes{Acknowledged: len(mine.acknowledged), Unacknowledged: mine.failed, LongestGap: mine.longest}
		for n, row := range mine.acknowledged {
			if !there[row] {
				writes.Lost++
				writes.Missing = append(writes.Missing, n)
			}
		}
		result[db] = writes
	}
	return result, nil
}

// Copy are the rows that one unit's server has of a database, whether or not it leads. It
// must know a leader: clients stay connected to no other.
func (l *Lab) Copy(ctx context.Context, u *Unit, db DB) (map[string]bool, error) {
	args := []string{"--timeout=" + writeTimeout, "--no-leader-only", "--db=unix:" + u.machine.Socket(db)}
	text, err := u.Exec(ctx, list[db][0], append(args, list[db][1:]...)...)
	return rowsOf(text), err
}

func rowsOf(text string) map[string]bool {
	there := map[string]bool{}
	for _, word := range strings.Fields(text) {
		there[strings.Trim(strings.TrimPrefix(word, "row="), `{}"`)] = true
	}
	return there
}
