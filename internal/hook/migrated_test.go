package hook_test

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// migrated is what Juju 4 has of an application that was deployed on 3.x: no leader settings, and
// data of the application in which the clusters' IDs never stood.
func (m *machine) migrated() {
	m.tools = map[string]func(run.Command) ([]byte, error){
		"leader-get": func(c run.Command) ([]byte, error) {
			return nil, &run.Error{Command: c, ExitCode: -1, Err: exec.ErrNotFound}
		},
	}
}

func TestModelThatIsMigratedToJuju4KeepsItsClusters(t *testing.T) {
	const foreign = "made elsewhere"
	for _, name := range []string{"upgrade-charm", "config-changed", "update-status", "leader-elected", "ovsdb-peer-relation-changed"} {
		for title, leader := range map[string]bool{"the Juju leader": true, "another unit": false} {
			t.Run(name+" of "+title, func(t *testing.T) {
				m := healthy()
				m.leader = leader
				require.NoError(t, m.run(t, "install"))
				published, said := m.unit, m.status
				require.NotEmpty(t, published["nb-identity"])
				require.NotContains(t, said, foreign)

				m.migrated()
				m.unit = nil
				require.NoError(t, m.run(t, name))
				assert.Equal(t, published, m.unit)
				assert.Equal(t, said, m.status)
				if !leader {
					assert.Empty(t, m.app, "only Juju's leader writes for all")
					return
				}
				for _, db := range ovndb.Databases() {
					s, err := status(m.fixtures[db])
					require.NoError(t, err)
					assert.Equal(t, string(*s.Cluster), m.app[db.Short()+"_cid"], "a unit that comes after finds it there")
				}
			})
		}
	}
}

// Another leader may have published clusters since that were made in a recovery.
func TestWhatAMigratedModelsLeaderHasPublishedStays(t *testing.T) {
	m := healthy()
	m.leader = true
	require.NoError(t, m.run(t, "install"))
	m.migrated()
	const next = "0e0f0c1a-4b2d-4e3f-8a5b-6c7d8e9f0a1b"
	m.tools["relation-get"] = func(run.Command) ([]byte, error) {
		return json.Marshal(map[string]string{"nb_cid": next, "sb_cid": next})
	}
	require.NoError(t, m.run(t, "config-changed"))
	assert.NotContains(t, m.app, "nb_cid")
	assert.NotContains(t, m.app, "sb_cid")
}
