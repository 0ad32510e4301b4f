package deployment

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// disk is a small one of its own, on which a unit's databases are.
type disk struct {
	t      *testing.T
	filler string
}

// addOnSmallDisk adds a unit on an empty machine whose databases' disk is full,
// and lets its hooks run.
func (c *cloud) addOnFullDisk(t *testing.T) (*lab.Unit, *disk) {
	t.Helper()
	u, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
	require.NoError(t, err)
	require.NoError(t, syscall.Mount("tmpfs", u.DBDir(), "tmpfs", 0, "size=2m"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(u.DBDir(), syscall.MNT_DETACH)) })
	d := &disk{t, filepath.Join(u.DBDir(), "filler")}
	d.fill()
	require.NoError(t, c.Settle(t.Context()))
	return u, d
}

func (d *disk) fill() {
	d.t.Helper()
	filler, err := os.Create(d.filler)
	require.NoError(d.t, err)
	for err == nil {
		_, err = filler.Write(make([]byte, 512))
	}
	require.ErrorIs(d.t, err, syscall.ENOSPC)
	require.NoError(d.t, filler.Close())
}

func (d *disk) free() {
	d.t.Helper()
	require.NoError(d.t, os.Remove(d.filler))
}

func TestFullDiskIsNamedAndTheUnitGoesOnOnceThereIsSpace(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju3})
	c.relateVault(t)

	// Where the clusters are to be created.
	creator, first := c.addOnFullDisk(t)
	says(t, creator, "blocked", "no space left on the disk of "+creator.DBDir())
	assert.Empty(t, c.LeaderSettings()["nb_cid"], "no cluster is claimed that is not there")
	first.free()
	c.tick(t, "a unit that works", c.allActive)

	// Where a unit is to join.
	joiner, second := c.addOnFullDisk(t)
	says(t, joiner, "blocked", "no space left on the disk of "+joiner.DBDir())
	requireActive(t, creator)
	second.free()
	c.tick(t, "two units that work", c.allActive)
	third := c.addFresh(t, 1)[0]
	c.tick(t, "three units that work", c.allActive)
	c.requireOneCluster(t, creator, joiner, third)

	// Where a member stores what is written. Only the leader sees that it does not, and
	// only until something later is short enough for the rest of its file's last page: then
	// it acknowledges the whole log. So these rows are such that ovn-northd, which answers a
	// change of NB by one of SB, writes nothing after them.
	c.handOver(t, joiner)
	second.fill()
	// What a leader writes before it judges is long enough to show it, though nothing else
	// was written yet.
	assert.Contains(t, c.refused(t, c.leaders(t)[lab.NB], "restart-services", "services=ovn-ovsdb-server-nb"), "would be 1 of 3 up")
	c.writeLong(t)
	// By the server: one unit may lead both, and its leader of one may see it earlier.
	down := func(db lab.DB) string { return raftOf(t, joiner, db).Server.Short() + " (" + joiner.Name() + ") down" }
	c.tick(t, "the leaders see that it stores nothing", func() bool {
		leaders := c.leaders(t)
		return contains(leaders[lab.NB], down(lab.NB)) && contains(leaders[lab.SB], down(lab.SB))
	})
	for db, leader := range c.leaders(t) {
		says(t, leader, "active", "2 of 3 up", down(db))
	}
	says(t, joiner, "blocked", "no space left")

	// What is short enough is stored behind the gap: ovn-northd's answer to this is. Its own
	// unit must not be taken in by that, now or once there is space.
	_, err := c.Exec(t.Context(), "ovn-nbctl", "--timeout=20", "--db="+c.Remotes(lab.NB), "create", "Port_Group", "name=short")
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "ovn-sbctl", "--timeout=20", "--db="+c.Remotes(lab.SB), "wait-until", "Address_Set", "short_ip4")
	require.NoError(t, err)
	c.updateStatus(t, joiner)
	const lacks = "file lacks entries, don't stop it: make space, or run: juju add-unit ovn-central; juju remove-unit "
	says(t, joiner, "blocked", "no space left", "nb: "+lacks+joiner.Name(), "sb: "+lacks+joiner.Name())

	// The others know of it by the database, and count it as down wherever they judge.
	c.updateStatus(t, creator, third)
	for _, u := range []*lab.Unit{creator, third} {
		says(t, u, "active", "2 of 3 up", down(lab.NB), down(lab.SB))
		assert.Contains(t, c.refused(t, u, "restart-services", "services=ovn-ovsdb-server-sb"), "would be 1 of 3 up")
	}
	unhealthy := func() string {
		nb, err := c.Exec(t.Context(), "ovn-nbctl", "--timeout=20", "--db="+c.Remotes(lab.NB), "get", "NB_Global", ".", "external_ids")
		require.NoError(t, err)
		sb, err := c.Exec(t.Context(), "ovn-sbctl", "--timeout=20", "--db="+c.Remotes(lab.SB), "get", "SB_Global", ".", "external_ids")
		require.NoError(t, err)
		return nb + sb
	}
	for _, db := range []lab.DB{lab.NB, lab.SB} {
		assert.Contains(t, unhealthy(), "ovn-central:unhealthy/"+string(raftOf(t, joiner, db).Server))
	}
	own := c.act(t, joiner, "cluster-status") // P7: it says the same of itself
	assert.Equal(t, "nb: 0 more of 3 members may fail (2 up)\nsb: 0 more of 3 members may fail (2 up)\n", own["fault-tolerance"])
	assert.Contains(t, own["warnings"], "nb: the file of this unit's server lacks entries, so it must not be stopped")
	told := unhealthy()
	c.updateStatus(t, joiner)
	assert.Equal(t, told, unhealthy(), "R17: nothing is written twice")

	// A full disk also cuts off an upgrade of the packages by another process.
	require.NoError(t, joiner.InterruptDpkg())
	c.updateStatus(t, joiner)
	assert.Equal(t, told, unhealthy())
	says(t, joiner, "blocked", "no space left", "nb: "+lacks+joiner.Name(), "sb: "+lacks+joiner.Name())

	// Whatever else is asked of it, its servers are not stopped: no other could be
	// started on their files.
	before := processes(t, joiner)
	assert.Contains(t, c.refused(t, joiner, "restart-services", "services=ovn-ovsdb-server-nb"), "must not be stopped")
	assert.Contains(t, c.refused(t, joiner, "pause"), "must not be stopped")
	assert.Equal(t, before, processes(t, joiner))

	// With space they write their files anew, and nothing was lost.
	second.free()
	c.updateStatus(t, joiner)
	requireActive(t, joiner)
	says(t, joiner, "active", "3 of 3 up")
	assert.NotContains(t, unhealthy(), "ovn-central:unhealthy/")
	assert.Equal(t, before, processes(t, joiner))
	assert.Equal(t, "ovn-ovsdb-server-nb, ovn-ovsdb-server-sb", c.act(t, joiner, "restart-services", "services=ovn-ovsdb-server-nb ovn-ovsdb-server-sb")["restarted"])
	c.tick(t, "three units that work again", c.allActive)
	c.requireOneCluster(t, creator, joiner, third)
}

