package lab_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// command is a program that ends with the test. The test program may be built
// where only root can read it, and so are the test's own directories: others run a
// copy elsewhere.
func command(t *testing.T, program string, args ...string) *exec.Cmd {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "lab-test-") //nolint:usetesting // others can't read what t.TempDir makes
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	text, err := os.ReadFile(program)
	require.NoError(t, err)
	copied := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(copied, text, 0o755))
	return exec.CommandContext(ctx(t), copied, args...)
}

// What the Python charm leaves on a unit and in the databases: facts of its
// sources, src/lib/charm/openstack/ovn_central.py and the templates.
func TestUnitsAreLaidOutAsThePythonCharmLeavesThem(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 2, false, scripts{"update-status": "leader-get --format=json > settings"})
	first, second := units[0], units[1]
	for file, mode := range map[string]os.FileMode{"key_host": 0o600, "cert_host": 0o644, "ovn-central.crt": 0o644} {
		info, err := os.Stat(filepath.Join(first.SysconfDir(), "ovn", file))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm(), file)
	}
	defaults := read(t, second.SysconfDir(), "default/ovn-central")
	assert.Contains(t, defaults, "OVN_CTL_OPTS= \\\n    --db-nb-cluster-local-addr=10.99.0.11 \\\n    --db-nb-cluster-local-port=6643 \\\n")
	assert.Contains(t, defaults, "    --db-sb-cluster-remote-addr=10.99.0.10 \\\n    --db-sb-cluster-remote-port=6644 \\\n    --db-sb-cluster-remote-proto=ssl\n")
	assert.Contains(t, read(t, first.SysconfDir(), "default/ovn-central"), "--db-nb-cluster-remote-addr= \\\n", "the leader may create")

	for _, u := range units {
		out, _, err := u.Systemctl(ctx(t), "is-enabled", "ovn-central", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd")
		require.NoError(t, err)
		assert.Equal(t, "enabled\nenabled\nenabled\nstatic\n", out)
		assert.Contains(t, u.Packages(), "ovn-central")
		text, err := u.Status(ctx(t), lab.NB)
		require.NoError(t, err)
		assert.Contains(t, text, "Address: ssl:"+u.Address()+":6643")
	}
	for db, want := range map[lab.DB][]string{lab.NB: {"pssl:6641,60000"}, lab.SB: {"pssl:16642,60000,", "pssl:6642,60000,ovn-controller"}} {
		columns := map[lab.DB]string{lab.NB: "target,inactivity_probe", lab.SB: "target,inactivity_probe,role"}[db]
		out, err := l.Exec(ctx(t), "ovn-"+string(db)+"ctl", "--timeout=5", "--db="+l.Remotes(db), "--format=csv", "--data=bare", "--no-headings", "--columns="+columns, "list", "Connection")
		require.NoError(t, err)
		assert.ElementsMatch(t, want, strings.Fields(out))
	}

	require.NoError(t, l.UpdateStatus(ctx(t)))
	settings := read(t, second.CharmDir(), "settings")
	assert.Contains(t, settings, `"ready":"True"`)
	for _, db := range lab.Databases {
		cid, err := l.Exec(ctx(t), "ovsdb-tool", "db-cid", first.DBFile(db))
		require.NoError(t, err)
		assert.Contains(t, settings, `"`+string(db)+`_cid":"`+strings.TrimSpace(cid)+`"`)
	}
}

// The client of the lab may do everything, on 16642; on 6642 the certificate is
// that of a chassis, which may not.
func TestChassisPortHasItsRole(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, false, nil)
	create := []string{"create", "DNS", "datapaths=00000000-0000-0000-0000-000000000001"}
	chassis := "--db=ssl:" + units[0].Address() + ":6642"
	_, err := l.Exec(ctx(t), "ovn-sbctl", append([]string{"--timeout=5", chassis}, create...)...)
	require.ErrorContains(t, err, "permission error")
	_, err = l.Exec(ctx(t), "ovn-sbctl", "--timeout=5", "--db="+l.Remotes(lab.SB), "create", "Controller_Event", "event_type=empty_lb_backends")
	require.NoError(t, err)
	stranger := l.ClientCredentials()
	_, err = l.Exec(ctx(t), "ovn-sbctl", "--timeout=2", "--private-key="+stranger.Key, "--certificate="+stranger.Certificate,
		"--ca-cert="+stranger.Certificate, "--db="+l.Remotes(lab.SB), "show")
	require.Error(t, err, "the server's certificate is looked at")
}
