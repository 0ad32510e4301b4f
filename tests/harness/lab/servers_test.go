package lab_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// rows counts the members in a cluster/status text.
func rows(t *testing.T, u *lab.Unit, db lab.DB) int {
	t.Helper()
	text, err := u.Status(ctx(t), db)
	require.NoError(t, err)
	_, servers, _ := strings.Cut(text, "Servers:\n")
	return strings.Count(servers, "\n")
}

// Its output about links, and about units that don't exist, is compared with the real one's in package machine.
func TestSystemctlBehavesAsSystemd(t *testing.T) {
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

func TestUmbrellaStopReturnsBeforeItsPartsAreDown(t *testing.T) {
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

func TestStoppedLeaderHandsOver(t *testing.T) {
	t.Parallel()
	l := newLab(t, lab.Options{ElectionTimer: 10 * time.Second})
	units, err := l.AddUnits(ctx(t), 3)
	require.NoError(t, err)
	leader, err := l.RaftLeader(ctx(t), lab.NB)
	require.NoError(t, err)
	text, err := leader.Status(ctx(t), lab.NB)
	require.NoError(t, err)
	require.Contains(t, text, "Election timer: 10000")
	start := time.Now()
	require.NoError(t, leader.Stop(ctx(t), lab.NB))
	_, err = l.RaftLeader(ctx(t), lab.NB)
	require.NoError(t, err)
	assert.Less(t, time.Since(start), 9*time.Second, "an election would take longer than the timer")
	require.NoError(t, leader.Start(ctx(t), lab.NB))
	assert.Equal(t, 3, rows(t, units[0], lab.NB))
}

func TestHungServerDoesntAnswerUntilItIsResumed(t *testing.T) {
	t.Parallel()
	_, units := withUnits(t, 1, false, nil)
	u := units[0]
	require.NoError(t, u.Hang(lab.SB))
	start := time.Now()
	_, err := u.Status(ctx(t), lab.SB)
	require.Error(t, err)
	assert.Less(t, time.Since(start), 30*time.Second)
	require.NoError(t, u.Resume(lab.SB))
	_, err = u.Status(ctx(t), lab.SB)
	require.NoError(t, err)
	require.NoError(t, u.Kill(lab.SB))
	require.Error(t, u.Kill(lab.SB))
	_, err = u.ServerPID(lab.SB)
	require.Error(t, err)
}

func TestMachineThatIsOffComesBack(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 2, false, nil)
	off := units[0]
	id, err := off.ServerID(ctx(t), lab.NB)
	require.NoError(t, err)
	require.NoError(t, off.PowerOff())
	_, err = l.Exec(ctx(t), "bash", "-c", "timeout 2 bash -c '</dev/tcp/"+off.Address()+"/6641'")
	require.Error(t, err)
	same, err := off.ServerID(ctx(t), lab.NB)
	require.NoError(t, err)
	assert.Equal(t, id, same, "its disk can be read")
	out, code, err := off.Systemctl(ctx(t), "is-active", "ovn-ovsdb-server-nb")
	require.NoError(t, err)
	assert.Equal(t, "inactive\n3", out+fmt.Sprint(code))
	assert.Equal(t, "lost", off.Agent().Status)
	assert.False(t, off.Running(lab.NB))
	assert.Equal(t, units[1], l.Leader())
	require.ErrorIs(t, l.RunHook(ctx(t), off, "update-status"), lab.ErrLost)
	require.ErrorIs(t, l.RemoveUnit(ctx(t), off, lab.RemoveOptions{}), lab.ErrLost)
	require.NoError(t, off.PowerOn(ctx(t)))
	await(t, func() bool {
		_, err := l.Exec(ctx(t), "ovn-nbctl", "--timeout=5", "--no-leader-only", "--db="+off.Client(lab.NB), "show")
		return err == nil
	})
	assert.True(t, off.Running(lab.SB))
	assert.True(t, off.Dying(), "what was asked for meanwhile still holds")
	require.NoError(t, l.RemoveUnit(ctx(t), off, lab.RemoveOptions{}))
	assert.Contains(t, strings.Join(off.Hooks(), " "), "start ovsdb-peer-relation-departed ovn-central/1 ovsdb-peer-relation-broken stop remove")
}

func TestNorthdFollowsTheMembers(t *testing.T) {
	l := newLab(t, lab.Options{Northd: true})
	units, err := l.AddUnits(ctx(t), 2)
	require.NoError(t, err)
	for _, u := range units {
		out, code, err := u.Systemctl(ctx(t), "is-active", "ovn-northd")
		require.NoError(t, err)
		assert.Equal(t, 0, code, out)
		etc := u.SysconfDir() + "/ovn/"
		assert.Equal(t, "--ovnnb-db="+l.Remotes(lab.NB)+"\n--ovnsb-db="+l.Remotes(lab.SB)+"\n-c "+etc+"cert_host\n-C "+etc+"ovn-central.crt\n-p "+etc+"key_host\n",
			read(t, etc, "ovn-northd-db-params.conf"))
	}
	_, err = units[0].Exec(ctx(t), "ovn-nbctl", "--timeout=20", "--wait=sb", "--db="+l.Remotes(lab.NB), "ls-add", "sw")
	require.NoError(t, err, "northd has done what it is for")
	pids, err := filepath.Glob(filepath.Join(units[0].RunDir(), "ovn-northd.pid"))
	require.NoError(t, err)
	assert.Len(t, pids, 1)
}
