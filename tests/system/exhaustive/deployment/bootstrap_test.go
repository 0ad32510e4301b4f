package deployment

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// A leader that is killed in the middle of making the clusters, and replaced
// before it continues: whether the new leader makes its own or finds those of the
// old one, each database has one cluster in the end.
func TestLeaderThatIsReplacedWhileItBootstrapsMakesNoSecondCluster(t *testing.T) {
	t.Parallel()
	exists := func(path string) bool { _, err := os.Stat(path); return err == nil }
	published := func(c *cloud) bool { return c.LeaderSettings()["nb_cid"] != "" }
	nb, sb := func(u *lab.Unit) string { return u.DBFile(lab.NB) }, func(u *lab.Unit) string { return u.DBFile(lab.SB) }
	for name, test := range map[string]struct {
		// after reports whether the step is made; the hook is killed at its next call.
		after func(c *cloud, u *lab.Unit) bool
		// maker is the unit whose clusters remain.
		maker int
		// rests is whether the old leader runs no hook until the new one has run all
		// of its own.
		rests bool
	}{
		"one cluster is staged":          {func(_ *cloud, u *lab.Unit) bool { return exists(nb(u) + ".new") }, 1, true},
		"both are staged":                {func(_ *cloud, u *lab.Unit) bool { return exists(sb(u) + ".new") }, 1, false},
		"both are staged, and it rests":  {func(_ *cloud, u *lab.Unit) bool { return exists(sb(u) + ".new") }, 1, true},
		"they are claimed":               {func(c *cloud, _ *lab.Unit) bool { return published(c) }, 0, false},
		"they are claimed, and it rests": {func(c *cloud, _ *lab.Unit) bool { return published(c) }, 0, true},
		"one is committed":               {func(_ *cloud, u *lab.Unit) bool { return exists(nb(u)) }, 0, true},
		"both are committed":             {func(_ *cloud, u *lab.Unit) bool { return exists(sb(u)) }, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCloud(t, lab.Options{JujuVersion: lab.Juju3})
			c.Hold(true)
			var units []*lab.Unit
			for range 2 {
				u := c.AddEmpty()
				units = append(units, u)
				c.DeliverAll(u)
			}
			old, next := units[0], units[1]
			c.RelateVault()
			c.DeliverUntil(old, "certificates-relation-joined")
			c.KillHook(old, "certificates-relation-joined", func(string) bool { return test.after(c, old) })
			require.NoError(t, c.SetLeader(t.Context(), next))
			claimed := c.LeaderSettings()["nb_cid"]
			if test.rests {
				c.DeliverAll(next)
			}
			c.Hold(false)
			require.NoError(t, c.Settle(t.Context()))
			c.Tick("all units are active", c.AllActive)
			c.RequireOneCluster(units...)
			assert.Equal(t, units[test.maker].Name(), c.LeaderSettings()["created-by"])
			if claimed != "" {
				assert.Equal(t, claimed, c.LeaderSettings()["nb_cid"])
			}
			for _, u := range units {
				assert.Empty(t, c.PutAway(u), u.Name())
			}
		})
	}
}
