package deployment

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// disk is a small one of its own, on which a unit's databases are.
type disk struct {
	t      *testing.T
	filler string
}

// addOnSmallDisk adds a unit on an empty machine whose databases' disk is full,
// and lets its hooks run.
func (c *cloud) addOnFullDisk() (*lab.Unit, *disk) {
	c.T.Helper()
	u := c.AddEmpty()
	require.NoError(c.T, syscall.Mount("tmpfs", u.DBDir(), "tmpfs", 0, "size=2m"))
	c.T.Cleanup(func() { assert.NoError(c.T, syscall.Unmount(u.DBDir(), syscall.MNT_DETACH)) })
	d := &disk{c.T, filepath.Join(u.DBDir(), "filler")}
	d.fill()
	require.NoError(c.T, c.Settle(c.T.Context()))
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

func TestDisk_full_is_reported_and_recovers_with_space(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju3})
	c.RelateVault()

	// Where the clusters are to be created.
	creator, first := c.addOnFullDisk()
	full := func(u *lab.Unit) {
		t.Helper()
		c.Says(u, "blocked")
		assert.Contains(t, c.Finds(u, finding.DiskFull, "").Message, u.DBDir())
	}
	full(creator)
	assert.Empty(t, c.LeaderSettings()["nb_cid"], "no cluster is claimed that is not there")
	first.free()
	c.Tick("a unit that works", c.AllActive)

	// Where a unit is to join.
	joiner, second := c.addOnFullDisk()
	full(joiner)
	c.RequireActive(creator)
	second.free()
	c.Tick("two units that work", c.AllActive)
	third := c.AddFresh(1)[0]
	c.Tick("three units that work", c.AllActive)
	c.RequireOneCluster(creator, joiner, third)

	// Where a member stores what is written. Only the leader sees that it does not, and
	// only until something later is short enough for the rest of its file's last page: then
	// it acknowledges the whole log. So these rows are such that ovn-northd, which answers a
	// change of NB by one of SB, writes nothing after them.
	c.HandOver(joiner)
	second.fill()
	// What a leader writes before it judges is long enough to show it, though nothing else
	// was written yet.
	assert.Contains(t, c.Refuse(c.Leaders()[lab.NB], "restart-services", "services=ovn-ovsdb-server-nb"), labtest.QuorumLost(2, 3, 1, 3))
	c.writeLong()
	// By the server: one unit may lead both, and its leader of one may see it earlier.
	down := func(u *lab.Unit, db lab.DB) bool {
		return c.HasFinding(u, finding.MemberDown, string(db)+" "+joiner.Name())
	}
	c.Tick("the leaders see that it stores nothing", func() bool {
		leaders := c.Leaders()
		return down(leaders[lab.NB], lab.NB) && down(leaders[lab.SB], lab.SB)
	})
	require.NoError(t, c.UpdateStatus(t.Context()))
	for db, leader := range c.Leaders() {
		c.Says(leader, "active")
		assert.True(t, down(leader, db))
	}
	full(joiner)

	// What is short enough is stored behind the gap: ovn-northd's answer to this is. Its own
	// unit must not be taken in by that, now or once there is space.
	_, err := c.Exec(t.Context(), "ovn-nbctl", "--timeout=20", "--db="+c.Remotes(lab.NB), "create", "Port_Group", "name=short")
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "ovn-sbctl", "--timeout=20", "--db="+c.Remotes(lab.SB), "wait-until", "Address_Set", "short_ip4")
	require.NoError(t, err)
	c.RunUpdateStatus(joiner)
	lacks := func() {
		t.Helper()
		full(joiner)
		for _, db := range lab.Databases {
			found := c.Finds(joiner, finding.FileLacksEntries, string(db))
			assert.Equal(t, []string{"juju add-unit ovn-central", "juju remove-unit " + joiner.Name()}, cluster.Commands(found))
		}
	}
	lacks()

	// The others know of it by the database, and count it as down wherever they judge.
	c.RunUpdateStatus(creator, third)
	for _, u := range []*lab.Unit{creator, third} {
		c.Says(u, "active", "2 of 3 up")
		c.Finds(u, finding.MemberDown, "nb sb "+joiner.Name())
		assert.Contains(t, c.Refuse(u, "restart-services", "services=ovn-ovsdb-server-sb"), labtest.QuorumLost(2, 3, 1, 3))
	}
	unhealthy := func() string {
		nb, err := c.Exec(t.Context(), "ovn-nbctl", "--timeout=20", "--db="+c.Remotes(lab.NB), "get", "NB_Global", ".", "external_ids")
		require.NoError(t, err)
		sb, err := c.Exec(t.Context(), "ovn-sbctl", "--timeout=20", "--db="+c.Remotes(lab.SB), "get", "SB_Global", ".", "external_ids")
		require.NoError(t, err)
		return nb + sb
	}
	for _, db := range []lab.DB{lab.NB, lab.SB} {
		assert.Contains(t, unhealthy(), "ovn-central:unhealthy/"+string(c.Raft(joiner, db).Server))
	}
	own := c.Act(joiner, "cluster-status", "format=json") // P7: it says the same of itself
	assert.Equal(t, 2, strings.Count(own["fault-tolerance"], ": 0 more of 3 members"))
	told := unhealthy()
	c.RunUpdateStatus(joiner)
	assert.Equal(t, told, unhealthy(), "R17: nothing is written twice")

	// A full disk also cuts off an upgrade of the packages by another process.
	require.NoError(t, joiner.InterruptDpkg())
	c.RunUpdateStatus(joiner)
	assert.Equal(t, told, unhealthy())
	lacks()

	// Whatever else is asked of it, its servers are not stopped: no other could be
	// started on their files.
	before := c.Processes(joiner)
	c.Refuse(joiner, "restart-services", "services=ovn-ovsdb-server-nb")
	c.Refuse(joiner, "pause")
	assert.Equal(t, before, c.Processes(joiner))

	// With space they rewrite their files, and nothing was lost.
	second.free()
	c.RunUpdateStatus(joiner)
	c.RequireActive(joiner)
	c.Says(joiner, "active", "3 of 3 up")
	assert.NotContains(t, unhealthy(), "ovn-central:unhealthy/")
	assert.Equal(t, before, c.Processes(joiner))
	assert.Equal(t, "ovn-ovsdb-server-nb, ovn-ovsdb-server-sb", c.Act(joiner, "restart-services", "services=ovn-ovsdb-server-nb ovn-ovsdb-server-sb")["restarted"])
	c.Tick("three units that work again", c.AllActive)
	c.RequireOneCluster(creator, joiner, third)
}

