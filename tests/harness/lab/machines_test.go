package lab_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// namespaceOf is the network namespace of a process.
func namespaceOf(t *testing.T, pid string) string {
	t.Helper()
	link, err := os.Readlink("/proc/" + pid + "/ns/net")
	require.NoError(t, err)
	return link
}

func TestEverythingOfAUnitRunsInItsOwnNetwork(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 2, false, scripts{"update-status": "readlink /proc/self/ns/net > namespace"})
	require.NoError(t, l.UpdateStatus(ctx(t)))
	hub, err := l.HubNamespace()
	require.NoError(t, err)
	seen := map[string]bool{namespaceOf(t, "self"): true, namespaceOf(t, strings.Split(hub, "/")[2]): true}
	require.Len(t, seen, 2)
	for _, u := range units {
		own, err := u.Exec(ctx(t), "readlink", "/proc/self/ns/net")
		require.NoError(t, err)
		own = strings.TrimSpace(own)
		assert.False(t, seen[own], "shared with somebody")
		seen[own] = true
		assert.Equal(t, own+"\n", read(t, u.CharmDir(), "namespace"), "hooks")
		pid, err := u.ServerPID(lab.SB)
		require.NoError(t, err)
		server, err := os.Readlink(filepath.Join("/proc", fmt.Sprint(pid), "ns/net"))
		require.NoError(t, err)
		assert.Equal(t, own, server, "services")
		out, err := u.Exec(ctx(t), "ip", "-brief", "address", "show", "eth0")
		require.NoError(t, err)
		assert.Contains(t, out, u.Address()+"/24")
	}
}

func TestUnitThatIsCutOffLosesItsPeersAndFindsThemAgain(t *testing.T) {
	t.Parallel()
	l, units := withUnits(t, 3, false, nil)
	cut, err := l.RaftLeader(ctx(t), lab.NB)
	require.NoError(t, err)
	require.NoError(t, cut.Cut(true))
	require.True(t, cut.Running(lab.NB), "it runs, and doesn't know")
	rest := units[0]
	if rest == cut {
		rest = units[1]
	}
	await(t, func() bool {
		text, err := rest.Status(ctx(t), lab.NB)
		return err == nil && !strings.Contains(text, "Leader: unknown") && !strings.Contains(text, "Leader: "+short(t, cut))
	})
	_, err = l.Exec(ctx(t), "ovn-nbctl", "--timeout=2", "--db="+cut.Client(lab.NB), "show")
	require.Error(t, err)
	require.NoError(t, cut.Cut(false))
	await(t, func() bool {
		text, err := cut.Status(ctx(t), lab.NB)
		return err == nil && strings.Contains(text, "Role: follower") && !strings.Contains(text, "Leader: unknown")
	})
}

func short(t *testing.T, u *lab.Unit) string {
	t.Helper()
	id, err := u.ServerID(ctx(t), lab.NB)
	require.NoError(t, err)
	return id[:4]
}

func TestServiceThatDiesIsStartedAgainWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	l := newLab(t, lab.Options{Restart: true, StartInterval: time.Hour})
	u, err := l.AddUnit(ctx(t))
	require.NoError(t, err)
	for range 4 {
		before, err := u.ServerPID(lab.SB)
		require.NoError(t, err)
		require.NoError(t, u.Kill(lab.SB))
		await(t, func() bool {
			pid, err := u.ServerPID(lab.SB)
			return err == nil && pid != before
		})
	}
	// It asks for a sixth start, which is refused.
	require.NoError(t, u.Kill(lab.SB))
	await(t, func() bool {
		out, _, err := u.Systemctl(ctx(t), "is-active", "ovn-ovsdb-server-sb")
		return err == nil && out == "failed\n"
	})
	_, code, err := u.Systemctl(ctx(t), "start", "ovn-ovsdb-server-sb")
	require.NoError(t, err)
	assert.Equal(t, 1, code)
	_, _, err = u.Systemctl(ctx(t), "reset-failed", "ovn-ovsdb-server-sb")
	require.NoError(t, err)
	require.NoError(t, u.Start(ctx(t), lab.SB))
}

// A process that a hook leaves behind, in a session of its own and without a word
// of the lab in its command line, is found by its network namespace.
func TestNothingThatAHookLeftBehindSurvives(t *testing.T) {
	t.Parallel()
	l, err := lab.New(ctx(t), lab.Options{Charm: newCharm(t, scripts{
		"install": "cd /; env -i setsid sleep 77 >/dev/null 2>&1 & echo $! > $CHARM_DIR/pid",
	})})
	require.NoError(t, err)
	u, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoDatabases: true})
	require.NoError(t, err)
	stat := "/proc/" + strings.TrimSpace(read(t, u.CharmDir(), "pid")) + "/stat"
	require.FileExists(t, stat)
	require.NoError(t, l.Close())
	text, err := os.ReadFile(stat)
	if err == nil {
		assert.Contains(t, string(text), ") Z ", "at most its parent hasn't seen it yet")
	}
}

func TestLabWithoutRootSaysWhatIsNeeded(t *testing.T) {
	if os.Getenv("OVN_LAB_TEST_NOT_ROOT") != "" {
		_, err := lab.New(context.Background(), lab.Options{Charm: "testdata/charm"})
		require.ErrorContains(t, err, "need root")
		return
	}
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := command(t, program, "-test.run=^TestLabWithoutRootSaysWhatIsNeeded$")
	cmd.Env = append(os.Environ(), "OVN_LAB_TEST_NOT_ROOT=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}
