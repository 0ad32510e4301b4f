package functional

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// requireOneServed looks at every server at once: those that know a leader are of one
// cluster, whatever becomes of the recovery.
func (m *model) requireOneServed() {
	m.t.Helper()
	for _, db := range lab.Databases {
		clusters := map[string]string{}
		for _, u := range m.units {
			if !u.Running(db) {
				continue
			}
			if s, err := m.status(u, db); err == nil && s.HasLeader() && s.Cluster != nil {
				clusters[string(*s.Cluster)] = u.Name()
			}
		}
		require.LessOrEqual(m.t, len(clusters), 1, "two clusters serve clients: %v", clusters)
	}
}

// watchServed asks every server, as long as the test goes on, which cluster it serves, and
// returns what ends that and requires that at no time there were two. A server is asked
// again where another was seen to serve another cluster after it.
func (m *model) watchServed() (stop func()) {
	m.t.Helper()
	ctx, cancel := context.WithCancel(m.t.Context())
	ended := make(chan []string)
	served := func(db lab.DB) map[string]string {
		clusters := map[string]string{}
		for _, u := range m.units {
			if text, err := u.Status(ctx, db); err == nil {
				if s, err := raft.Parse(text); err == nil && s.HasLeader() && s.Cluster != nil {
					clusters[string(*s.Cluster)] = u.Name()
				}
			}
		}
		return clusters
	}
	go func() {
		var found []string
		asked := 0
		for ; ctx.Err() == nil; asked++ {
			for _, db := range lab.Databases {
				if len(served(db)) > 1 {
					if again := served(db); len(again) > 1 {
						found = append(found, fmt.Sprintf("%s: %v", db, again))
					}
				}
			}
		}
		m.t.Logf("all servers were asked %d times", asked)
		ended <- found
	}()
	return func() {
		m.t.Helper()
		cancel()
		require.Empty(m.t, <-ended, "two clusters serve clients")
	}
}

// storedByAll are the rows that each of the units has a copy of.
func (m *model) storedByAll(units ...*lab.Unit) map[lab.DB]map[string]bool {
	m.t.Helper()
	stored := map[lab.DB]map[string]bool{}
	for _, db := range lab.Databases {
		for i, u := range units {
			rows, err := m.Copy(m.t.Context(), u, db)
			require.NoError(m.t, err)
			if i == 0 {
				stored[db] = rows
			}
			maps.DeleteFunc(stored[db], func(row string, _ bool) bool { return !rows[row] })
		}
	}
	return stored
}

// requireKept requires that every unit has the rows that were stored before, and that of the
// acknowledged writes none is lost but of the first ones, which were acknowledged before
// the quorum was lost.
func (m *model) requireKept(w *lab.Writer, stored map[lab.DB]map[string]bool, before map[lab.DB]int) {
	m.t.Helper()
	for _, db := range lab.Databases {
		m.eventually("a write after it", func() bool { return w.Acknowledged(db) > before[db] })
	}
	writes, err := w.Verify(m.t.Context())
	require.NoError(m.t, err)
	for _, db := range lab.Databases {
		require.NotEmpty(m.t, stored[db])
		m.t.Logf("%s: %d rows were stored by all that are left; %d writes acknowledged before, %d after, %d not, %d lost",
			db, len(stored[db]), before[db], writes[db].Acknowledged-before[db], writes[db].Unacknowledged, writes[db].Lost)
		for _, n := range writes[db].Missing {
			assert.Less(m.t, n, before[db], "%s: acknowledged by the new cluster, and lost", db)
		}
		for _, u := range m.rest() {
			now, err := m.Copy(m.t.Context(), u, db)
			require.NoError(m.t, err)
			for row := range stored[db] {
				assert.True(m.t, now[row], "%s: %s lacks %s", db, u.Name(), row)
			}
		}
	}
}

// stored are the rows that a writer's database has in the file of a unit, whose server may
// know no leader.
func (m *model) stored(u *lab.Unit, db lab.DB) map[string]bool {
	m.t.Helper()
	dir := m.t.TempDir()
	copied, alone := filepath.Join(dir, "copied"), filepath.Join(dir, "alone")
	_, err := u.Exec(m.t.Context(), "cp", u.DBFile(db), copied)
	require.NoError(m.t, err)
	_, err = u.Exec(m.t.Context(), "ovsdb-tool", "cluster-to-standalone", alone, copied)
	require.NoError(m.t, err)
	table := map[lab.DB]string{lab.NB: "Logical_Switch", lab.SB: "Controller_Event"}[db]
	text, err := u.Exec(m.t.Context(), "ovsdb-tool", "query", alone,
		fmt.Sprintf(`[%q,{"op":"select","table":%q,"where":[],"columns":[%q]}]`, db.Schema(), table, map[lab.DB]string{lab.NB: "name", lab.SB: "event_info"}[db]))
	require.NoError(m.t, err)
	require.Contains(m.t, text, `"rows"`)
	rows := map[string]bool{}
	for _, row := range written.FindAllString(text, -1) {
		rows[row] = true
	}
	return rows
}

// written are the names of a [lab.Writer]'s rows.
var written = regexp.MustCompile(`write-[0-9a-f]{8}-[0-9]+`)

// storedByMost are the rows that a majority of the units have in their files.
func (m *model) storedByMost(units ...*lab.Unit) map[lab.DB]map[string]bool {
	m.t.Helper()
	all := map[lab.DB]map[string]bool{}
	for _, db := range lab.Databases {
		count := map[string]int{}
		for _, u := range units {
			for row := range m.stored(u, db) {
				count[row]++
			}
		}
		all[db] = map[string]bool{}
		for row, n := range count {
			if n > len(units)/2 {
				all[db][row] = true
			}
		}
	}
	return all
}
