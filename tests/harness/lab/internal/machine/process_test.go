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

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
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

// sleeper starts a process, with some environment, and with word in its command line.
func sleeper(t *testing.T, word string, env ...string) Process {
	t.Helper()
	cmd := exec.Command("sh", "-c", "sleep 60; :", word)
	cmd.Env, cmd.SysProcAttr = append(env, "PATH=/usr/bin:/bin"), &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	_, started, _ := stat(cmd.Process.Pid)
	return Process{cmd.Process.Pid, started}
}

func TestKill_only_processes_of_machine(t *testing.T) {
	m := newMachine(t)
	other := *m
	other.Dir += "0"
	own, foreign := sleeper(t, "x", m.Environment()...), []Process{sleeper(t, m.RunDir()), sleeper(t, "y", other.Environment()...)}
	for name, p := range map[string]Process{"a.pid": own, "b.pid": foreign[1]} {
		require.NoError(t, os.WriteFile(filepath.Join(m.RunDir(), name), []byte(strconv.Itoa(p.PID)+"\n"), 0o600))
		_, found := m.fromPidFile(filepath.Join(m.RunDir(), name))
		assert.Equal(t, p == own, found, name)
	}
	require.NoError(t, m.KillAll())
	assert.False(t, own.Alive(), "a zombie isn't alive")
	for _, p := range foreign {
		require.True(t, p.Alive())
	}
	foreign[0].Started += "0"
	assert.False(t, foreign[0].Alive(), "another process that got the number later")
	require.ErrorIs(t, foreign[0].Signal(syscall.SIGKILL, true), os.ErrProcessDone)
	require.NoError(t, m.KillAll(), "again")
}
