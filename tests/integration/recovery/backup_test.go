package recovery

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Under load each copy shows one moment, and has everything that was acknowledged before that. Any unit can make it:
// the leader, a follower, and a unit whose servers are down.
func TestBackup_has_every_acknowledged_write(t *testing.T) {
	m := labtest.Deploy(t, 3)
	w := m.StartWriter(t.Context(), 0)
	for _, u := range m.Deployed {
		name := "before-" + strings.ReplaceAll(u.Name(), "/", "-")
		m.AddSwitch(name, u)
		dir := m.Act(u, "backup")["backup"]
		m.RequireManifest(dir, u)
		assert.Contains(t, m.Switches(dir), name)
	}
	m.Verify(w)
	first := m.Act(m.Deployed[2], "backup")["backup"]
	second := m.Act(m.Deployed[2], "backup")["backup"]
	assert.NotEqual(t, first, second, "two in a row")
	var listed []struct {
		Path, Unit string
		Size       int64
		Loads      bool
		Problem    string
		Databases  []struct {
			Cluster string `json:"cluster-id"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(m.Act(m.Deployed[2], "backups", "format=json")["backups"]), &listed))
	require.Len(t, listed, 3)
	assert.Equal(t, []string{second, first}, []string{listed[0].Path, listed[1].Path}, "the newest first")
	assert.Equal(t, m.Deployed[2].Name(), listed[0].Unit)
	assert.Positive(t, listed[0].Size)
	assert.True(t, listed[0].Loads, listed[0].Problem)
	require.Len(t, listed[0].Databases, 2)
	assert.NotEmpty(t, listed[0].Databases[0].Cluster)
	assert.Contains(t, m.Refuse(m.Deployed[2], "restore", "from=/nope", "dry-run=true"), second, "it names those that exist")

	m.KillServers(m.Deployed[2])
	planned := m.Act(m.Deployed[2], "backup", "dry-run=true")
	assert.Contains(t, planned["warnings"], "sb: ")
	results := m.Act(m.Deployed[2], "backup")
	assert.Contains(t, results["warnings"], "nb: ")
	assert.Equal(t, "file", labtest.ReadManifest(t, results["backup"]).Databases[0].Source)
	assert.Contains(t, m.Switches(results["backup"]), "before-")
}

func TestBackup_keeps_newest_and_foreign_files(t *testing.T) {
	m := labtest.Deploy(t, 1)
	u := m.Deployed[0]
	dir := filepath.Join(t.TempDir(), "elsewhere")
	foreign, killed := filepath.Join(dir, "20200101T000000Z"), filepath.Join(dir, ".making-20200101T000000Z")
	require.NoError(t, os.MkdirAll(foreign, 0o700))
	require.NoError(t, os.MkdirAll(killed, 0o700))
	var made []string
	for range 3 {
		m.Wait(1100 * time.Millisecond) // their names have a resolution of a second
		made = append(made, m.Act(u, "backup", "path="+dir, "keep=2")["backup"])
	}
	assert.NoDirExists(t, made[0])
	assert.DirExists(t, made[1])
	assert.DirExists(t, made[2])
	assert.DirExists(t, foreign, "without a manifest it is no backup")
	assert.NoDirExists(t, killed)

	planned := m.Act(u, "backup", "path="+dir, "keep=2", "dry-run=true")
	assert.Contains(t, planned["ovnnb"], m.ServerID(u, lab.NB)[:4])
	assert.Contains(t, planned["plan"], "remove "+made[1]+"\n")
	assert.NotContains(t, planned, "warnings")
	none := filepath.Join(t.TempDir(), "not", "there")
	assert.NotContains(t, m.Act(u, "backup", "path="+none, "dry-run=true")["plan"], "remove")
	assert.NoDirExists(t, filepath.Dir(none))
	assert.DirExists(t, made[1])

	assert.Contains(t, m.Refuse(u, "backup", "path=relative"), `"relative"`)
}
