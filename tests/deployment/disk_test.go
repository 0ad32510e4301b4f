package deployment

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
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
	c := newCloud(t, lab.Options{})
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
	long := strings.Repeat("x", 8192) // more than what is left of the files' last pages
	for db, write := range map[lab.DB][]string{
		lab.NB: {"ovn-nbctl", "create", "DNS", "external_ids:long=" + long},
		lab.SB: {"ovn-sbctl", "create", "Controller_Event", "event_type=empty_lb_backends", "event_info:long=" + long},
	} {
		_, err := c.Exec(t.Context(), write[0], append([]string{"--timeout=20", "--db=" + c.Remotes(db)}, write[1:]...)...)
		require.NoError(t, err)
	}
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
	says(t, joiner, "blocked", "no space left")

	// What its server did not store is lost for it, and it could not be started again
	// on its file. But it can leave.
	second.free()
	c.updateStatus(t, joiner)
	says(t, joiner, "blocked", "juju remove-unit "+joiner.Name())
	assert.True(t, joiner.Running(lab.NB) && joiner.Running(lab.SB), "its servers still vote")
	require.NoError(t, c.RemoveUnit(t.Context(), joiner, lab.RemoveOptions{}))
	assert.Len(t, archived(t, joiner, lab.NB), 1)
	assert.Len(t, archived(t, joiner, lab.SB), 1)
	fourth := c.addFresh(t, 1)[0]
	c.tick(t, "three units that work again", c.allActive)
	c.requireOneCluster(t, creator, third, fourth)
}
