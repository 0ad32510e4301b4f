package labtest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// AgentService is the service of a unit's agent.
const AgentService = "ovn-central-agent"

// RequireActive requires that the units are active.
func (m *Model) RequireActive(units ...*lab.Unit) {
	m.T.Helper()
	for _, u := range units {
		m.awaitNorthd(u)
		require.Equal(m.T, "active", u.Workload().Status, "%s: %s", u.Name(), u.Workload().Message)
	}
}

// awaitNorthd lets a unit see which ovn-northd has taken over, if it waits for that: the active one may be lost.
func (m *Model) awaitNorthd(u *lab.Unit) {
	m.T.Helper()
	none := func() bool {
		return u.Workload().Status == "waiting" && Shows(u, finding.Lookup(finding.NorthdNoneActive).Line)
	}
	if none() {
		m.Tick(u.Name()+" sees an active ovn-northd", func() bool { return !none() }, u)
	}
}

// Says asserts a unit's status, and parts of its message.
func (m *Model) Says(u *lab.Unit, status string, parts ...string) {
	m.T.Helper()
	if status == "active" {
		m.awaitNorthd(u)
	}
	assert.Equal(m.T, status, u.Workload().Status, "%s: %s", u.Name(), u.Workload().Message)
	for _, part := range parts {
		assert.Contains(m.T, u.Workload().Message, part, u.Name())
	}
}

// Shows reports whether a unit's message contains a text.
func Shows(u *lab.Unit, text string) bool { return strings.Contains(u.Workload().Message, text) }

// RunUpdateStatus runs update-status on these units, and the hooks that follow from it.
func (m *Model) RunUpdateStatus(units ...*lab.Unit) {
	m.T.Helper()
	for _, u := range units {
		require.NoError(m.T, m.RunHook(m.T.Context(), u, "update-status"))
	}
	require.NoError(m.T, m.Settle(m.T.Context()))
}

// Raft returns the status of a unit's server, which must answer.
func (m *Model) Raft(u *lab.Unit, db lab.DB) raft.Status {
	m.T.Helper()
	s, err := m.RaftStatus(u, db)
	require.NoError(m.T, err, "%s of %s", db, u.Name())
	return s
}

// HasLeader reports whether a unit's server answers and knows a leader.
func (m *Model) HasLeader(u *lab.Unit, db lab.DB) bool {
	s, err := m.RaftStatus(u, db)
	return err == nil && s.HasLeader()
}

// IsMember reports whether both servers of a unit are members and know a leader.
func (m *Model) IsMember(u *lab.Unit) bool {
	for _, db := range lab.Databases {
		if s, err := m.RaftStatus(u, db); err != nil || s.State != raft.ClusterMember || !s.HasLeader() {
			return false
		}
	}
	return true
}

// ClusterID returns the ID of the cluster of which a unit's server is.
func (m *Model) ClusterID(u *lab.Unit, db lab.DB) string {
	m.T.Helper()
	s := m.Raft(u, db)
	require.NotNil(m.T, s.Cluster, "%s is of no cluster of %s", u.Name(), db)
	return string(s.Cluster)
}

// ServerIDs returns the IDs of a unit's servers, by the name of the database.
func (m *Model) ServerIDs(u *lab.Unit) map[string]string {
	m.T.Helper()
	ids := map[string]string{}
	for _, db := range lab.Databases {
		ids[string(db)] = m.ServerID(u, db)
	}
	return ids
}

// Processes returns the process and the term of each server, which a restart and an election change.
func (m *Model) Processes(units ...*lab.Unit) map[string]string {
	m.T.Helper()
	all := map[string]string{}
	for name, pid := range m.PIDs(units...) {
		all[name] = fmt.Sprintf("process %d", pid)
	}
	for _, u := range units {
		for _, db := range lab.Databases {
			all[u.Name()+" "+string(db)] += fmt.Sprintf(", term %d", m.Raft(u, db).Term)
		}
	}
	return all
}

