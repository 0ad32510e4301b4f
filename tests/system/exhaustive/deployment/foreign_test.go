package deployment

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// addUsed adds a unit on a machine on which before has left something.
func (c *cloud) addUsed(before func(u *lab.Unit)) *lab.Unit {
	c.T.Helper()
	u := c.AddEmpty()
	before(u)
	return u
}

// leftFiles returns databases that have left their cluster.
func (c *cloud) leftFiles(removed *lab.Unit) map[lab.DB][]byte {
	c.T.Helper()
	files := map[lab.DB][]byte{}
	for _, db := range lab.Databases {
		put := c.PutAway(removed, db)
		require.Len(c.T, put, 1)
		text, err := os.ReadFile(filepath.Join(removed.DBDir(), put[0]))
		require.NoError(c.T, err)
		require.Contains(c.T, string(text), `"note":"left"`, "the premise")
		files[db] = text
	}
	return files
}

func put(t *testing.T, u *lab.Unit, files map[lab.DB][]byte) {
	t.Helper()
	for db, text := range files {
		require.NoError(t, os.WriteFile(u.DBFile(db), text, 0o640))
	}
}

func (c *cloud) makeFile(u *lab.Unit, db lab.DB, command ...string) {
	c.T.Helper()
	args := append([]string{command[0], u.DBFile(db), "/usr/share/ovn/ovn-" + string(db) + ".ovsschema"}, command[1:]...)
	labtest.Output(c.T, c, "ovsdb-tool", args...)
}

func contents(t *testing.T, u *lab.Unit) map[lab.DB]string {
	t.Helper()
	all := map[lab.DB]string{}
	for _, db := range lab.Databases {
		text, err := os.ReadFile(u.DBFile(db))
		require.NoError(t, err)
		all[db] = string(text)
	}
	return all
}

// systemctl runs systemctl as an operator.
func systemctl(t *testing.T, u *lab.Unit, args ...string) {
	t.Helper()
	_, code, err := u.Systemctl(t.Context(), args...)
	require.NoError(t, err)
	require.Zero(t, code, "%v", args)
}

func TestForeign_files_of_departed_unit_are_ignored(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 2, lab.Options{})
	require.NoError(t, c.RemoveUnit(t.Context(), units[1], lab.RemoveOptions{}))
	files := c.leftFiles(units[1])

	// It joins,
	joiner := c.addUsed(func(u *lab.Unit) { put(t, u, files) })
	require.NoError(t, c.Settle(t.Context()))
	c.Tick("two units that work", c.AllActive)
	c.RequireOneCluster(units[0], joiner)
	assert.Equal(t, files, c.leftFiles(joiner), "what was there is kept")

	// or creates the clusters.
	other := newCloud(t, lab.Options{})
	other.RelateVault()
	creator := other.addUsed(func(u *lab.Unit) { put(t, u, files) })
	require.NoError(t, other.Settle(t.Context()))
	other.Tick("a unit that works", other.AllActive)
	other.RequireOneCluster(creator)
	assert.Equal(t, files, c.leftFiles(creator))
	assert.NotEqual(t, c.ClusterID(joiner, lab.NB), c.ClusterID(creator, lab.NB))
}

