package hook_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// migrated simulates Juju 4's data of an application that was deployed on 3.x: no leader settings, and application
// data without the clusters' IDs.
func (m *machine) migrated() {
	m.tools = map[string]func(run.Command) ([]byte, error){
		"leader-get": func(c run.Command) ([]byte, error) {
			return nil, &run.Error{Command: c, ExitCode: -1, Err: exec.ErrNotFound}
		},
	}
}

func TestMigrated_to_Juju_4_keeps_clusters(t *testing.T) {
	const foreign = "made elsewhere"
	for _, name := range []string{
		"upgrade-charm", "config-changed", "update-status", "leader-elected",
		"ovsdb-peer-relation-changed",
	} {
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
					assert.Empty(t, m.app, "only Juju's leader publishes for the application")
					return
				}
				for _, db := range ovndb.Databases() {
					s, err := status(m.fixtures[db])
					require.NoError(t, err)
					assert.Equal(t, string(s.Cluster), m.app[db.Short()+"_cid"], "later units read it there")
				}
			})
		}
	}
}

// Juju 4 numbers the units of an application that is deployed again from 0. Files that stayed on the machine after a
// forced removal, since the hook remove did not run, do not belong to the new application.
func TestMigrated_redeployed_application_starts_empty(t *testing.T) {
	m := healthy()
	m.leader = true
	require.NoError(t, m.run(t, "install"))
	require.NoError(t, m.run(t, "config-changed"))
	m.recorded(t, func(r sections) { r["unit"]["paused"] = true })
	require.NotEmpty(t, m.recorded(t, nil)["clusters"]["leader-settings"], "the premise")

	m.migrated() // for this unit, a new application looks the same
	m.fixtures, m.unit, m.app = map[ovndb.Database]string{}, nil, nil
	for range 2 { // Juju retries a failed install
		require.NoError(t, m.run(t, "install"))
		r := m.recorded(t, nil)
		assert.NotContains(t, r["unit"], "paused")
		assert.NotContains(t, r["clusters"], "leader-settings")
		assert.NotContains(t, m.app, "nb_cid")
		assert.NotContains(t, m.app, "sb_cid")
		assert.True(t, r["unit"]["known"].(bool))
		m.recorded(t, func(r sections) { r["packages"]["source"] = "distro" })
	}
	assert.Equal(t, "distro", m.recorded(t, nil)["packages"]["source"])
	require.NoError(t, m.run(t, "install"))
	assert.Equal(t, "distro", m.recorded(t, nil)["packages"]["source"], "the record of an earlier attempt stays")
}

// sections are the sections of a unit's record on the disk.
type sections map[string]map[string]any

// recorded returns the unit's record on the disk. It first changes the record if change is not nil.
func (m *machine) recorded(t *testing.T, change func(sections)) sections {
	t.Helper()
	path := filepath.Join(m.dir, "ovn-central-operator.unit.json")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	r := sections{"unit": {}, "packages": {}, "clusters": {}}
	require.NoError(t, json.Unmarshal(text, &r))
	if change != nil {
		change(r)
		text, err = json.Marshal(r)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	return r
}

// Another leader may have published clusters that a recovery made since.
func TestMigrated_keeps_published_clusters(t *testing.T) {
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

// goal-state lists a relation before a unit joins it, and for seconds after it has left.
func TestCertificates_missing_relation_is_reported(t *testing.T) {
	const missing = "'certificates' missing"
	m := healthy()
	m.goal = `{"units":{"ovn-central/0":{"status":"active"}},` +
		`"relations":{"certificates":{"vault":{"status":"joined"},"vault/0":{"status":"active"}}}}`
	for _, name := range []string{"install", "config-changed", "update-status"} {
		require.NoError(t, m.run(t, name))
		assert.NotContains(t, m.status, missing, "%s: the unit has not joined it yet", name)
	}
	m.certificates = []string{"certificates:3"}
	require.NoError(t, m.run(t, "config-changed"))
	assert.NotContains(t, m.status, missing)

	m.gone = "certificates:3"
	require.NoError(t, m.run(t, "certificates-relation-broken"))
	assert.Contains(t, m.status, missing)
	m.gone, m.certificates = "", nil
	for _, name := range []string{"update-status", "config-changed", "update-status"} {
		require.NoError(t, m.run(t, name))
		assert.Contains(t, m.status, missing, name)
	}

	m.certificates = []string{"certificates:4"}
	require.NoError(t, m.run(t, "config-changed"))
	assert.NotContains(t, m.status, missing)

	m.certificates = nil
	m.goal = dying
	require.NoError(t, m.run(t, "update-status"))
	assert.NotContains(t, m.status, missing, "Juju removes the relations before the unit")
}

// goal-state omits relations in which another model's application consumes an offer.
func TestCertificates_cross_model_relation_is_remembered(t *testing.T) {
	const missing = "'certificates' missing"
	m := healthy()
	m.certificates = []string{"certificates:3"}
	settled := func(r sections) { r["unit"]["settled"] = true }
	require.NoError(t, m.run(t, "config-changed"))
	for range 2 {
		m.recorded(t, settled)
		require.NoError(t, m.run(t, "update-status"))
		assert.NotContains(t, m.status, missing)
	}

	m.gone = "certificates:3"
	require.NoError(t, m.run(t, "certificates-relation-broken"))
	assert.Contains(t, m.status, missing)
	m.gone, m.certificates = "", nil
	m.recorded(t, settled)
	require.NoError(t, m.run(t, "update-status"))
	assert.Contains(t, m.status, missing)
}
