//go:build programs

package backup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// eager runs programs without nice(1): with it they would get too little processor time beside other tests.
type eager struct{ run.Exec }

func (e eager) Run(ctx context.Context, c run.Command) ([]byte, error) {
	if c.Name == "nice" {
		c.Name, c.Args = c.Args[2], c.Args[3:]
	}
	return e.Exec.Run(ctx, c)
}

// mebibytes returns the size of the Northbound database; `make test-system` uses 500.
func mebibytes(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(cmp.Or(os.Getenv("BACKUP_MIB"), "12"))
	require.NoError(t, err)
	return n
}

// large returns a unit with a large Northbound database that no server serves.
func large(t *testing.T, size int) *Service {
	t.Helper()
	s := &Service{
		Unit:     "ovn-central/0",
		Files:    ovsctl.Files{Runner: eager{}, Paths: ovndb.Paths{Run: t.TempDir(), DB: t.TempDir()}},
		Dialer:   &ovsdb.Dialer{},
		Version:  func(context.Context) (ovndb.Version, bool, error) { return ovndb.Version{}, true, nil },
		Now:      time.Now,
		Progress: func(context.Context, string) {},
	}
	for _, db := range ovndb.Databases() {
		contents := s.Files.Paths.Schema(db)
		if db == ovndb.NB {
			contents = filepath.Join(t.TempDir(), "alone")
			fillWith(t, contents, s.Files.Paths.Schema(db), size)
		}
		address := ovndb.RaftAddress(db, loopbacktest.Network(t)+".1")
		create := exec.CommandContext(t.Context(), "ovsdb-tool", "create-cluster", s.Files.Paths.File(db), contents, address)
		said, err := create.CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	return s
}

// None of the programs that a backup runs takes more memory than the check before it requires, and this program reads
// no database as a whole. The server whose database is copied needs no memory for the backup.
func TestTake_memory_within_requirement(t *testing.T) {
	size := mebibytes(t) << 20
	for _, source := range []Source{FromFile, Served} {
		t.Run(string(source), func(t *testing.T) {
			s := large(t, size)
			pid := 0
			if source == Served {
				pid = serve(t, s.Files.Paths)
			}
			loaded := peak(t, pid)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := time.Now()
			silence := watch(t, s.Files.Paths, pid)
			dir, m, err := s.Take(t.Context(), filepath.Join(t.TempDir(), "backups"), 1)
			require.NoError(t, err)
			took, silent := time.Since(start), silence()
			runtime.ReadMemStats(&after)
			require.NoError(t, check(t.Context(), dir))
			assert.Equal(t, source, m.Databases[0].Source)

			var children syscall.Rusage
			require.NoError(t, syscall.Getrusage(syscall.RUSAGE_CHILDREN, &children))
			taken := children.Maxrss << 10
			t.Logf("%d MiB in %s: %d MiB in a program, %d more in this one, %d more in the server, which was silent for %s",
				size>>20, took.Round(100*time.Millisecond), taken>>20, (after.Sys-before.Sys)>>20, (peak(t, pid)-loaded)>>20,
				silent.Round(10*time.Millisecond))
			assert.Greater(t, taken, int64(size), "a program has loaded it")
			assert.LessOrEqual(t, taken, int64(memoryFactor*size+spare/2)) // half of the spare, so that one more copy is noticed
			assert.Less(t, peak(t, pid)-loaded, int64(size/2))
			assert.Less(t, after.Sys-before.Sys, uint64(size/2))
		})
	}
}

// serve starts a server of the Northbound database, and returns when the server serves it.
func serve(t *testing.T, paths ovndb.Paths) (pid int) {
	t.Helper()
	s := &ovsdbtest.Server{Database: ovndb.NB, Paths: paths}
	s.Begin(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for exec.CommandContext(ctx, "ovsdb-client", "wait", s.Endpoint(), "OVN_Northbound", "connected").Run() != nil {
		require.NoError(t, poll.Wait(ctx, 100*time.Millisecond), "the server does not serve")
	}
	return s.Pid
}

// watch asks a server for its version repeatedly. longest returns the longest time without an answer; 0 without a
// server.
func watch(t *testing.T, paths ovndb.Paths, pid int) (longest func() time.Duration) {
	t.Helper()
	if pid == 0 {
		return func() time.Duration { return 0 }
	}
	ctx, cancel := context.WithCancel(t.Context())
	most := make(chan time.Duration, 1)
	go func() {
		longest := time.Duration(0)
		for ctx.Err() == nil {
			start := time.Now()
			_ = exec.CommandContext(t.Context(), "ovs-appctl", "-t", paths.Control(ovndb.NB), "version").Run()
			longest = max(longest, time.Since(start))
			_ = poll.Wait(ctx, 50*time.Millisecond)
		}
		most <- longest
	}()
	return func() time.Duration { cancel(); return <-most }
}

// peak returns the most memory that a process has had, in bytes; 0 if there is no process.
func peak(t *testing.T, pid int) (bytes int64) {
	t.Helper()
	if pid == 0 {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	_, err = fmt.Sscan(rest, &bytes)
	require.NoError(t, err)
	return bytes << 10
}

// fillWith writes a standalone database of the given size in bytes, in rows of 1 KiB.
func fillWith(t *testing.T, path, schema string, size int) {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	record := func(text []byte) {
		text = append(text, '\n')
		_, err := fmt.Fprintf(file, "OVSDB JSON %d %x\n%s", len(text), sha1.Sum(text), text)
		require.NoError(t, err)
	}
	text, err := os.ReadFile(schema)
	require.NoError(t, err)
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, text))
	record(compact.Bytes())
	for written := 0; written < size; {
		rows := map[string]any{}
		for i := range 256 {
			rows[fmt.Sprintf("%08x-0000-4000-8000-%012x", written, i)] = map[string]any{
				"name": fmt.Sprint(written, i), "external_ids": []any{"map", []any{[]any{"key", strings.Repeat("x", 900)}}},
			}
		}
		text, err := json.Marshal(map[string]any{"Logical_Switch": rows})
		require.NoError(t, err)
		record(text)
		written += len(text)
	}
}

// The records of the file are valid, but no server could load them.
func TestTake_unloadable_copy(t *testing.T) {
	s := large(t, 1)
	file, err := os.OpenFile(s.Files.Paths.File(ovndb.NB), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	entry := `{"term":1,"index":2,"eid":"d38e85dc-da38-4a9e-bcee-7e5ebb69a001",` +
		`"data":[null,{"No_Such_Table":{"11111111-1111-4111-8111-111111111112":{"name":"x"}}}]}` + "\n"
	sum := sha1.Sum([]byte(entry)) //nolint:gosec // the format's own checksum
	_, err = fmt.Fprintf(file, "OVSDB CLUSTER %d %x\n%s", len(entry), sum, entry)
	require.NoError(t, err)
	require.NoError(t, file.Close())

	dir := filepath.Join(t.TempDir(), "backups")
	_, _, err = s.Take(t.Context(), dir, 1)
	require.ErrorContains(t, err, "No table named No_Such_Table")
	left, err := filepath.Glob(filepath.Join(dir, "*2*")) // names that contain a time
	require.NoError(t, err)
	assert.Empty(t, left)
}

// The backup reports why it asked the server.
func TestTake_asks_server_if_file_is_unreadable(t *testing.T) {
	s := large(t, 1)
	serve(t, s.Files.Paths)
	var reported []string
	s.Progress = func(_ context.Context, text string) { reported = append(reported, text) }
	putThirdElement(t, s.Files.Paths.File(ovndb.NB))

	dir, m, err := s.Take(t.Context(), filepath.Join(t.TempDir(), "backups"), 1)
	require.NoError(t, err)
	require.NoError(t, check(t.Context(), dir))
	nb := m.Databases[0]
	assert.Equal(t, Served, nb.Source)
	assert.NotZero(t, nb.Index)
	assert.Contains(t, strings.Join(reported, "\n"), "nb: ")
}

// putThirdElement replaces a cluster's file by a file whose first record has an unknown third element, after schema
// and transaction. The server continues with the file that it has open.
func putThirdElement(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, _ := bytes.Cut(text, []byte("\n"))
	var size int
	_, err = fmt.Sscanf(string(head), "OVSDB CLUSTER %d", &size)
	require.NoError(t, err)
	first := map[string]json.RawMessage{}
	require.NoError(t, json.Unmarshal(rest[:size], &first))
	var data []json.RawMessage
	require.NoError(t, json.Unmarshal(first["prev_data"], &data))
	first["prev_data"], err = json.Marshal(append(data, json.RawMessage("3")))
	require.NoError(t, err)
	record, err := json.Marshal(first)
	require.NoError(t, err)
	record = append(record, '\n')
	other := fmt.Appendf(nil, "OVSDB CLUSTER %d %x\n", len(record), sha1.Sum(record)) //nolint:gosec // the format's
	require.NoError(t, os.WriteFile(path+".other", append(append(other, record...), rest[size:]...), 0o600))
	require.NoError(t, os.Rename(path+".other", path))
}