func TestForeign_database_blocks_unit_and_is_kept(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{JujuVersion: lab.Juju4})
	ours := map[lab.DB]string{}
	for _, db := range lab.Databases {
		ours[db] = c.ClusterID(units[0], db)
	}
	foreign := func(u *lab.Unit) {
		c.makeFile(u, lab.NB, "create-cluster", "tcp:"+u.Address()+":6643")
		c.makeFile(u, lab.SB, "create-cluster", "tcp:"+u.Address()+":6644")
	}
	byHand := func(u *lab.Unit) {
		labtest.Output(t, u, "apt-get", "install", "ovn-central")
		require.Eventually(t, func() bool { return u.Running(lab.NB) && u.Running(lab.SB) }, labtest.Patience, 20*time.Millisecond, "the premise")
	}
	file := c.addUsed(foreign)
	standalone := c.addUsed(func(u *lab.Unit) {
		c.makeFile(u, lab.NB, "create")
		c.makeFile(u, lab.SB, "create")
	})
	// Installed by hand, the packages start standalone databases.
	running := c.addUsed(byHand)
	// Here a member of another cluster runs.
	member := c.addUsed(func(u *lab.Unit) {
		byHand(u)
		systemctl(t, u, "stop", "ovn-central", "ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb")
		for _, db := range lab.Databases {
			require.NoError(t, os.Remove(u.DBFile(db)))
		}
		foreign(u)
		for _, db := range lab.Databases {
			require.NoError(t, u.Start(t.Context(), db))
		}
	})
	require.NotEqual(t, ours[lab.NB], c.ClusterID(member, lab.NB), "the premise")
	strangers := []*lab.Unit{file, standalone, running, member}
	before, running1 := map[string]map[lab.DB]string{}, c.Processes(units[0])
	for _, u := range []*lab.Unit{file, standalone} {
		before[u.Name()] = contents(t, u)
	}
	pids := map[string]int{}
	for _, u := range []*lab.Unit{running, member} {
		pid, err := u.ServerPID(lab.NB)
		require.NoError(t, err)
		pids[u.Name()] = pid
	}

	require.NoError(t, c.Settle(t.Context()))
	c.RunUpdateStatus(c.Units()...)
	for _, db := range lab.Databases {
		for u, code := range map[*lab.Unit]finding.Code{
			file: finding.FileOfOtherCluster, standalone: finding.DatabaseStandalone, running: finding.DatabaseStandalone, member: finding.ServerOfOtherCluster,
		} {
			c.Says(u, "blocked")
			c.Finds(u, code, string(db))
		}
	}
	// The one that works says so too, and is not harmed.
	for _, db := range lab.Databases {
		c.Says(units[0], "blocked")
		said := c.Finds(units[0], finding.TwoClusters, string(db)).Message
		assert.Contains(t, said, raft.ID(c.ClusterID(member, db)).Brief()+" on "+member.Name())
		assert.Contains(t, said, raft.ID(ours[db]).Brief())
	}
	assert.Equal(t, running1, c.Processes(units[0]))
	c.RequireWritable()
	for program, db := range map[string]lab.DB{"ovn-nbctl": lab.NB, "ovn-sbctl": lab.SB} {
		out := labtest.Output(t, member, program, "--timeout=20", "--db=unix:"+filepath.Join(member.RunDir(),
			"ovn"+string(db)+"_db.sock"), "list", "Connection")
		assert.Empty(t, out, "nothing is written to the foreign database")
		assert.Equal(t, time.Second, c.Raft(member, db).ElectionTimer, "nor changed in its cluster")
	}
	for _, u := range strangers {
		for _, id := range []int{c.Chassis, c.CMS} {
			assert.Empty(t, c.RelationData(id).Units[u.Name()]["bound-address"], "no client is sent to %s", u.Name())
		}
		assert.Empty(t, c.PutAway(u, lab.NB))
	}
	for name, files := range before {
		u, err := c.Unit(name)
		require.NoError(t, err)
		assert.Equal(t, files, contents(t, u), "%s is not touched", name)
		assert.False(t, u.Running(lab.NB), "no server is started on it")
	}
	for name, pid := range pids {
		u, err := c.Unit(name)
		require.NoError(t, err)
		now, err := u.ServerPID(lab.NB)
		require.NoError(t, err)
		assert.Equal(t, pid, now, "the server of %s runs on", name)
	}

	// Once the operator has moved the files away, they join.
	for _, u := range strangers {
		if u.Running(lab.NB) {
			systemctl(t, u, "stop", "ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb")
		}
		for _, db := range lab.Databases {
			require.NoError(t, os.Rename(u.DBFile(db), u.DBFile(db)+".mine"))
		}
	}
	c.Tick("five units that work", c.AllActive)
	for _, u := range strangers {
		assert.FileExists(t, u.DBFile(lab.NB)+".mine")
		assert.Equal(t, ours[lab.NB], c.ClusterID(u, lab.NB))
	}
}