// PIDs returns the processes of the units' servers.
func (m *Model) PIDs(units ...*lab.Unit) map[string]int {
	m.T.Helper()
	all := map[string]int{}
	for _, u := range units {
		for _, db := range lab.Databases {
			pid, err := u.ServerPID(db)
			require.NoError(m.T, err)
			all[u.Name()+" "+string(db)] = pid
		}
	}
	return all
}

// Leaders returns those of both databases.
func (m *Model) Leaders() map[lab.DB]*lab.Unit {
	m.T.Helper()
	leaders := map[lab.DB]*lab.Unit{}
	for _, db := range lab.Databases {
		leaders[db] = m.LeaderOf(db)
	}
	return leaders
}

// HandOver has other units lead what this one leads.
func (m *Model) HandOver(u *lab.Unit) {
	m.T.Helper()
	for db, leader := range m.Leaders() {
		if leader != u {
			continue
		}
		_, err := u.Appctl(m.T.Context(), db, "cluster/failure-test", "transfer-leadership")
		require.NoError(m.T, err)
		m.Eventually("another unit leads "+string(db), func() bool { return m.LeaderOf(db) != u })
	}
}

// FileOf returns a file of a unit's configuration.
func (m *Model) FileOf(u *lab.Unit, name string) string {
	m.T.Helper()
	text, err := os.ReadFile(filepath.Join(u.SysconfDir(), "ovn", name))
	require.NoError(m.T, err)
	return string(text)
}

// Modified returns when a file of a unit's configuration was written; zero if it is not there.
func Modified(u *lab.Unit, name string) time.Time {
	info, err := os.Stat(filepath.Join(u.SysconfDir(), "ovn", name))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// FirewallRules returns the rules of a unit's ufw, without their numbers.
func (m *Model) FirewallRules(u *lab.Unit) (rules []string) {
	m.T.Helper()
	out := Output(m.T, u, "ufw", "status", "numbered")
	for line := range strings.Lines(out) {
		if _, rule, found := strings.Cut(line, "] "); found {
			rules = append(rules, strings.Join(strings.Fields(rule), " "))
		}
	}
	return rules
}

// NorthdRuns reports whether systemd takes the unit's ovn-northd for running.
func (m *Model) NorthdRuns(u *lab.Unit) bool {
	m.T.Helper()
	_, code, err := u.Systemctl(m.T.Context(), "is-active", "--quiet", "ovn-northd")
	require.NoError(m.T, err)
	return code == 0
}

// PutAway returns the names of the files of former members that a unit has renamed, of these databases or of both.
func (m *Model) PutAway(u *lab.Unit, dbs ...lab.DB) []string {
	m.T.Helper()
	if len(dbs) == 0 {
		dbs = lab.Databases[:]
	}
	var names []string
	for _, db := range dbs {
		names = append(names, m.filesOf(u, filepath.Base(u.DBFile(db))+".left-*")...)
	}
	return names
}

// InPlace returns the names of the database files on which a server would start.
func (m *Model) InPlace(u *lab.Unit) []string {
	m.T.Helper()
	return m.filesOf(u, "*.db")
}

func (m *Model) filesOf(u *lab.Unit, pattern string) []string {
	m.T.Helper()
	names, err := filepath.Glob(filepath.Join(u.DBDir(), pattern))
	require.NoError(m.T, err)
	for i, path := range names {
		names[i] = filepath.Base(path)
	}
	return names
}

// RequirePutAway requires that a unit has put each of its databases away once, and has no other file.
func (m *Model) RequirePutAway(u *lab.Unit) {
	m.T.Helper()
	assert.Len(m.T, m.PutAway(u), 2, u.Name())
	assert.Empty(m.T, m.InPlace(u), u.Name())
}

// RequireVacated requires that a removed unit has left no keys, no firewall rules and no services that start.
func (m *Model) RequireVacated(u *lab.Unit) {
	m.T.Helper()
	for _, name := range []string{"key_host", "cert_host", "ovn-central.crt", "ovn-northd-db-params.conf"} {
		assert.NoFileExists(m.T, filepath.Join(u.SysconfDir(), "ovn", name))
		assert.NoFileExists(m.T, filepath.Join(u.SysconfDir(), name))
	}
	assert.Empty(m.T, m.rulesLeft(u))
	for _, service := range []string{"ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd", "ovn-central"} {
		out, _, err := u.Systemctl(m.T.Context(), "is-enabled", service)
		require.NoError(m.T, err)
		assert.Equal(m.T, "masked", strings.TrimSpace(out), service)
		out, _, err = u.Systemctl(m.T.Context(), "is-active", service)
		require.NoError(m.T, err)
		assert.NotEqual(m.T, "active", strings.TrimSpace(out), service)
	}
}

func (m *Model) rulesLeft(u *lab.Unit) (rules []any) {
	m.T.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(u.CharmDir()), "ufw.json"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(m.T, err)
	var firewall struct{ V4, V6 []any }
	require.NoError(m.T, json.Unmarshal(text, &firewall))
	return append(firewall.V4, firewall.V6...)
}

// RecordCalls records the calls of units' hooks. The returned function finds those with a word, but the agent's.
func RecordCalls(units ...*lab.Unit) (called func(word string) []string) {
	var mu sync.Mutex
	var all []string
	for _, u := range units {
		u.OnCall(func(call string) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, u.Name()+" "+call)
		})
	}
	return func(word string) (found []string) {
		mu.Lock()
		defer mu.Unlock()
		for _, call := range all {
			if strings.Contains(call, word) && !strings.HasSuffix(call, AgentService) {
				found = append(found, call)
			}
		}
		return found
	}
}