// writeLong writes to both databases more than what is left of the last pages of
// their files, and nothing that ovn-northd answers.
func (c *cloud) writeLong(t *testing.T) {
	t.Helper()
	long := strings.Repeat("x", 8192)
	for db, write := range map[lab.DB][]string{
		lab.NB: {"ovn-nbctl", "create", "DNS", "external_ids:long=" + long},
		lab.SB: {"ovn-sbctl", "create", "Controller_Event", "event_type=empty_lb_backends", "event_info:long=" + long},
	} {
		_, err := c.Exec(t.Context(), write[0], append([]string{"--timeout=20", "--db=" + c.Remotes(db)}, write[1:]...)...)
		require.NoError(t, err)
	}
}

// F9, P5: a server that lost entries, or whose file was damaged, and then its power,
// says what to type; once that is typed the unit mends itself.
func TestServerThatCannotBeStartedSaysWhatToTypeAndJoinsAgainOnceItWasKicked(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{JujuVersion: lab.Juju4})
	u := units[2]
	c.handOver(t, u)
	ids := map[lab.DB]string{}
	for _, db := range []lab.DB{lab.NB, lab.SB} {
		id, err := u.ServerID(t.Context(), db)
		require.NoError(t, err)
		ids[db] = id
	}
	require.NoError(t, u.PowerOff())
	takeOut(t, u.DBFile(lab.NB))
	sb, err := os.OpenFile(u.DBFile(lab.SB), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = sb.WriteAt([]byte("#!"), 0)
	require.NoError(t, err)
	require.NoError(t, sb.Close())
	require.NoError(t, u.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.updateStatus(t, u)
	says(t, u, "blocked", "ovsdb-tool: ovsdb error")
	rejoin := "run: juju run " + u.Name() + " rejoin database="
	says(t, u, "blocked", "nb: its file lacks entries; "+rejoin+"nb i-really-mean-it=true (", "sb: its file can't be read; "+rejoin+"sb i-really-mean-it=true (")
	assert.NotContains(t, u.Workload().Message, "ovsdb-tool: ovsdb-tool:")
	first, _, _ := strings.Cut(u.Workload().Message, " (")
	assert.LessOrEqual(t, len(first), 120, "Juju shows so much")

	// It is a unit of the model that is down: no stale member, and nobody's to kick without
	// force (R4, R16).
	c.updateStatus(t, units...)
	says(t, units[0], "active", "2 of 3 up", "("+u.Name()+") down")
	assert.Contains(t, c.refused(t, units[0], "kick", "sb-identity="+ids[lab.SB][:8], "i-really-mean-it=true"), "still in the model")
	for _, db := range []lab.DB{lab.NB, lab.SB} {
		c.act(t, units[0], "kick", string(db)+"-identity="+ids[db][:8], "force=true", "i-really-mean-it=true")
	}
	c.tick(t, "it has joined again", c.allActive)
	assert.Len(t, archived(t, u, lab.NB), 1)
	assert.Len(t, archived(t, u, lab.SB), 1)
	c.requireOneCluster(t, units...)
}

// A server goes on without a name for its file, and no other could be started in its place: here
// it has the only copy.
func TestFileThatWasTakenAwayUnderItsServerIsWrittenAnewBeforeARestart(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{})
	u := units[0]
	write := func(name string) {
		_, err := c.Exec(t.Context(), "ovn-nbctl", "--timeout=20", "--db="+c.Remotes(lab.NB), "ls-add", name)
		require.NoError(t, err)
	}
	write("before")
	cluster := clusterID(t, u, lab.NB)
	require.NoError(t, os.Remove(u.DBFile(lab.NB)))
	write("without-a-file")
	assert.Contains(t, c.act(t, u, "cluster-status")["warnings"], "nb: the file of this unit's server lacks entries, so it must not be stopped ("+u.DBFile(lab.NB)+" is gone)")
	before := processes(t, u)
	c.act(t, u, "restart-services", "services=ovn-ovsdb-server-nb")
	assert.NotEqual(t, before, processes(t, u), "it was restarted")
	assert.Equal(t, cluster, clusterID(t, u, lab.NB))
	shown, err := c.Exec(t.Context(), "ovn-nbctl", "--timeout=20", "--db="+c.Remotes(lab.NB), "ls-list")
	require.NoError(t, err)
	assert.Contains(t, shown, "(before)")
	assert.Contains(t, shown, "(without-a-file)")

	// Any hook finds it, too, and is enough.
	require.NoError(t, os.Rename(u.DBFile(lab.SB), u.DBFile(lab.SB)+".moved"))
	c.updateStatus(t, u)
	requireActive(t, u)
	assert.FileExists(t, u.DBFile(lab.SB))
}

