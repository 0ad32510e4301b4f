package hookclient

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// besideShell is the client in C with a shell as the program beside it, which plays all
// that a machine has.
func besideShell(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.Symlink("/bin/sh", program))
	require.NoError(t, os.Rename(inC(t), InC(program)))
	return InC(program)
}

func TestStandInOfAHookIsRunByTheLab(t *testing.T) {
	t.Parallel()
	program := besideShell(t)
	for _, name := range []string{"dpkg-query", "systemctl", "ufw"} {
		var got Request
		socket := server(t, func(text []byte) []byte {
			assert.NoError(t, got.Unmarshal(text))
			return (&Response{Code: 3, Stdout: "inactive\n", Stderr: "why\n"}).Marshal()
		})
		tool := exec.CommandContext(t.Context(), program, "is-active", "", "a b")
		tool.Args[0] = "/machine/bin/" + name
		tool.Env = []string{ContextVariable + "=c", SocketVariable + "=" + socket}
		var out, errs bytes.Buffer
		tool.Stdout, tool.Stderr = &out, &errs
		require.Error(t, tool.Run())
		assert.Equal(t, 3, tool.ProcessState.ExitCode())
		assert.Equal(t, "inactive\n", out.String())
		assert.Equal(t, "why\n", errs.String())
		assert.Equal(t, Request{Context: "c", Name: StandIn, Args: []string{name, "is-active", "", "a b"}}, got)
		assert.Equal(t, name+" is-active  a b", got.Call())
	}
}

// The hook is being killed: nothing may be done.
func TestStandInThatGetsNoAnswerDoesNothing(t *testing.T) {
	t.Parallel()
	tool := exec.CommandContext(t.Context(), besideShell(t), "-c", "echo done")
	tool.Args[0] = "systemctl"
	tool.Env = []string{ContextVariable + "=c", SocketVariable + "=" + server(t, func([]byte) []byte { return nil })}
	said, err := tool.CombinedOutput()
	require.Error(t, err)
	assert.Equal(t, 1, tool.ProcessState.ExitCode())
	assert.Empty(t, string(said))
}

// Without a hook, or when it has ended, the stand-in is the program beside it.
func TestStandInWithoutAHookIsPlayedByTheProgramBesideIt(t *testing.T) {
	t.Parallel()
	program := besideShell(t)
	const script = `tr '\0' , < /proc/$$/cmdline; exit 5`
	for name, env := range map[string][]string{
		"no hook":            {},
		"no socket":          {ContextVariable + "=c"},
		"no context":         {ContextVariable + "=", SocketVariable + "=" + t.TempDir()},
		"the hook has ended": {ContextVariable + "=c", SocketVariable + "=" + filepath.Join(t.TempDir(), "gone")},
	} {
		tool := exec.CommandContext(t.Context(), program, "-c", script, "a b")
		tool.Args[0] = "/machine/bin/ufw"
		tool.Env = append(env, "PATH=/usr/bin:/bin")
		said, err := tool.CombinedOutput()
		require.Error(t, err, name)
		assert.Equal(t, 5, tool.ProcessState.ExitCode(), name)
		assert.Equal(t, "/machine/bin/ufw,-c,"+script+",a b,", string(said), name)
	}
}
