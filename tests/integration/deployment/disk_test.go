package deployment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// addOnFullDisk adds a unit on an empty machine whose disk for the databases is full, and runs its hooks.
func addOnFullDisk(c *labtest.Model) *lab.Unit {
	c.T.Helper()
	u := c.AddEmpty()
	c.LimitDisk(u, "2m")
	c.FillDisk(u)
	require.NoError(c.T, c.Settle(c.T.Context()))
	return u
}

func TestDisk_full_is_reported_and_recovers_with_space(t *testing.T) {
	t.Parallel()
	c := labtest.Empty(t, lab.Options{JujuVersion: lab.Juju3})
	c.RelateVault()

	// The unit that creates the clusters.
	creator := addOnFullDisk(c)
	full := func(u *lab.Unit) {
		t.Helper()
		c.Says(u, "blocked")
		assert.Contains(t, c.Finds(u, finding.DiskFull, "").Message, u.DBDir())
	}
	full(creator)
	assert.Empty(t, c.LeaderSettings()["nb_cid"], "no cluster is claimed that is not there")
	c.FreeDisk(creator.DBDir())
	c.Tick("a unit that works", c.AllActive)

	// A unit that joins.
	joiner := addOnFullDisk(c)
	full(joiner)
	c.RequireActive(creator)
	c.FreeDisk(joiner.DBDir())
	c.Tick("two units that work", c.AllActive)
	third := c.AddFresh(1)[0]
	c.Tick("three units that work", c.AllActive)
	c.RequireOneCluster(creator, joiner, third)

	// The disk of a member is full. Only the leader sees that the member stores nothing, and only until a later entry is
	// short enough for the rest of the last page of the member's file: then the member acknowledges the whole log. So
	// these rows are chosen such that ovn-northd, which answers a change of NB with one of SB, writes nothing after
	// them.
	c.HandOver(joiner)
	c.FillDisk(joiner)
	// The entry that a leader writes before it judges is long enough to show that, even if nothing else was written yet.
	assert.Contains(t, c.Refuse(c.Leaders()[lab.NB], "restart-services", "services=ovn-ovsdb-server-nb"), labtest.QuorumLost(2, 3, 1, 3))
	writeLong(c)
	// Check each database separately: one unit may lead both, and may see it earlier in one of them.
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

	// A short entry, such as ovn-northd's answer to this one, is stored behind the gap. The unit itself must not be
	// misled by that, either now or once there is space.
	c.Client(lab.NB, "create", "Port_Group", "name=short")
	c.Client(lab.SB, "wait-until", "Address_Set", "short_ip4")
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

	// The other units learn of it from the database, and count the member as down in every judgement.
	c.RunUpdateStatus(creator, third)
	for _, u := range []*lab.Unit{creator, third} {
		c.Says(u, "active", "2 of 3 up")
		c.Finds(u, finding.MemberDown, "nb sb "+joiner.Name())
		assert.Contains(t, c.Refuse(u, "restart-services", "services=ovn-ovsdb-server-sb"), labtest.QuorumLost(2, 3, 1, 3))
	}
	unhealthy := func() string {
		return c.Client(lab.NB, "get", "NB_Global", ".", "external_ids") + c.Client(lab.SB, "get", "SB_Global", ".",
			"external_ids")
	}
	for _, db := range []lab.DB{lab.NB, lab.SB} {
		assert.Contains(t, unhealthy(), "ovn-central:unhealthy/"+string(c.Raft(joiner, db).Server))
	}
	own := c.Act(joiner, "cluster-status", "format=json") // P7: the unit reports the same about itself
	for _, db := range lab.Databases {
		var document struct{ Quorum struct{ Members, Up int } }
		require.NoError(t, json.Unmarshal([]byte(own["ovn"+string(db)]), &document))
		assert.Equal(t, []int{3, 2}, []int{document.Quorum.Members, document.Quorum.Up}, db)
	}
	told := unhealthy()
	c.RunUpdateStatus(joiner)
	assert.Equal(t, told, unhealthy(), "R17: nothing is written twice")

	// A full disk also interrupts an upgrade of the packages by another process.
	require.NoError(t, joiner.InterruptDpkg())
	c.RunUpdateStatus(joiner)
	assert.Equal(t, told, unhealthy())
	lacks()

	// No action stops the servers: they could not be started again on their files.
	before := c.Processes(joiner)
	c.Refuse(joiner, "restart-services", "services=ovn-ovsdb-server-nb")
	c.Refuse(joiner, "pause")
	assert.Equal(t, before, c.Processes(joiner))

	// With space they rewrite their files, and nothing was lost.
	c.FreeDisk(joiner.DBDir())
	c.RunUpdateStatus(joiner)
	c.RequireActive(joiner)
	c.Says(joiner, "active", "3 of 3 up")
	assert.NotContains(t, unhealthy(), "ovn-central:unhealthy/")
	assert.Equal(t, before, c.Processes(joiner))
	assert.Equal(t, "ovn-ovsdb-server-nb, ovn-ovsdb-server-sb", c.Act(joiner, "restart-services", "services=ovn-ovsdb-server-nb ovn-ovsdb-server-sb")["restarted"])
	c.Tick("three units that work again", c.AllActive)
	c.RequireOneCluster(creator, joiner, third)
}

