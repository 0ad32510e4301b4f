package deployment

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// inPlace are the database files that a server would start on.
func inPlace(t *testing.T, u *lab.Unit) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(u.DBDir(), "*.db"))
	require.NoError(t, err)
	return files
}

// putAway are the database files that were renamed because their server is no
// member any more.
func putAway(t *testing.T, u *lab.Unit) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(u.DBDir(), "*.left-*"))
	require.NoError(t, err)
	return files
}

// requireVacated requires that a unit that was removed has left its machine as one
// that can host another: no key, no rules, nothing that starts.
func requireVacated(t *testing.T, u *lab.Unit) {
	t.Helper()
	for _, name := range []string{"key_host", "cert_host", "ovn-central.crt", "ovn-northd-db-params.conf"} {
		assert.NoFileExists(t, filepath.Join(u.SysconfDir(), "ovn", name))
		assert.NoFileExists(t, filepath.Join(u.SysconfDir(), name))
	}
	assert.Empty(t, rulesLeft(t, u))
	for _, service := range []string{"ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd", "ovn-central"} {
		out, _, err := u.Systemctl(t.Context(), "is-enabled", service)
		require.NoError(t, err)
		assert.Equal(t, "masked", strings.TrimSpace(out), service)
		out, _, err = u.Systemctl(t.Context(), "is-active", service)
		require.NoError(t, err)
		assert.NotEqual(t, "active", strings.TrimSpace(out), service)
	}
}

// rulesLeft are those of ufw on a unit's machine.
func rulesLeft(t *testing.T, u *lab.Unit) (rules []any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(u.CharmDir()), "ufw.json"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	var firewall struct{ V4, V6 []any }
	require.NoError(t, json.Unmarshal(text, &firewall))
	return append(firewall.V4, firewall.V6...)
}
