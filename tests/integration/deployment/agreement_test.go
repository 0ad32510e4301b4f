package deployment

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// serverStatus is what a unit's server says.
func serverStatus(ctx context.Context, u *lab.Unit, db lab.DB) (raft.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	text, err := u.Status(ctx, db)
	if err != nil {
		return raft.Status{}, err
	}
	return raft.Parse(text)
}

// disagreement says why the units are not exactly the members of one cluster for
// each database, the application's; empty where they are.
func (c *cloud) disagreement(ctx context.Context, units ...*lab.Unit) string {
	for _, db := range lab.Databases {
		cluster := c.claimed()[string(db)+"_cid"]
		if cluster == "" {
			return fmt.Sprintf("%s: the application has no cluster", db)
		}
		var want []string
		for _, u := range units {
			id, err := u.ServerID(ctx, db)
			if err != nil {
				return fmt.Sprintf("%s of %s: %v", db, u.Name(), err)
			}
			want = append(want, id[:4])
		}
		slices.Sort(want)
		for _, u := range units {
			s, err := serverStatus(ctx, u, db)
			var have []string
			for _, member := range s.Servers {
				have = append(have, member.Short)
			}
			slices.Sort(have)
			switch {
			case err != nil:
				return fmt.Sprintf("%s of %s: %v", db, u.Name(), err)
			case s.Cluster == nil || string(*s.Cluster) != cluster:
				return fmt.Sprintf("%s of %s is of cluster %v, the application's is %s", db, u.Name(), s.Cluster, cluster)
			case s.State != raft.ClusterMember || !s.HasLeader():
				return fmt.Sprintf("%s of %s: %s, leader %q", db, u.Name(), s.State, s.Leader)
			case !slices.Equal(have, want):
				return fmt.Sprintf("%s of %s: the members are %v, and should be %v", db, u.Name(), have, want)
			}
		}
	}
	return ""
}

// requireOneCluster waits until the units, and nobody else, are members of one
// cluster for each database, and requires that each says so, that nothing was
// left beside the databases, and that both can be written.
func (c *cloud) requireOneCluster(t *testing.T, units ...*lab.Unit) {
	t.Helper()
	why := ""
	agreed := func() bool { why = c.disagreement(t.Context(), units...); return why == "" }
	deadline := time.Now().Add(patience)
	for !agreed() && time.Now().Before(deadline) {
		pause(t.Context(), 50*time.Millisecond)
	}
	require.Empty(t, why, "%s", c.statuses())
	for _, u := range units {
		assert.Equal(t, "active", u.Workload().Status, "%s: %s", u.Name(), u.Workload().Message)
		assert.Empty(t, strayFiles(t, u), u.Name())
	}
	c.requireWritable(t)
}

// statuses is the application as `juju status` shows it.
func (c *cloud) statuses() string {
	var text strings.Builder
	c.PrintStatus(&text)
	return text.String()
}

// strayFiles are those beside the databases that a unit which came to its end by
// the straight way doesn't have: what was staged, made or put away.
func strayFiles(t *testing.T, u *lab.Unit) (stray []string) {
	t.Helper()
	entries, err := os.ReadDir(u.DBDir())
	require.NoError(t, err)
	for _, entry := range entries {
		name := entry.Name()
		if strings.Contains(name, ".db") && !strings.HasSuffix(name, ".db") && !strings.HasSuffix(name, ".~lock~") && !strings.Contains(name, ".left-") && !strings.HasSuffix(name, ".moved") {
			stray = append(stray, name)
		}
	}
	return stray
}

// requireWritable makes a write to both databases from where clients are.
func (c *cloud) requireWritable(t *testing.T) {
	t.Helper()
	ctx := within(t, patience)
	for db, write := range map[lab.DB][]string{lab.NB: {"ovn-nbctl", "NB_Global"}, lab.SB: {"ovn-sbctl", "SB_Global"}} {
		now := "external_ids:written=" + strconv.FormatInt(time.Now().UnixNano(), 10)
		_, err := c.Exec(ctx, write[0], "--timeout=20", "--db="+c.Remotes(db), "set", write[1], ".", now)
		require.NoError(t, err, "a write to %s", db)
	}
}

// allActive says whether all units say that they are well.
func (c *cloud) allActive() bool {
	return !slices.ContainsFunc(c.Units(), func(u *lab.Unit) bool { return u.Workload().Status != "active" })
}

// connections are the rows of a database's listeners by target: the inactivity
// probe in ms, and the role where there is one.
func (c *cloud) connections(t *testing.T, db lab.DB) map[string]string {
	t.Helper()
	program, columns := "ovn-nbctl", "target,inactivity_probe"
	if db == lab.SB {
		program, columns = "ovn-sbctl", columns+",role"
	}
	out, err := c.Exec(t.Context(), program, "--timeout=20", "--db="+c.Remotes(db), "--format=csv", "--data=bare", "--no-headings", "--columns="+columns, "list", "Connection")
	require.NoError(t, err)
	rows := map[string]string{}
	for line := range strings.Lines(out) {
		target, rest, _ := strings.Cut(strings.TrimSpace(line), ",")
		rows[target] = strings.TrimSuffix(rest, ",")
	}
	return rows
}

// tick is what Juju's clock does: update-status, until the condition holds.
func (c *cloud) tick(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !condition() {
		require.Less(t, time.Now(), deadline, "%s\n%s", what, c.statuses())
		require.NoError(t, c.UpdateStatus(t.Context()))
	}
}

// claimed is what the leader has published of the clusters: Juju 4 has no leader settings.
func (c *cloud) claimed() map[string]string {
	if settings := c.LeaderSettings(); len(settings) > 0 {
		return settings
	}
	return c.AppData()
}
