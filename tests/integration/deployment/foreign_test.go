package deployment

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// addUsed adds a unit on a machine on which something was before its first hook.
func (c *cloud) addUsed(t *testing.T, before func(u *lab.Unit)) *lab.Unit {
	t.Helper()
	u, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
	require.NoError(t, err)
	before(u)
	return u
}

// archived are the files that a unit has put away of a database.
func archived(t *testing.T, u *lab.Unit, db lab.DB) []string {
	t.Helper()
	files, err := filepath.Glob(u.DBFile(db) + ".left-*")
	require.NoError(t, err)
	return files
}

// leftFiles are databases that have left their cluster, as a unit leaves them.
func leftFiles(t *testing.T, removed *lab.Unit) map[lab.DB][]byte {
	t.Helper()
	files := map[lab.DB][]byte{}
	for _, db := range lab.Databases {
		put := archived(t, removed, db)
		require.Len(t, put, 1)
		text, err := os.ReadFile(put[0])
		require.NoError(t, err)
		require.Contains(t, string(text), `"note":"left"`, "the premise")
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

// makeFile makes a database's file by ovsdb-tool, as somebody else would.
func (c *cloud) makeFile(t *testing.T, u *lab.Unit, db lab.DB, command ...string) {
	t.Helper()
	args := append([]string{command[0], u.DBFile(db), "/usr/share/ovn/ovn-" + string(db) + ".ovsschema"}, command[1:]...)
	_, err := c.Exec(t.Context(), "ovsdb-tool", args...)
	require.NoError(t, err)
}

// idIn is the ID of the cluster that a file is of.
func (c *cloud) idIn(t *testing.T, u *lab.Unit, db lab.DB) string {
	t.Helper()
	out, err := c.Exec(t.Context(), "ovsdb-tool", "db-cid", u.DBFile(db))
	require.NoError(t, err)
	return out[:36]
}

// brief is a cluster's ID as statuses show it.
func brief(id string) string { return raft.ID(id).Brief() }

// contents are both databases as they stand on a unit's disk.
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

// systemctl runs it on a unit's machine, as an operator.
func systemctl(t *testing.T, u *lab.Unit, args ...string) {
	t.Helper()
	_, code, err := u.Systemctl(t.Context(), args...)
	require.NoError(t, err)
	require.Zero(t, code, "%v", args)
}

func TestMachineWithTheFilesOfAUnitThatHasLeftIsLikeAnEmptyOne(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 2, lab.Options{})
	require.NoError(t, c.RemoveUnit(t.Context(), units[1], lab.RemoveOptions{}))
	files := leftFiles(t, units[1])

	// It joins,
	joiner := c.addUsed(t, func(u *lab.Unit) { put(t, u, files) })
	require.NoError(t, c.Settle(t.Context()))
	c.tick(t, "two units that work", c.allActive)
	c.requireOneCluster(t, units[0], joiner)
	assert.Equal(t, files, leftFiles(t, joiner), "what was there is kept")

	// or creates the clusters.
	other := newCloud(t, lab.Options{})
	other.relateVault(t)
	creator := other.addUsed(t, func(u *lab.Unit) { put(t, u, files) })
	require.NoError(t, other.Settle(t.Context()))
	other.tick(t, "a unit that works", other.allActive)
	other.requireOneCluster(t, creator)
	assert.Equal(t, files, leftFiles(t, creator))
	assert.NotEqual(t, clusterID(t, joiner, lab.NB), clusterID(t, creator, lab.NB))
}

func TestDatabaseThatIsNotOursBlocksItsUnitAndIsNotTouched(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{JujuVersion: lab.Juju4})
	ours := map[lab.DB]string{}
	for _, db := range lab.Databases {
		ours[db] = clusterID(t, units[0], db)
	}
	foreign := func(u *lab.Unit) {
		c.makeFile(t, u, lab.NB, "create-cluster", "tcp:"+u.Address()+":6643")
		c.makeFile(t, u, lab.SB, "create-cluster", "tcp:"+u.Address()+":6644")
	}
	byHand := func(u *lab.Unit) {
		_, err := u.Exec(t.Context(), "apt-get", "install", "ovn-central")
		require.NoError(t, err)
		require.Eventually(t, func() bool { return u.Running(lab.NB) && u.Running(lab.SB) }, patience, 20*time.Millisecond, "the premise")
	}
	file := c.addUsed(t, foreign)
	standalone := c.addUsed(t, func(u *lab.Unit) {
		c.makeFile(t, u, lab.NB, "create")
		c.makeFile(t, u, lab.SB, "create")
	})
	// Installed by hand, the packages start standalone databases.
	running := c.addUsed(t, byHand)
	// Here a member of another cluster runs.
	member := c.addUsed(t, func(u *lab.Unit) {
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
	require.NotEqual(t, ours[lab.NB], clusterID(t, member, lab.NB), "the premise")
	strangers := []*lab.Unit{file, standalone, running, member}
	before, running1 := map[string]map[lab.DB]string{}, processes(t, units[0])
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
	c.updateStatus(t, c.Units()...)
	for _, db := range lab.Databases {
		says(t, file, "blocked", string(db)+": ", brief(c.idIn(t, file, db)), brief(ours[db]))
		says(t, standalone, "blocked", string(db)+": ", "standalone")
		says(t, running, "blocked", string(db)+": ", "standalone")
		says(t, member, "blocked", string(db)+": ", brief(clusterID(t, member, db)), brief(ours[db]))
	}
	// The one that works says so too, and is not harmed.
	for _, db := range lab.Databases {
		says(t, units[0], "blocked", string(db)+": two clusters under one application; ", brief(clusterID(t, member, db))+" on "+member.Name(), brief(ours[db]))
	}
	assert.Equal(t, running1, processes(t, units[0]))
	c.requireWritable(t)
	for program, db := range map[string]lab.DB{"ovn-nbctl": lab.NB, "ovn-sbctl": lab.SB} {
		out, err := member.Exec(t.Context(), program, "--timeout=20", "--db=unix:"+filepath.Join(member.RunDir(), "ovn"+string(db)+"_db.sock"), "list", "Connection")
		require.NoError(t, err)
		assert.Empty(t, out, "nothing is written to the foreign database")
		assert.Equal(t, time.Second, raftOf(t, member, db).ElectionTimer, "nor changed in its cluster")
	}
	for _, u := range strangers {
		for _, id := range []int{c.chassis, c.cms} {
			assert.Empty(t, c.RelationData(id).Units[u.Name()]["bound-address"], "no client is sent to %s", u.Name())
		}
		assert.Empty(t, archived(t, u, lab.NB))
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
	c.tick(t, "five units that work", c.allActive)
	for _, u := range strangers {
		assert.FileExists(t, u.DBFile(lab.NB)+".mine")
		assert.Equal(t, ours[lab.NB], clusterID(t, u, lab.NB))
	}
}
