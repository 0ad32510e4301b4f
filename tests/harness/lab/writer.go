package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/writes"
)

// writePause separates writes to a database: each costs a client, and makes ovn-northd recompute everything.
const writePause = 500 * time.Millisecond

// Writer writes rows to both databases in turn, through the client ports of the model's current units.
type Writer struct {
	lab   *Lab
	stop  context.CancelFunc
	group sync.WaitGroup
	// name begins the writer's rows. With another writer's names, its rows would hide what this one lost, and ovn-nbctl
	// refuses an existing name.
	name string
	as   Credentials

	mu   sync.Mutex
	logs map[DB]*writes.Log
}

// writeTimeout, in seconds, is longer than an election with a timer of 4 s.
const writeTimeout = "15"

// How a row of its own is written and read, by database. The row must be of a table that ovn-northd leaves alone.
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

// StartWriter starts to write to both databases, until [Writer.Stop] or the end of ctx. The pause between two writes
// to a database is at least pause; 0 means half a second.
func (l *Lab) StartWriter(ctx context.Context, pause time.Duration) *Writer {
	return l.StartWriterAs(ctx, pause, l.ClientCredentials())
}

// StartWriterAs is like StartWriter, with a client's credentials.
func (l *Lab) StartWriterAs(ctx context.Context, pause time.Duration, c Credentials) *Writer {
	going, stop := context.WithCancel(ctx)
	w := &Writer{
		lab: l, stop: stop, logs: map[DB]*writes.Log{NB: {Begun: time.Now()}, SB: {Begun: time.Now()}},
		name: fmt.Sprintf("write-%08x", rand.Uint32()), as: c,
	}
	for _, db := range Databases {
		w.group.Go(func() { w.write(ctx, going, db, cmp.Or(pause, writePause)) })
	}
	return w
}

// write writes until going ends. A write that has begun is ended only by ctx.
func (w *Writer) write(ctx, going context.Context, db DB, pause time.Duration) {
	mine := w.logs[db]
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for n := 0; going.Err() == nil; n++ {
		row := fmt.Sprintf("%s-%d", w.name, n)
		_, err := w.client(ctx, db, insert[db](row))
		w.mu.Lock()
		if err == nil {
			mine.Acknowledged = append(mine.Acknowledged, writes.Acknowledgement{Row: row, At: time.Now()})
		} else {
			mine.Failed++
		}
		w.mu.Unlock()
		select {
		case <-ticker.C:
		case <-going.Done():
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	mine.Ended = time.Now()
}

func (w *Writer) soFar(db DB) writes.Log {
	w.mu.Lock()
	defer w.mu.Unlock()
	return *w.logs[db]
}

// Acknowledged returns how many writes to db have been acknowledged so far.
func (w *Writer) Acknowledged(db DB) int { return len(w.soFar(db).Acknowledged) }

// Acknowledgement returns the row that was acknowledged as number n of db, and when.
func (w *Writer) Acknowledgement(db DB, n int) (row string, at time.Time) {
	a := w.soFar(db).Acknowledged[n]
	return a.Row, a.At
}

func (w *Writer) client(ctx context.Context, db DB, command []string) (string, error) {
	if len(w.lab.Units()) == 0 {
		return "", errors.New("there is no unit to ask")
	}
	args := append(w.as.Options(), "--timeout="+writeTimeout, "--db="+w.lab.Remotes(db))
	return w.lab.Exec(ctx, command[0], append(args, command[1:]...)...)
}

// Stop stops the writing after the writes that have begun.
func (w *Writer) Stop() {
	w.stop()
	w.group.Wait()
}

// Verify stops the writing and reads all rows back. Rows written later would count as lost.
func (w *Writer) Verify(ctx context.Context) (map[DB]writes.Outcome, error) {
	w.Stop()
	result := map[DB]writes.Outcome{}
	for _, db := range Databases {
		text, err := w.client(ctx, db, list[db])
		if err != nil {
			return nil, fmt.Errorf("cannot read back what was written to %s: %w", db, err)
		}
		result[db] = w.soFar(db).Judge(rowsOf(text))
	}
	return result, nil
}

// Copy returns the rows of one server, which need not lead. It must know a leader: clients stay connected to no other
// server.
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

// Written matches the names of a [Writer]'s rows.
var Written = regexp.MustCompile(`write-[0-9a-f]{8}-[0-9]+`)

var columns = map[DB][2]string{NB: {"Logical_Switch", "name"}, SB: {"Controller_Event", "event_info"}}

// Stored returns writers' rows in the file of a unit's database, whose server may be down or know no leader.
func (u *Unit) Stored(ctx context.Context, db DB) (rows map[string]bool, err error) {
	dir, err := os.MkdirTemp("", "copy-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	copied, alone := filepath.Join(dir, "copied"), filepath.Join(dir, "alone")
	query := fmt.Sprintf(`[%q,{"op":"select","table":%q,"where":[],"columns":[%q]}]`, db.Schema(), columns[db][0], columns[db][1])
	text := ""
	for _, command := range [][]string{
		{"cp", u.DBFile(db), copied}, {"ovsdb-tool", "cluster-to-standalone", alone, copied}, {"ovsdb-tool", "query", alone, query},
	} {
		if text, err = u.lab.Exec(ctx, command[0], command[1:]...); err != nil {
			return nil, fmt.Errorf("cannot read the copy of %s of %s: %w", db, u.name, err)
		}
	}
	rows = map[string]bool{}
	for _, row := range Written.FindAllString(text, -1) {
		rows[row] = true
	}
	return rows, nil
}
