package compatibility

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

func TestThreeEmptyMachinesBecomeAControlPlane(t *testing.T) {
	m := labtest.Empty(t, lab.Options{JujuVersion: lab.Juju3})
	m.RelateVault()
	m.RelateClients()
	units := m.AddFresh(3)
	for _, u := range units {
		assert.Equal(t, "active", u.Workload().Status, u.Workload().Message)
		t.Log(u.Name(), u.Workload())
	}
	for _, relation := range []int{m.Chassis, m.CMS} {
		for _, u := range units {
			assert.Equal(t, `"`+u.Address()+`"`, m.RelationData(relation).Units[u.Name()]["bound-address"])
		}
	}
	assertPythonCharmFindsItsOwn(m, units)
}

// assertPythonCharmFindsItsOwn asserts what the Python charm reads of an application that
// it is put back to: leadership.set.* of ovn_central_handlers.py, bound-address of
// ovsdb_cluster/peers.py of charm-interface-ovsdb, and the paths of ovn_central.py.
func assertPythonCharmFindsItsOwn(m *labtest.Model, units []*lab.Unit) {
	m.T.Helper()
	settings := m.LeaderSettings()
	assert.Equal(m.T, "True", settings["ready"])
	for _, u := range units {
		for _, db := range lab.Databases {
			assert.Equal(m.T, string(*m.Raft(u, db).Cluster), settings[string(db)+"_cid"])
			assert.FileExists(m.T, filepath.Join(u.DBDir(), "ovn"+string(db)+"_db.db"))
		}
		// expected_peers_available: of every unit that Juju expects, or it waits for ever.
		assert.Equal(m.T, `"`+u.Address()+`"`, u.Data()["bound-address"])
		for _, file := range []string{"key_host", "cert_host", "ovn-central.crt"} {
			assert.FileExists(m.T, filepath.Join(u.SysconfDir(), "ovn", file))
		}
	}
}
