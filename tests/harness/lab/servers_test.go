package lab_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Its output about links, and about units that don't exist, is compared with the real one's in package machine.
func TestSystemctl_behaves_like_systemd(t *testing.T) {
	l, units := withUnits(t, 1, false, nil)
	u := units[0]
	systemctl := func(command string) (string, int) {
		t.Helper()
		out, code, err := u.Systemctl(ctx(t), strings.Fields(command)...)
		require.NoError(t, err)
		return strings.TrimSpace(out), code
	}
	steps := []struct {
		command string
		out     string
		code    int
	}{
		{"is-active ovn-ovsdb-server-nb", "active", 0},
		{"is-active ovn-ovsdb-server-nb.service ovn-northd", "active\ninactive", 0},
		{"is-active --quiet ovn-northd", "", 3},
		{"mask ovn-ovsdb-server-nb", "", 0},
		{"stop ovn-ovsdb-server-nb", "", 0},
		{"is-active ovn-ovsdb-server-nb", "inactive", 3},
		{"start ovn-ovsdb-server-nb", "", 1},
		{"show --property=LoadState,ActiveState ovn-ovsdb-server-nb", "LoadState=masked\nActiveState=inactive", 0},
		{"unmask ovn-ovsdb-server-nb", "", 0},
		{"start ovn-ovsdb-server-nb", "", 0},
		{"is-active ovn-ovsdb-server-nb", "active", 0},
		{"show -p ActiveState --value ovn-ovsdb-server-nb", "active", 0},
		{"daemon-reload", "", 0},
		{"reload-all-the-things", "", 1},
		{"--frobnicate start ovn-northd", "", 1},
		{"start", "", 1},
	}
	for _, step := range steps {
		out, code := systemctl(step.command)
		assert.Equal(t, step.code, code, step.command)
		assert.Equal(t, step.out, out, step.command)
	}

	require.NoError(t, u.Start(ctx(t), lab.NB), "nor does a start")
	require.NoError(t, u.Kill(lab.SB))
	out, code := systemctl("is-active ovn-ovsdb-server-sb")
	assert.Equal(t, "failed 3", out+" "+string(rune('0'+code)), "what dies unasked has failed")
	_, _ = systemctl("reset-failed ovn-ovsdb-server-sb")
	out, _ = systemctl("is-active ovn-ovsdb-server-sb")
	assert.Equal(t, "inactive", out)

	before, err := u.ServerPID(lab.NB)
	require.NoError(t, err)
	_, code = systemctl("restart ovn-ovsdb-server-nb")
	assert.Equal(t, 0, code)
	require.NoError(t, u.Start(ctx(t), lab.NB), "a restart doesn't wait until the server is ready")
	after, err := u.ServerPID(lab.NB)
	require.NoError(t, err)
	assert.NotEqual(t, before, after)
	_, _ = systemctl("start ovn-ovsdb-server-nb")
	same, err := u.ServerPID(lab.NB)
	require.NoError(t, err)
	assert.Equal(t, after, same, "what runs isn't started again")
	require.NoError(t, l.Settle(ctx(t)))
}

func TestSystemctl_stop_of_umbrella_returns_early(t *testing.T) {
	t.Parallel()
	_, units := withUnits(t, 1, false, nil)
	u := units[0]
	_, _, err := u.Systemctl(ctx(t), "mask", "ovn-northd")
	require.NoError(t, err)
	_, code, err := u.Systemctl(ctx(t), "start", "ovn-central")
	require.NoError(t, err)
	require.Equal(t, 0, code, "a masked part is no obstacle")
	// A server that hangs takes seconds to stop.
	require.NoError(t, u.Hang(lab.NB))
	_, _, err = u.Systemctl(ctx(t), "stop", "ovn-central")
	require.NoError(t, err)
	assert.True(t, u.Running(lab.NB))
	assert.Eventually(t, func() bool { return !u.Running(lab.NB) && !u.Running(lab.SB) }, 2*time.Minute, 20*time.Millisecond)
}

// What the Python charm leaves on a unit and in the databases: facts of its
// sources, src/lib/charm/openstack/ovn_central.py and the templates.
func TestLegacyLayout_is_that_of_Python_charm(t *testing.T) {
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

func TestWriterSeesWhatIsLost(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 1, false, nil)
	w := l.StartWriter(ctx(t), 10*time.Millisecond)
	await(t, func() bool { return w.Acknowledged(lab.NB) > 3 && w.Acknowledged(lab.SB) > 3 })
	w.Stop()
	names, err := units[0].Exec(ctx(t), "ovn-nbctl", "--timeout=5", "--db="+l.Remotes(lab.NB), "--bare", "--columns=name", "list", "Logical_Switch")
	require.NoError(t, err)
	_, err = units[0].Exec(ctx(t), "ovn-nbctl", "--timeout=5", "--db="+l.Remotes(lab.NB), "ls-del", strings.Fields(names)[0])
	require.NoError(t, err)
	_, err = units[0].Exec(ctx(t), "ovn-sbctl", "--timeout=5", "--db="+l.Remotes(lab.SB), "--all", "destroy", "Controller_Event")
	require.NoError(t, err)
	result, err := w.Verify(ctx(t))
	require.NoError(t, err)
	assert.Equal(t, 1, result[lab.NB].Lost)
	assert.Equal(t, result[lab.SB].Acknowledged, result[lab.SB].Lost)
}

func await(t *testing.T, done func() bool) {
	t.Helper()
	require.Eventually(t, done, 3*time.Minute, 10*time.Millisecond)
}
