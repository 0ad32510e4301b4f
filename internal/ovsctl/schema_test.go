//go:build programs

package ovsctl_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// oldSchema makes a schema of NB as an earlier release may have had it: without a column
// of today's, and with a lower version.
func oldSchema(t *testing.T, version string) (dir string) {
	t.Helper()
	text, err := os.ReadFile(schema(ovndb.NB))
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(text, &all))
	all["version"] = version
	delete(all, "cksum")
	switches := all["tables"].(map[string]any)["Logical_Switch"].(map[string]any)["columns"].(map[string]any)
	require.Contains(t, switches, "other_config")
	delete(switches, "other_config")
	text, err = json.Marshal(all)
	require.NoError(t, err)
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(schema(ovndb.NB))), text, 0o600))
	return dir
}

// A database of an older release is converted once, in the whole cluster, by any
// member, and keeps its rows; one that is newer than the packages is left alone.
func TestOlderSchemaIsConvertedAndNewerOneIsLeftAlone(t *testing.T) {
	t.Parallel()
	// The first digits decide, as numbers and not as text.
	old := oldSchema(t, "6.10.0")
	net := loopbacktest.Network(t)
	first := &server{ovsdbtest.New(t, ovndb.NB, net+".1")}
	first.Schema = filepath.Join(old, "ovn-nb.ovsschema")
	first.Create(t).Start(t)
	second := &server{ovsdbtest.New(t, ovndb.NB, net+".2").Join(t, first.Address).Start(t)}
	second.Reaches(t, func(s raft.Status) bool { return s.State == raft.ClusterMember && s.HasLeader() }, "it does not join")
	query(t, second, `{"op":"insert","table":"Logical_Switch","row":{"name":"net"}}`)

	require.True(t, needsConversion(t, first.files()))
	require.NoError(t, second.files().Convert(t.Context(), ovndb.NB, patience))
	for _, s := range []*server{first, second} {
		require.Eventually(t, func() bool { return !needsConversion(t, s.files()) }, patience, 20*time.Millisecond)
		out := query(t, s, `{"op":"select","table":"Logical_Switch","where":[],"columns":["name","other_config"]}`)
		assert.Contains(t, out, `"net"`, "the row is still there, and has the new column")
	}
	newer := first.files()
	newer.Paths.Data = oldSchema(t, "6.9.9")
	assert.False(t, needsConversion(t, newer), "packages that are older do not convert it back")
	newer.Paths.Data = oldSchema(t, "10.0.0")
	assert.True(t, needsConversion(t, newer))
}

func TestSchemaThatIsNoneIsAnError(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t)}
	_, err := s.files().NeedsConversion(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "cannot find the version of the schema of OVN_Northbound: ", "no server runs")
	s.Start(t)
	files := s.files()
	files.Paths.Data = oldSchema(t, "soon")
	_, err = files.NeedsConversion(t.Context(), ovndb.NB)
	require.ErrorContains(t, err, "cannot find the version of the packages' schema of OVN_Northbound: ")
}

func needsConversion(t *testing.T, f ovsctl.Files) bool {
	t.Helper()
	needed, err := f.NeedsConversion(t.Context(), ovndb.NB)
	require.NoError(t, err)
	return needed
}

func query(t *testing.T, s *server, operation string) string {
	t.Helper()
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "ovsdb-client", Args: []string{
		"--timeout=10", "transact", "unix:" + s.Paths.Socket(ovndb.NB), `["OVN_Northbound",` + operation + `]`,
	}})
	require.NoError(t, err)
	return string(out)
}
