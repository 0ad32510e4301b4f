package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// writePause is the least time between two writes to one database. Each write
// costs a client process, and makes ovn-northd compute everything anew.
const writePause = 500 * time.Millisecond

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
	stop  context.CancelFunc
	group sync.WaitGroup
	// name begins its rows: those of another writer would hide what it lost, and
	// ovn-nbctl refuses a name that is there.
	name string

	mu   sync.Mutex
	rows map[DB]*rows
}

type rows struct {
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
// of ctx. Two writes to one database are so long apart, at least; 0 is half a second.
func (l *Lab) StartWriter(ctx context.Context, pause time.Duration) *Writer {
	going, stop := context.WithCancel(ctx)
	w := &Writer{lab: l, stop: stop, rows: map[DB]*rows{NB: {}, SB: {}}, name: fmt.Sprintf("write-%08x", rand.Uint32())}
	for _, db := range Databases {
		w.group.Go(func() { w.write(ctx, going, db, cmp.Or(pause, writePause)) })
	}
	return w
}

// write writes until going ends. A write that is under way is ended by ctx alone.
func (w *Writer) write(ctx, going context.Context, db DB, pause time.Duration) {
	mine := w.rows[db]
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	last := time.Now()
	for n := 0; going.Err() == nil; n++ {
		row := fmt.Sprintf("%s-%d", w.name, n)
		_, err := w.client(ctx, db, insert[db](row))
		w.mu.Lock()
		if now := time.Now(); err == nil {
			mine.acknowledged, mine.times = append(mine.acknowledged, row), append(mine.times, now)
			mine.longest = max(mine.longest, now.Sub(last))
			last = now
		} else {
			mine.failed++
		}
		w.mu.Unlock()
		select {
		case <-ticker.C:
		case <-going.Done():
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	mine.longest = max(mine.longest, time.Since(last))
}

// soFar is what has become of the writes to db.
func (w *Writer) soFar(db DB) rows {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.rows[db]
}

// Acknowledged is how many writes to db have been acknowledged so far.
func (w *Writer) Acknowledged(db DB) int { return len(w.soFar(db).acknowledged) }

// Acknowledgement is which row was acknowledged, and when, as number n of db.
func (w *Writer) Acknowledgement(db DB, n int) (row string, at time.Time) {
	mine := w.soFar(db)
	return mine.acknowledged[n], mine.times[n]
}

// Unacknowledged is how many writes to db have failed so far.
func (w *Writer) Unacknowledged(db DB) int { return w.soFar(db).failed }

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
	w.stop()
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
		mine := w.soFar(db)
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
	args := []string{"--timeout=" + writeTimeout, "--no-leader-only", "--db=unix:" + u.Machine.Socket(db)}
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
