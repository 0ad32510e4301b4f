package labtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// RequireOneServed requires that all servers that know a leader are of one cluster.
func (m *Model) RequireOneServed() {
	m.T.Helper()
	for _, db := range lab.Databases {
		clusters := m.served(db, m.all())
		require.LessOrEqual(m.T, len(clusters), 1, "two clusters serve clients: %v", clusters)
	}
}

// served returns the clusters whose leader the units' servers know, each with one of its units.
func (m *Model) served(db lab.DB, units []*lab.Unit) map[string]string {
	clusters := map[string]string{}
	for _, u := range units {
		if s, err := m.RaftStatus(u, db); err == nil && s.HasLeader() && s.Cluster != "" {
			clusters[string(s.Cluster)] = u.Name()
		}
	}
	return clusters
}

// all returns the units of the model, and those that were deployed and removed.
func (m *Model) all() []*lab.Unit {
	units := m.Units()
	for _, u := range m.Deployed {
		if !slices.Contains(units, u) {
			units = append(units, u)
		}
	}
	return units
}

// betweenLooks is the pause of [Model.WatchServed]: without it, the queries would take a processor from the servers.
const betweenLooks = 50 * time.Millisecond

// WatchServed asks every server which cluster it serves. It returns a function that ends this and requires that no
// database had two served clusters at a time. If two seem to be served, it asks once more.
func (m *Model) WatchServed() (stop func()) {
	m.T.Helper()
	var found []string
	end := Watch(m.T.Context(), betweenLooks, func() {
		for _, db := range lab.Databases {
			if len(m.served(db, m.Deployed)) > 1 {
				if again := m.served(db, m.Deployed); len(again) > 1 {
					found = append(found, fmt.Sprintf("%s: %v", db, again))
				}
			}
		}
	})
	return func() {
		m.T.Helper()
		end()
		require.Empty(m.T, found, "two clusters serve clients")
	}
}

// RequireKept requires every stored row on every unit, and that no write from number before[db] on is lost.
func (m *Model) RequireKept(w *lab.Writer, stored map[lab.DB]map[string]bool, before map[lab.DB]int) {
	m.T.Helper()
	for _, db := range lab.Databases {
		m.Eventually("a write after it", func() bool { return w.Acknowledged(db) > before[db] })
	}
	writes, err := w.Verify(m.T.Context())
	require.NoError(m.T, err)
	for _, db := range lab.Databases {
		require.NotEmpty(m.T, stored[db])
		m.T.Logf("%s: %d rows were stored by all that are left; %d writes acknowledged before, %d after, %d not, %d lost",
			db, len(stored[db]), before[db], writes[db].Acknowledged-before[db], writes[db].Unacknowledged, writes[db].Lost)
		for _, n := range writes[db].Missing {
			assert.Less(m.T, n, before[db], "%s: acknowledged by the new cluster, and lost", db)
		}
		for _, u := range m.Remaining() {
			now, err := m.Copy(m.T.Context(), u, db)
			require.NoError(m.T, err)
			for row := range stored[db] {
				assert.True(m.T, now[row], "%s: %s lacks %s", db, u.Name(), row)
			}
		}
	}
}

// StoredByMost returns the rows that a majority of the units have in their files.
func (m *Model) StoredByMost(units ...*lab.Unit) map[lab.DB]map[string]bool {
	m.T.Helper()
	all := map[lab.DB]map[string]bool{}
	for _, db := range lab.Databases {
		count := map[string]int{}
		for _, u := range units {
			rows, err := u.Stored(m.T.Context(), db)
			require.NoError(m.T, err)
			for row := range rows {
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
