package backup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
)

// listed is a backup of both databases with these schemas in dir.
func listed(t *testing.T, dir, name, schema string) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	require.NoError(t, os.Rename(whole(t), path))
	m, err := Read(path)
	require.NoError(t, err)
	m.Databases = append(m.Databases, m.Databases[0])
	m.Databases[1].Name = ovndb.SB
	for i := range m.Databases {
		m.Databases[i].Schema, m.Databases[i].Cluster = schema, "1a2b0000"
	}
	require.NoError(t, m.write(path))
	return path
}

func TestList(t *testing.T) {
	t.Parallel()
	dir, share := t.TempDir(), t.TempDir()
	paths := ovndb.Paths{Data: share}
	for _, d := range ovndb.Databases() {
		require.NoError(t, os.WriteFile(paths.Schema(d), []byte(`{"name":"x","version":"7.1.0"}`), 0o600))
	}
	s := &Service{Files: ovsctl.Files{Paths: paths}}
	newer := listed(t, dir, "20261124T100000Z", "7.2.0")
	damaged := listed(t, dir, "20261123T100000Z", "7.0.0")
	good := listed(t, dir, "20261122T100000Z", "7.0.0")
	unreadable := filepath.Join(dir, "20261121T100000Z")
	require.NoError(t, os.Mkdir(unreadable, 0o700))
	copied := filepath.Join(damaged, "ovnnb_db.db.gz")
	text, err := os.ReadFile(copied)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(copied, flip(30)(text), 0o600))

	all, err := s.List(t.Context(), dir)
	require.NoError(t, err)
	require.Len(t, all, 4)
	for i, want := range []struct {
		path, problem string
	}{{newer, "7.2.0, newer than that of the installed packages, 7.1.0"}, {damaged, "ovnnb_db.db.gz is damaged"}, {good, ""}, {unreadable, "no such file"}} {
		assert.Equal(t, want.path, all[i].Path)
		assert.Equal(t, want.problem == "", all[i].Loads, all[i].Problem)
		assert.Contains(t, all[i].Problem, want.problem)
	}
	assert.Equal(t, []Copy{{ovndb.NB, "1a2b0000", "7.0.0"}, {ovndb.SB, "1a2b0000", "7.0.0"}}, all[2].Databases)
	assert.EqualValues(t, 2*1485, all[2].Size)

	for text, want := range map[string]string{
		"20261123T100000Z": damaged, "/nope/20261122T10000Z": good, filepath.Join(good, "ovnnb_db.db.gz"): good, "/nope": newer,
	} {
		assert.Equal(t, want, Nearest(all, text), text)
	}
	assert.Empty(t, Nearest(nil, "/nope"))
}