// writeLong writes to both databases more than the rest of the last pages of their files, and nothing that ovn-northd
// answers.
func writeLong(c *labtest.Model) {
	c.T.Helper()
	long := strings.Repeat("x", 8192)
	c.Client(lab.NB, "create", "DNS", "external_ids:long="+long)
	c.Client(lab.SB, "create", "Controller_Event", "event_type=empty_lb_backends", "event_info:long="+long)
}

// F9, §4 of the worst night: a unit whose file lacks entries is refused a rejoin to a database that has no leader.
func TestRejoin_damaged_file_without_quorum_is_refused(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{JujuVersion: lab.Juju4})
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
	assert.Contains(t, c.Refuse(u, "rejoin", "i-really-mean-it=true", "format=json"), finding.RejoinNoCluster)
	assert.Empty(t, c.PutAway(u, lab.NB), "the only other copy may be this one")
	require.NoError(t, units[1].PowerOn(t.Context()))
	c.Tick("there is one without it", func() bool {
		r, err := c.RunAction(t.Context(), u, "rejoin", "dry-run=true")
		require.NoError(t, err)
		return r.Status == "completed"
	})
}

// A server continues to work after its file was deleted, but could not be started again. Here it has the only copy.
func TestRestart_deleted_file_is_rewritten_first(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	u := units[0]
	c.AddSwitch("before")
	cluster := c.ClusterID(u, lab.NB)
	require.NoError(t, os.Remove(u.DBFile(lab.NB)))
	c.AddSwitch("without-a-file")
	assert.Contains(t, c.Finds(u, finding.FileLacksEntries, "nb").Message, u.DBFile(lab.NB))
	before := c.Processes(u)
	c.Act(u, "restart-services", "services=ovn-ovsdb-server-nb")
	assert.NotEqual(t, before, c.Processes(u), "it was restarted")
	assert.Equal(t, cluster, c.ClusterID(u, lab.NB))
	shown := c.Client(lab.NB, "ls-list")
	assert.Contains(t, shown, "(before)")
	assert.Contains(t, shown, "(without-a-file)")

	// Any hook finds it, too, and repairs it.
	require.NoError(t, os.Rename(u.DBFile(lab.SB), u.DBFile(lab.SB)+".moved"))
	c.RunUpdateStatus(u)
	c.RequireActive(u)
	assert.FileExists(t, u.DBFile(lab.SB))

	// The repair needs no certificate.
	require.NoError(t, c.Unrelate(t.Context(), c.Certificates))
	c.AddSwitch("without-a-certificate") // a server does not rewrite a file to which nothing was added since
	require.NoError(t, os.Remove(filepath.Join(u.SysconfDir(), "ovn", "cert_host")))
	require.NoError(t, os.Rename(u.DBFile(lab.NB), u.DBFile(lab.NB)+".moved"))
	c.RunUpdateStatus(u)
	c.Says(u, "blocked", finding.Lookup(finding.CertificatesMissing).Line)
	c.FindsNone(u, finding.FileLacksEntries)
	assert.FileExists(t, u.DBFile(lab.NB))
}
