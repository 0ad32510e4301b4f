package labtest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// RequireConfigured requires the election timer, and the inactivity probe of all listeners, both in seconds.
func (m *Model) RequireConfigured(timer, probe int) {
	m.T.Helper()
	for _, db := range lab.Databases {
		for _, u := range m.Units() {
			s := m.Raft(u, db)
			assert.Equal(m.T, int64(timer)*1000, s.ElectionTimer.Milliseconds(), "%s of %s", db, u.Name())
		}
		ms := strconv.Itoa(probe * 1000)
		assert.Equal(m.T, listeners(db, ms), m.Connections(db))
	}
}

// listeners returns the rows that the charm makes, with the probe in ms.
func listeners(db lab.DB, probe string) map[string]string {
	if db == lab.NB {
		return map[string]string{"pssl:6641": probe}
	}
	return map[string]string{"pssl:6642": probe + ",ovn-controller", "pssl:16642": probe}
}

// Everything returns what a hook of a unit can change, in a form to compare.
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

// unitFiles returns the files of a unit's machine with their content and time. It leaves out what servers write all the
// time, and how far a hook has read it: the databases' rows are compared instead.
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

// rows returns a unit's copy of the rows that the charm writes.
func rows(t *testing.T, u *lab.Unit, db lab.DB) string {
	t.Helper()
	dump := func(table ...string) string {
		args := []string{"--timeout=10", "--no-leader-only", "dump", "unix:" + u.Socket(db), db.Schema()}
		return Output(t, u, "ovsdb-client", append(args, table...)...)
	}
	return dump(strings.ToUpper(string(db))+"_Global", "external_ids") + dump("Connection", "_uuid", "target",
		"inactivity_probe")
}

// HookLog returns the file that has what a unit's hooks print and log.
func HookLog(u *lab.Unit) string { return filepath.Join(filepath.Dir(u.CharmDir()), "hooks.log") }

// HookLogSize returns the present size of that file in bytes.
func HookLogSize(t *testing.T, u *lab.Unit) int64 {
	t.Helper()
	info, err := os.Stat(HookLog(u))
	require.NoError(t, err)
	return info.Size()
}

// HookLogFrom returns what the unit's hooks have printed and logged since.
func HookLogFrom(t *testing.T, u *lab.Unit, from int64) string {
	t.Helper()
	text, err := os.ReadFile(HookLog(u))
	require.NoError(t, err)
	return string(text[from:])
}

// CharmWithClock returns a charm whose clocks can be set on each unit.
func CharmWithClock(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "charm")
	root, err := lab.Root()
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, lab.LayOutWithClock(t.Context(), dir, root))
	return dir
}

// Agent is what a unit's agent reports of itself.
type Agent struct {
	Mode, Acting  string
	Acts          bool
	Peers         []struct{ Unit string }
	Northd        string `json:"northd_error"`
	ClusterStatus struct {
		NB struct {
			Members []struct{ Unit string }
		} `json:"ovnnb"`
	} `json:"cluster_status"`
}

// AgentOf asks a unit's agent. The answer is empty if the agent gives none.
func AgentOf(t *testing.T, u *lab.Unit) (a Agent) {
	t.Helper()
	text, err := u.Exec(t.Context(), "curl", "-s", "--max-time", "2", "http://127.0.0.1:16401/status")
	if err == nil {
		err = json.Unmarshal([]byte(text), &a)
	}
	if err != nil {
		return Agent{}
	}
	return a
}

// ActingUnit waits until one of the units acts and all of them name it.
func ActingUnit(t *testing.T, units ...*lab.Unit) (holder *lab.Unit) {
	t.Helper()
	require.Eventually(t, func() bool {
		holder = nil
		named := map[string]bool{}
		for _, u := range units {
			a := AgentOf(t, u)
			if named[a.Acting] = true; a.Acts {
				holder = u
			}
		}
		return holder != nil && len(named) == 1 && named[holder.Name()]
	}, Patience, 100*time.Millisecond, "not one unit acts")
	return holder
}

// Tool runs ovn-nbctl or ovn-sbctl beside a unit's server.
func Tool(t *testing.T, u *lab.Unit, program string, db lab.DB, args ...string) string {
	t.Helper()
	return strings.TrimSpace(Output(t, u, program,
		append([]string{"--timeout=20", "--db=unix:" + u.Socket(db), "--no-leader-only"}, args...)...))
}

// Client runs ovn-nbctl or ovn-sbctl on the clients' machine, through whichever unit leads the database.
func (m *Model) Client(db lab.DB, args ...string) string {
	m.T.Helper()
	return Output(m.T, m, "ovn-"+string(db)+"ctl", append([]string{"--timeout=30", "--db=" + m.Remotes(db)}, args...)...)
}

// Output runs a program on a machine, or on the lab's host, which must succeed.
func Output(t *testing.T, on interface {
	Exec(ctx context.Context, name string, args ...string) (string, error)
}, name string, args ...string,
) string {
	t.Helper()
	out, err := on.Exec(t.Context(), name, args...)
	require.NoError(t, err, "%s %v", name, args)
	return out
}

// Findings returns what a unit finds wrong now, by its action health.
func (m *Model) Findings(u *lab.Unit) cluster.Findings {
	m.T.Helper()
	all, err := cluster.ReadFindings(m.Act(u, "health", "format=json")["findings"])
	require.NoError(m.T, err, u.Name())
	return all
}

// HasFinding reports whether a unit has a finding about a subject, as [cluster.Findings.Find] has it.
func (m *Model) HasFinding(u *lab.Unit, code finding.Code, subject string) bool {
	m.T.Helper()
	return m.Findings(u).Has(code, subject)
}

// Finds asserts that a unit has a finding about a subject, and returns it.
func (m *Model) Finds(u *lab.Unit, code finding.Code, subject string) present.Document {
	m.T.Helper()
	all := m.Findings(u)
	found, is := all.Find(code, subject)
	assert.True(m.T, is, "%s has no finding %s of %q:\n%s", u.Name(), code, subject, all)
	return found
}

// FindsNone asserts that a unit has no finding with one of the codes.
func (m *Model) FindsNone(u *lab.Unit, codes ...finding.Code) {
	m.T.Helper()
	all := m.Findings(u)
	for _, code := range codes {
		assert.False(m.T, all.Has(code, ""), "%s has a finding %s:\n%s", u.Name(), code, all)
	}
}

// Reason returns how a refusal names a reason with these arguments.
func Reason(code finding.Code, args finding.Args) string {
	return finding.New(code, finding.Subject{}, args).Line()
}

// QuorumLost returns the reason that up of so many members are up, and fewer would be needed.
func QuorumLost(up, of, upThen, ofThen int) string {
	return Reason(finding.QuorumWouldBeLost, finding.Args{Count: up, Total: of, After: finding.Tally{Up: upThen, Members: ofThen}})
}

// NextCommands returns the commands that a unit tells to type now, as [cluster.Findings.Next] has them.
func (m *Model) NextCommands(u *lab.Unit) []string {
	m.T.Helper()
	return m.Findings(u).Next()
}
