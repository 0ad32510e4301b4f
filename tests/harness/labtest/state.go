package labtest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// RequireConfigured requires that both databases have the election timer and, on
// all listeners, the inactivity probe; both in seconds.
func (m *Model) RequireConfigured(timer, probe int) {
	m.T.Helper()
	for _, db := range lab.Databases {
		for _, u := range m.Units() {
			s, err := m.RaftStatus(u, db)
			require.NoError(m.T, err)
			assert.Equal(m.T, int64(timer)*1000, s.ElectionTimer.Milliseconds(), "%s of %s", db, u.Name())
		}
		ms := strconv.Itoa(probe * 1000)
		assert.Equal(m.T, listeners(db, ms), m.Connections(db))
	}
}

// listeners are the rows that the charm makes, with the probe in ms.
func listeners(db lab.DB, probe string) map[string]string {
	if db == lab.NB {
		return map[string]string{"pssl:6641": probe}
	}
	return map[string]string{"pssl:6642": probe + ",ovn-controller", "pssl:16642": probe}
}

// Everything is what a hook of a unit can change, in a form to compare.
func (m *Model) Everything(u *lab.Unit) map[string]string {
	m.T.Helper()
	all := map[string]string{
		"status": u.Workload().Status + ": " + u.Workload().Message, "ports": fmt.Sprint(u.OpenedPorts()),
		"leader settings": fmt.Sprint(m.LeaderSettings()),
	}
	for id := 1; id < 6; id++ {
		data := m.RelationData(id)
		all[fmt.Sprintf("relation %d", id)] = fmt.Sprint(data.App, data.Units)
	}
	for name, file := range unitFiles(m.T, u) {
		all[name] = file
	}
	for _, db := range lab.Databases {
		all[string(db)+" is running"] = fmt.Sprint(u.Running(db))
		if u.Running(db) {
			all[string(db)+" rows"] = rows(m.T, u, db)
		}
	}
	return all
}

// unitFiles are the files of a unit's machine, with their content and when they
// were written. Files of services that run tell when those were started; what
// the servers themselves write all the time is left out, and how far a hook has read
// it: the databases' rows are compared instead.
func unitFiles(t *testing.T, u *lab.Unit) map[string]string {
	t.Helper()
	root, all := filepath.Dir(u.CharmDir()), map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch name := entry.Name(); {
		case err != nil:
			return err
		case entry.IsDir() && (path == u.CharmDir() || path == u.LogDir()):
			return fs.SkipDir
		case entry.IsDir(), name == "hooks.log", strings.HasSuffix(name, ".db"), strings.HasSuffix(name, ".log-scan"), strings.HasSuffix(name, "lock"), strings.HasSuffix(name, "lock~"), name == "hook":
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		content := []byte(nil)
		if info.Mode().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all[strings.TrimPrefix(path, root)] = fmt.Sprintf("%s %s %x", info.Mode(), info.ModTime(), content)
		return nil
	})
	require.NoError(t, err)
	return all
}

// rows are those of a database that the charm writes, as the unit's server has
// them.
func rows(t *testing.T, u *lab.Unit, db lab.DB) string {
	t.Helper()
	database, global := "OVN_Northbound", "NB_Global"
	if db == lab.SB {
		database, global = "OVN_Southbound", "SB_Global"
	}
	var all strings.Builder
	for _, table := range [][]string{{global, "external_ids"}, {"Connection", "_uuid", "target", "inactivity_probe"}} {
		args := append([]string{"--timeout=10", "--no-leader-only", "dump", "unix:" + filepath.Join(u.RunDir(), "ovn"+string(db)+"_db.sock"), database}, table...)
		out, err := u.Exec(t.Context(), "ovsdb-client", args...)
		require.NoError(t, err)
		all.WriteString(out)
	}
	return all.String()
}

// HookLog is the file that has what a unit's hooks print and log.
func HookLog(u *lab.Unit) string { return filepath.Join(filepath.Dir(u.CharmDir()), "hooks.log") }

// HookLogSize is the present size of that file in bytes.
func HookLogSize(t *testing.T, u *lab.Unit) int64 {
	t.Helper()
	info, err := os.Stat(HookLog(u))
	require.NoError(t, err)
	return info.Size()
}

// HookLogFrom is what the unit's hooks have printed and logged since.
func HookLogFrom(t *testing.T, u *lab.Unit, from int64) string {
	t.Helper()
	text, err := os.ReadFile(HookLog(u))
	require.NoError(t, err)
	return string(text[from:])
}

// CharmWithClock is a charm whose clocks can be set on each unit.
func CharmWithClock(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "charm")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, lab.LayOutWithClock(t.Context(), dir, filepath.Join("..", "..", "..")))
	return dir
}
