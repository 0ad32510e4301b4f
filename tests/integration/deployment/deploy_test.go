package deployment

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

func TestThreeEmptyMachinesBecomeAControlPlane(t *testing.T) {
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju3})
	c.relateVault(t)
	c.relateClients(t)
	units := c.addFresh(t, 3)
	for _, u := range units {
		assert.Equal(t, "active", u.Workload().Status, u.Workload().Message)
		t.Log(u.Name(), u.Workload())
	}
	for _, relation := range []int{c.chassis, c.cms} {
		for _, u := range units {
			assert.Equal(t, `"`+u.Address()+`"`, c.RelationData(relation).Units[u.Name()]["bound-address"])
		}
	}
	c.assertPythonCharmFindsItsOwn(t, units)
}

// assertPythonCharmFindsItsOwn asserts what the Python charm reads of an application that
// it is put back to: leadership.set.* of ovn_central_handlers.py, bound-address of
// ovsdb_cluster/peers.py of charm-interface-ovsdb, and the paths of ovn_central.py.
func (c *cloud) assertPythonCharmFindsItsOwn(t *testing.T, units []*lab.Unit) {
	t.Helper()
	settings := c.LeaderSettings()
	assert.Equal(t, "True", settings["ready"])
	for _, u := range units {
		for _, db := range lab.Databases {
			assert.Equal(t, string(*raftOf(t, u, db).Cluster), settings[string(db)+"_cid"])
			assert.FileExists(t, filepath.Join(u.DBDir(), "ovn"+string(db)+"_db.db"))
		}
		// expected_peers_available: of every unit that Juju expects, or it waits for ever.
		assert.Equal(t, `"`+u.Address()+`"`, u.Data()["bound-address"])
		for _, file := range []string{"key_host", "cert_host", "ovn-central.crt"} {
			assert.FileExists(t, filepath.Join(u.SysconfDir(), "ovn", file))
		}
	}
}

// J9: what is only not there yet, as Juju 4 tells of it late, is no error: an operator who
// greps the log of a fresh deployment for ERROR finds nothing.
func TestFreshDeploymentOnJuju4LogsNoError(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{JujuVersion: lab.Juju4})
	c.updateStatus(t, units...)
	for _, u := range units {
		log := logFrom(t, u, 0)
		require.Contains(t, log, ": start ovn-northd", "the premise: it is the log")
		assert.NotRegexp(t, `(?m)^ERROR .*$`, log, u.Name())
	}
}
