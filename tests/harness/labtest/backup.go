package labtest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Manifest is the part of a backup's manifest that tests check.
type Manifest struct {
	Unit      string
	Taken     time.Time
	OVN       string `json:"ovn-version"`
	OVS       string `json:"ovs-version"`
	Databases []struct {
		Name    string
		Source  string
		Cluster raft.ID `json:"cluster-id"`
		Server  string  `json:"server-id"`
		Term    uint64
		Index   uint64
		Schema  string `json:"schema-version"`
	}
}

// ReadManifest reads the manifest of a backup.
func ReadManifest(t *testing.T, dir string) (m Manifest) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &m))
	return m
}

// RequireManifest requires that the manifest of a fresh backup describes the unit's servers.
func (m *Model) RequireManifest(dir string, u *lab.Unit) {
	m.T.Helper()
	made := ReadManifest(m.T, dir)
	assert.Equal(m.T, u.Name(), made.Unit)
	assert.Equal(m.T, filepath.Base(dir), made.Taken.Format("20060102T150405Z"))
	assert.Equal(m.T, u.Packages()["ovn-central"], made.OVN)
	assert.Equal(m.T, u.Packages()["openvswitch-common"], made.OVS)
	require.Len(m.T, made.Databases, 2)
	for i, db := range lab.Databases {
		x := made.Databases[i]
		s := m.Raft(u, db)
		assert.Equal(m.T, db.Schema(), x.Name)
		assert.Equal(m.T, "server", x.Source)
		assert.Equal(m.T, s.Cluster, x.Cluster)
		assert.Equal(m.T, m.ServerID(u, db), x.Server)
		assert.Equal(m.T, s.Term, x.Term)
		assert.NotZero(m.T, x.Index)
		assert.LessOrEqual(m.T, x.Index, s.Log.End)
		assert.Equal(m.T, m.Schemas(u)[i], x.Schema)
	}
}

// Switches returns the logical switches in a backup's copy.
func (m *Model) Switches(dir string) string {
	m.T.Helper()
	Output(m.T, m, "gzip", "-dkf", filepath.Join(dir, "ovnnb_db.db.gz"))
	out, err := m.Exec(m.T.Context(), "ovsdb-tool", "query", filepath.Join(dir, "ovnnb_db.db"),
		`["OVN_Northbound",{"op":"select","table":"Logical_Switch","where":[],"columns":["name"]}]`)
	require.NoError(m.T, err)
	return out
}

// Schemas returns the versions of the schemas that these units' servers serve.
func (m *Model) Schemas(units ...*lab.Unit) (all []string) {
	m.T.Helper()
	for _, u := range units {
		for _, db := range lab.Databases {
			out := Output(m.T, u, "ovsdb-client", "--timeout=10", "--no-leader-only", "get-schema-version",
				"unix:"+u.Socket(db), db.Schema())
			all = append(all, strings.TrimSpace(out))
		}
	}
	return all
}

// Converted reports whether these units' servers serve the newer schemas.
func (m *Model) Converted(units ...*lab.Unit) bool {
	m.T.Helper()
	return !slices.ContainsFunc(m.Schemas(units...), func(v string) bool { return v != lab.NewerSchema })
}

// OfferUpgrade makes the next source bring a newer version with newer schemas.
func (m *Model) OfferUpgrade(units ...*lab.Unit) {
	m.T.Helper()
	m.Offer("99.1.0-1", units...)
	for _, u := range units {
		require.NoError(m.T, u.OfferSchemas())
	}
}
