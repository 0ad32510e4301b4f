package lab_test

import (
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

	since, _ := systemctl("show ovn-ovsdb-server-nb --property=ActiveEnterTimestamp --value")
	started, err := time.Parse("Mon 2006-01-02 15:04:05 MST", since)
	require.NoError(t, err, "zaza parses it so")
	assert.WithinDuration(t, time.Now(), started, time.Minute)

	require.NoError(t, u.Start(ctx(t), lab.NB), "nor does a start")
	require.NoError(t, u.Kill(lab.SB))
	out, code := systemctl("is-active ovn-ovsdb-server-sb")
	assert.Equal(t, "failed 3", out+" "+string(rune('0'+code)), "what dies unasked has failed")

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

func TestWriter_reports_lost_writes(t *testing.T) {
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