// Archive returns a package source that is like any other: the lab's apt-get has newer versions if [Model.Offer] says
// so.
func Archive(n int) map[string]string {
	return map[string]string{"source": fmt.Sprintf("deb http://archive%d.test/debian stable main", n)}
}

// Offer makes a newer version available to units.
func (m *Model) Offer(version string, units ...*lab.Unit) {
	m.T.Helper()
	for _, u := range units {
		require.NoError(m.T, u.OfferVersion(version))
	}
}

// Versions returns those of ovn-central on units, each once if units in a row have it.
func Versions(units []*lab.Unit) (all []string) {
	for _, u := range units {
		all = append(all, u.Packages()["ovn-central"])
	}
	return slices.Compact(all)
}

// Downs looks repeatedly for servers that do not run, and records when two of one database are down at once.
type Downs struct {
	Seen   map[string]bool
	Broken []string

	end func()
}

// WatchServers looks for servers that are down until [Downs.End].
func WatchServers(units []*lab.Unit) *Downs {
	d := &Downs{Seen: map[string]bool{}}
	d.end = Watch(context.Background(), 3*time.Millisecond, func() {
		for _, db := range lab.Databases {
			d.look(units, db)
		}
	})
	return d
}

// look asks a server that was down again after all others: two count as down at once only if it still is.
func (d *Downs) look(units []*lab.Unit, db lab.DB) {
	var down []*lab.Unit
	for _, u := range units {
		if !u.Running(db) {
			down = append(down, u)
			d.Seen[u.Name()+" "+string(db)] = true
		}
	}
	if len(down) > 1 && !down[0].Running(db) {
		d.Broken = append(d.Broken, fmt.Sprintf("%s of %s and %s", db, down[0].Name(), down[1].Name()))
	}
}

// End ends the watch.
func (d *Downs) End() { d.end() }

// Watch calls look again and again, after pauses, until ctx ends or end is called.
func Watch(ctx context.Context, pause time.Duration, look func()) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() {
		for poll.Wait(ctx, pause) == nil {
			look()
		}
	})
	return func() { cancel(); group.Wait() }
}

// TakeOut takes the last entry but one out of a database's file, as a write does that failed.
func (m *Model) TakeOut(path string) {
	m.T.Helper()
	text, err := os.ReadFile(path)
	require.NoError(m.T, err)
	const mark = "OVSDB CLUSTER "
	records := strings.Split(string(text), mark)
	var entries []int
	for i, record := range records {
		if strings.Contains(record, `"index":`) {
			entries = append(entries, i)
		}
	}
	require.Greater(m.T, len(entries), 3)
	gone := entries[len(entries)-2]
	require.NoError(m.T, os.WriteFile(path, []byte(strings.Join(slices.Delete(records, gone, gone+1), mark)), 0o600))
}