// writeLong writes to both databases more than what is left of the last pages of
// their files, and nothing that ovn-northd answers.
func (c *cloud) writeLong() {
	c.T.Helper()
	long := strings.Repeat("x", 8192)
	for db, write := range map[lab.DB][]string{
		lab.NB: {"ovn-nbctl", "create", "DNS", "external_ids:long=" + long},
		lab.SB: {"ovn-sbctl", "create", "Controller_Event", "event_type=empty_lb_backends", "event_info:long=" + long},
	} {
		_, err := c.Exec(c.T.Context(), write[0], append([]string{"--timeout=20", "--db=" + c.Remotes(db)}, write[1:]...)...)
		require.NoError(c.T, err)
	}
}

// F9, §4 of the worst night: a unit whose file lacks entries is refused a rejoin to a database that has no leader.
func TestRejoin_damaged_file_without_quorum_is_refused(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{JujuVersion: lab.Juju4})
	u := units[2]
	c.HandOver(u)
	assert.True(t, c.RefusedRecovery(u, "rejoin", "i-really-mean-it=true").Has(finding.RejoinNotNeeded, ""))
	for _, unit := range units[1:] {
		require.NoError(t, unit.PowerOff())
	}
	c.TakeOut(u.DBFile(lab.NB))
	require.NoError(t, u.PowerOn(t.Context()))
	require.NoError(t, c.Settle(t.Context()))
	c.RunUpdateStatus(u)
	c.Says(u, "blocked")
	c.Finds(u, finding.FileUnusable, "nb")
	r, err := c.RunAction(t.Context(), u, "rejoin", "i-really-mean-it=true", "format=json")
	require.NoError(t, err)
	assert.Equal(t, "failed", r.Status)
	assert.Contains(t, r.Results["findings"], finding.RejoinNoCluster)
	assert.Empty(t, c.PutAway(u, lab.NB), "the only other copy may be this one")
	require.NoError(t, units[1].PowerOn(t.Context()))
	c.Tick("there is one without it", func() bool {
		r, err := c.RunAction(t.Context(), u, "rejoin", "dry-run=true")
		require.NoError(t, err)
		return r.Status == "completed"
	})
}

// A server continues without a name for its file, and no other could be started in its place: here
// it has the only copy.
func TestRestart_deleted_file_is_rewritten_first(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 1, lab.Options{})
	u := units[0]
	write := func(name string) {
		_, err := c.Exec(t.Context(), "ovn-nbctl", "--timeout=20", "--db="+c.Remotes(lab.NB), "ls-add", name)
		require.NoError(t, err)
	}
	write("before")
	cluster := c.ClusterID(u, lab.NB)
	require.NoError(t, os.Remove(u.DBFile(lab.NB)))
	write("without-a-file")
	assert.Contains(t, c.Finds(u, finding.FileLacksEntries, "nb").Message, u.DBFile(lab.NB))
	before := c.Processes(u)
	c.Act(u, "restart-services", "services=ovn-ovsdb-server-nb")
	assert.NotEqual(t, before, c.Processes(u), "it was restarted")
	assert.Equal(t, cluster, c.ClusterID(u, lab.NB))
	shown, err := c.Exec(t.Context(), "ovn-nbctl", "--timeout=20", "--db="+c.Remotes(lab.NB), "ls-list")
	require.NoError(t, err)
	assert.Contains(t, shown, "(before)")
	assert.Contains(t, shown, "(without-a-file)")

	// Any hook finds it, too, and is enough.
	require.NoError(t, os.Rename(u.DBFile(lab.SB), u.DBFile(lab.SB)+".moved"))
	c.RunUpdateStatus(u)
	c.RequireActive(u)
	assert.FileExists(t, u.DBFile(lab.SB))

	// It needs no certificate.
	require.NoError(t, c.Unrelate(t.Context(), c.Certificates))
	write("without-a-certificate") // a server rewrites no file to which nothing was added since
	require.NoError(t, os.Remove(filepath.Join(u.SysconfDir(), "ovn", "cert_host")))
	require.NoError(t, os.Rename(u.DBFile(lab.NB), u.DBFile(lab.NB)+".moved"))
	c.RunUpdateStatus(u)
	c.Says(u, "blocked", "'certificates' missing")
	c.FindsNone(u, finding.FileLacksEntries)
	assert.FileExists(t, u.DBFile(lab.NB))
}
