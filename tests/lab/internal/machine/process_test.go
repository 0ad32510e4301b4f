package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/hooktool"
)

func newMachine(t *testing.T) *Machine {
	t.Helper()
	lab := t.TempDir()
	m := &Machine{Dir: filepath.Join(lab, "u-0"), Lab: lab, Address: "127.9.9.9"}
	program := filepath.Join(lab, "program")
	require.NoError(t, os.WriteFile(hooktool.Client(program), nil, 0o755))
	require.NoError(t, Create(m, program))
	return m
}

// sleeper starts a process whose command line has word in it.
func sleeper(t *testing.T, word string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sh", "-c", "sleep 60; :", word)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	return cmd
}

func TestOnlyTheLabsOwnProcessesAreSignalled(t *testing.T) {
	m := newMachine(t)
	foreign := sleeper(t, "nothing to do with it")
	p, err := m.Record("foreign", foreign.Process.Pid, true)
	require.NoError(t, err)
	require.ErrorContains(t, m.Signal(p, syscall.SIGKILL), "it isn't the lab's")
	require.Error(t, m.KillAll())
	assert.True(t, p.Alive())

	p.Started += "0"
	assert.False(t, p.Alive(), "another process that got the number later")
	require.ErrorIs(t, m.Signal(p, syscall.SIGKILL), os.ErrProcessDone)
}

func TestKillAllFindsRecordsAndPidFiles(t *testing.T) {
	m := newMachine(t)
	recorded, fromFile, foreign := sleeper(t, m.Dir+"/x"), sleeper(t, m.Dir+"/y"), sleeper(t, "z")
	p, err := m.Record("hook", recorded.Process.Pid, true)
	require.NoError(t, err)
	for name, cmd := range map[string]*exec.Cmd{"a.pid": fromFile, "b.pid": foreign} {
		require.NoError(t, os.WriteFile(filepath.Join(m.RunDir(), name), []byte(strconv.Itoa(cmd.Process.Pid)+"\n"), 0o600))
	}
	require.NoError(t, os.WriteFile(filepath.Join(m.RunDir(), "c.pid"), []byte("garbage"), 0o600))
	require.NoError(t, m.KillAll())
	assert.False(t, p.Alive(), "a zombie isn't alive")
	state, _, _ := stat(fromFile.Process.Pid)
	assert.Equal(t, "Z", string(state))
	state, _, _ = stat(foreign.Process.Pid)
	assert.NotEqual(t, "Z", string(state))
	_, found := m.Find("hook")
	assert.False(t, found)
	require.NoError(t, m.KillAll(), "again")
}

func TestRecordOfAProcessThatIsGone(t *testing.T) {
	m := newMachine(t)
	cmd := exec.Command("true")
	require.NoError(t, cmd.Run())
	_, err := m.Record("gone", cmd.Process.Pid, false)
	require.ErrorIs(t, err, os.ErrProcessDone)
}

func TestSystemPathHasNothingOfTheLabButSystemctl(t *testing.T) {
	m := newMachine(t)
	t.Setenv("PATH", filepath.Join(m.Lab, "tools")+":"+m.TracedDir()+":/opt/x:/usr/bin")
	assert.Equal(t, m.BinDir()+":/opt/x:/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/sbin:/bin", m.SystemPath())
	assert.Contains(t, m.Command(t.Context(), "systemctl").Path, m.BinDir())
	assert.Error(t, m.Command(t.Context(), "no-such-program").Err)
}
