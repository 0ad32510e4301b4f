package deployment

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// systemctl runs systemctl as an operator.
func systemctl(t *testing.T, u *lab.Unit, args ...string) {
	t.Helper()
	_, code, err := u.Systemctl(t.Context(), args...)
	require.NoError(t, err)
	require.Zero(t, code, "%v", args)
}

// Strangers are units on machines whose servers run already: standalone, as the packages start them, and of another
// cluster. The other cases are scenarios of TestRemedies_work_as_printed.
func TestForeign_server_blocks_unit_and_is_kept(t *testing.T) {
	t.Parallel()
	c, units := labtest.Fresh(t, 1, lab.Options{JujuVersion: lab.Juju4})
	ours := map[lab.DB]string{}
	for _, db := range lab.Databases {
		ours[db] = c.ClusterID(units[0], db)
	}
	standalone, member := c.AddEmpty(), c.AddEmpty()
	strangers := []*lab.Unit{standalone, member}
	for _, u := range strangers { // installed by hand, the packages start standalone databases
		labtest.Output(t, u, "apt-get", "install", "ovn-central")
		require.Eventually(t, func() bool { return u.Running(lab.NB) && u.Running(lab.SB) }, labtest.Patience, 20*time.Millisecond, "the premise")
	}
	systemctl(t, member, "stop", "ovn-central", "ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb")
	for db, port := range map[lab.DB]string{lab.NB: ":6643", lab.SB: ":6644"} {
		require.NoError(t, os.Remove(member.DBFile(db)))
		labtest.Output(t, c, "ovsdb-tool", "create-cluster", member.DBFile(db),
			"/usr/share/ovn/ovn-"+string(db)+".ovsschema", "tcp:"+member.Address()+port)
		require.NoError(t, member.Start(t.Context(), db))
	}
	require.NotEqual(t, ours[lab.NB], c.ClusterID(member, lab.NB), "the premise")
	before, pids := c.Processes(units[0]), c.PIDs(strangers...)

	require.NoError(t, c.Settle(t.Context()))
	c.RunUpdateStatus(c.Units()...)
	for program, db := range map[string]lab.DB{"ovn-nbctl": lab.NB, "ovn-sbctl": lab.SB} {
		for u, code := range map[*lab.Unit]finding.Code{standalone: finding.DatabaseStandalone, member: finding.ServerOfOtherCluster} {
			c.Says(u, "blocked")
			c.Finds(u, code, string(db))
		}
		c.Says(units[0], "blocked")
		said := c.Finds(units[0], finding.TwoClusters, string(db)).Message
		assert.Contains(t, said, raft.ID(c.ClusterID(member, db)).Brief()+" on "+member.Name())
		assert.Contains(t, said, raft.ID(ours[db]).Brief())
		assert.Empty(t, labtest.Tool(t, member, program, db, "list", "Connection"),
			"nothing is written to the foreign database")
		assert.Equal(t, time.Second, c.Raft(member, db).ElectionTimer, "nor changed in its cluster")
	}
	assert.Equal(t, before, c.Processes(units[0]), "the unit that works is not harmed")
	c.RequireWritable()
	assert.Equal(t, pids, c.PIDs(strangers...), "the foreign servers continue to run")
	for _, u := range strangers {
		for _, id := range []int{c.Chassis, c.CMS} {
			assert.Empty(t, c.RelationData(id).Units[u.Name()]["bound-address"], "no client is sent to %s", u.Name())
		}
		assert.Empty(t, c.PutAway(u, lab.NB))
	}

	// Once the operator has moved the files away, they join.
	for _, u := range strangers {
		systemctl(t, u, "stop", "ovn-northd", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb")
		for _, db := range lab.Databases {
			require.NoError(t, os.Rename(u.DBFile(db), u.DBFile(db)+".mine"))
		}
	}
	c.Tick("three units that work", c.AllActive)
	for _, u := range strangers {
		assert.FileExists(t, u.DBFile(lab.NB)+".mine")
		assert.Equal(t, ours[lab.NB], c.ClusterID(u, lab.NB))
	}
}