// §4 of the worst night: what a person would do, by one action on the unit itself.
func TestUnitWithDamagedFilesRejoinsByOneAction(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	u := units[2]
	c.handOver(t, u)
	assert.Contains(t, c.refused(t, u, "rejoin", "i-really-mean-it=true"), "no damaged file is known on this unit")
	require.NoError(t, u.PowerOff())
	takeOut(t, u.DBFile(lab.NB))
	sb, err := os.OpenFile(u.DBFile(lab.SB), os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = sb.WriteAt([]byte("#!"), 0)
	require.NoError(t, err)
	require.NoError(t, sb.Close())
	require.NoError(t, u.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.updateStatus(t, u)
	says(t, u, "blocked", "nb: its file lacks entries", "sb: its file can't be read")

	assert.Contains(t, c.refused(t, u, "rejoin"), "a member that is removed never comes back; to confirm, add i-really-mean-it=true; to see the plan, add dry-run=true")
	assert.Contains(t, c.act(t, u, "rejoin", "dry-run=true")["plan"], "sb: the unit that leads it removes member")
	for _, db := range []string{"nb", "sb"} { // as the status prints them
		c.act(t, u, "rejoin", "database="+db, "i-really-mean-it=true")
	}
	c.tick(t, "it has joined again", c.allActive)
	assert.Len(t, archived(t, u, lab.NB), 1)
	assert.Len(t, archived(t, u, lab.SB), 1)
	c.requireOneCluster(t, units...)

	shown := c.act(t, u, "rejoin", "i-really-mean-it=true")
	for _, db := range []string{"nb", "sb"} {
		assert.Contains(t, shown["plan"], db+": this unit has joined as a new member in the place of ")
		for _, unit := range units {
			assert.Contains(t, shown["proof"], db+": "+unit.Name()+" is a member, and an acknowledged write was read back from its server")
		}
	}
	assert.Contains(t, c.refused(t, u, "rejoin", "i-really-mean-it=true"), "no damaged file is known on this unit", "it is proved")
}

// A damaged unit of a database that has no leader has nothing to join.
func TestRejoinIsRefusedWhereThereIsNoQuorum(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	u := units[2]
	for _, unit := range units[1:] {
		require.NoError(t, unit.PowerOff())
	}
	takeOut(t, u.DBFile(lab.NB))
	require.NoError(t, u.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.updateStatus(t, u)
	says(t, u, "blocked", "nb: its file lacks entries")
	said := c.refused(t, u, "rejoin", "i-really-mean-it=true")
	assert.Contains(t, said, "nothing was done")
	assert.Contains(t, said, "nb: no other unit serves it with a leader: there is nothing to join; see docs/how-to/recover-quorum.md")
	assert.Empty(t, archived(t, u, lab.NB), "the only other copy may be this one")
	require.NoError(t, units[1].PowerOn(t.Context()))
	c.tick(t, "there is one without it", func() bool {
		r, err := c.RunAction(t.Context(), u, "rejoin", "dry-run=true")
		require.NoError(t, err)
		return r.Status == "completed"
	})
}

// takeOut takes the last entry but one out of a database's file, as a write does
// that failed.
func takeOut(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	const mark = "OVSDB CLUSTER "
	records := strings.Split(string(text), mark)
	var entries []int
	for i, record := range records {
		if strings.Contains(record, `"index":`) {
			entries = append(entries, i)
		}
	}
	require.Greater(t, len(entries), 3)
	gone := entries[len(entries)-2]
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(slices.Delete(records, gone, gone+1), mark)), 0o600))
}
