package labtest

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// RequireMembers waits until each of the units sees exactly these members of both databases, and a leader.
func (m *Model) RequireMembers(units ...*lab.Unit) {
	m.T.Helper()
	m.agree(units, func(lab.DB) string { return "" })
}

// RequireOneCluster waits until exactly these units are the members of the published clusters. It requires that all are
// active and both databases are writable, and that no temporary file is left.
func (m *Model) RequireOneCluster(units ...*lab.Unit) {
	m.T.Helper()
	m.agree(units, func(db lab.DB) string { return cmp.Or(m.claimed()[string(db)+"_cid"], "none") })
	for _, u := range units {
		assert.Equal(m.T, "active", u.Workload().Status, "%s: %s", u.Name(), u.Workload().Message)
		assert.Empty(m.T, m.TemporaryFiles(u), u.Name())
	}
	m.RequireWritable()
}

// agree waits until the units are the members of the clusters that cluster returns, or of any if it returns "".
func (m *Model) agree(units []*lab.Unit, cluster func(lab.DB) string) {
	m.T.Helper()
	var why string
	m.Within(Patience, func() bool {
		for _, db := range lab.Databases {
			if why = m.disagreement(db, cluster(db), units); why != "" {
				return false
			}
		}
		return true
	})
	require.Empty(m.T, why, "%s", m.Statuses())
}

// disagreement returns why the units are not the members of one cluster of a database, or "".
func (m *Model) disagreement(db lab.DB, cluster string, units []*lab.Unit) string {
	var want []string
	for _, u := range units {
		id, err := u.ServerID(m.T.Context(), db)
		if err != nil {
			return fmt.Sprintf("%s of %s: %v", db, u.Name(), err)
		}
		want = append(want, id[:4])
	}
	slices.Sort(want)
	for _, u := range units {
		s, err := m.RaftStatus(u, db)
		var have []string
		for _, member := range s.Servers {
			have = append(have, member.Short)
		}
		slices.Sort(have)
		switch {
		case err != nil:
			return fmt.Sprintf("%s of %s: %v", db, u.Name(), err)
		case cluster != "" && (s.Cluster == "" || string(s.Cluster) != cluster):
			return fmt.Sprintf("%s of %s is of cluster %v, the application's is %s", db, u.Name(), s.Cluster, cluster)
		case s.State != raft.ClusterMember || !s.HasLeader():
			return fmt.Sprintf("%s of %s: %s, leader %q", db, u.Name(), s.State, s.Leader)
		case !slices.Equal(have, want):
			return fmt.Sprintf("%s of %s: the members are %v, and should be %v", db, u.Name(), have, want)
		}
	}
	return ""
}

// claimed returns what the leader has published about the clusters. Juju 4 has no leader settings.
func (m *Model) claimed() map[string]string {
	if settings := m.LeaderSettings(); len(settings) > 0 {
		return settings
	}
	return m.AppData()
}

// Statuses returns the application as `juju status` shows it.
func (m *Model) Statuses() string {
	var text strings.Builder
	m.PrintStatus(&text)
	return text.String()
}

// TemporaryFiles returns the files beside a unit's databases that exist only during a change.
func (m *Model) TemporaryFiles(u *lab.Unit) (names []string) {
	m.T.Helper()
	entries, err := os.ReadDir(u.DBDir())
	require.NoError(m.T, err)
	for _, entry := range entries {
		name := entry.Name()
		if strings.Contains(name, ".db") && !strings.HasSuffix(name, ".db") && !strings.HasSuffix(name, ".~lock~") && !strings.Contains(name, ".left-") && !strings.HasSuffix(name, ".moved") {
			names = append(names, name)
		}
	}
	return names
}

// RequireWritable makes a write to both databases from the machine of the clients.
func (m *Model) RequireWritable() {
	m.T.Helper()
	now := "external_ids:written=" + strconv.FormatInt(time.Now().UnixNano(), 10)
	m.Client(lab.NB, "set", "NB_Global", ".", now)
	m.Client(lab.SB, "set", "SB_Global", ".", now)
}

// AllActive reports whether all units are active.
func (m *Model) AllActive() bool {
	return !slices.ContainsFunc(m.Units(), func(u *lab.Unit) bool { return u.Workload().Status != "active" })
}

// Connections returns the listeners of a database by target: the inactivity probe in ms, and the role if there is one.
func (m *Model) Connections(db lab.DB) map[string]string {
	m.T.Helper()
	columns := "target,inactivity_probe"
	if db == lab.SB {
		columns += ",role"
	}
	out := m.Client(db, "--format=csv", "--data=bare", "--no-headings", "--columns="+columns, "list", "Connection")
	rows := map[string]string{}
	for line := range strings.Lines(out) {
		target, rest, _ := strings.Cut(strings.TrimSpace(line), ",")
		rows[target] = strings.TrimSuffix(rest, ",")
	}
	return rows
}
