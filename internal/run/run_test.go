package run_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// sh returns a command for the shell; args are its $1, $2 and so on.
func sh(script string, args ...string) run.Command {
	return run.Command{Name: "sh", Args: append([]string{"-c", script, "sh"}, args...)}
}

// failure runs c, which must fail, and returns the error.
func failure(t *testing.T, ctx context.Context, c run.Command) ([]byte, *run.Error) {
	t.Helper()
	out, err := run.Exec{}.Run(ctx, c)
	failed := (*run.Error)(nil)
	require.ErrorAs(t, err, &failed)
	return out, failed
}

func TestExec_arguments_and_input_unchanged(t *testing.T) {
	t.Parallel()
	c := sh(`printf '%s|' "$@" "$A"; cat`, "a b", "", "$HOME", "*")
	c.Env = []string{"A=b c"}
	c.Stdin = []byte("line\n\x00é")
	out, err := run.Exec{}.Run(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, "a b||$HOME|*|b c|line\n\x00é", string(out))
}

func TestExec_without_input(t *testing.T) {
	t.Parallel()
	out, err := run.Exec{}.Run(t.Context(), sh("cat; echo done"))
	require.NoError(t, err)
	assert.Equal(t, "done\n", string(out))
}

func TestExec_deadline_ends_child(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"ends_on_SIGTERM": `echo $$ >"$1"; exec sleep 60`,
		"ignores_SIGTERM": `trap "" TERM; echo $$ >"$1"; exec sleep 60`,
	}
	for name, script := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			c := sh(script, file)
			started := time.Now()
			_, failed := failure(t, ctx, c)
			assert.Less(t, time.Since(started), 20*time.Second)
			require.ErrorIs(t, failed, context.DeadlineExceeded)
			assert.Equal(t, -1, failed.ExitCode)
			assert.ErrorContains(t, failed, "sh: ")

			text, err := os.ReadFile(file)
			require.NoError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(t, err)
			assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, "the child is gone")
		})
	}
}

func TestExec_cancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, failed := failure(t, ctx, sh("exit 0"))
	require.ErrorIs(t, failed, context.Canceled)
	assert.Equal(t, "sh: context canceled", failed.Error())
}

func TestMissing(t *testing.T) {
	t.Parallel()
	_, failed := failure(t, t.Context(), run.Command{Name: "no-such-program-here", Args: []string{"x"}})
	assert.True(t, run.Missing(failed))
	assert.ErrorContains(t, failed, "no-such-program-here: ")

	_, failed = failure(t, t.Context(), sh("exit 127"))
	assert.False(t, run.Missing(failed), "the shell was there")
}

func TestError_keeps_exit_code_and_output(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		script string
		code   int
		text   string
	}{
		"words":              {"echo half; echo 'ERROR no such thing' >&2; exit 2", 2, "sh: ERROR no such thing"},
		"words of two lines": {"echo half; printf 'one\\r\\n\\ntwo\\n' >&2; exit 1", 1, "sh: one; two"},
		"no words":           {"echo half; exit 3", 3, "sh: exit status 3"},
		"ended by a signal":  {"echo half; kill -9 $$", -1, "sh: signal: killed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, failed := failure(t, t.Context(), sh(tc.script))
			assert.Equal(t, tc.code, failed.ExitCode)
			assert.Equal(t, tc.text, failed.Error())
			assert.Equal(t, "half\n", string(out))
		})
	}
}

func TestExec_output_bounded(t *testing.T) {
	t.Parallel()
	t.Run("stdout_above_8_MiB_is_error", func(t *testing.T) {
		t.Parallel()
		out, failed := failure(t, t.Context(), sh("head -c 8388609 /dev/zero"))
		require.ErrorIs(t, failed, run.ErrTruncated)
		assert.Len(t, out, 8<<20)
	})
	t.Run("stdout_of_8_MiB", func(t *testing.T) {
		t.Parallel()
		out, err := run.Exec{}.Run(t.Context(), sh("head -c 8388608 /dev/zero"))
		require.NoError(t, err)
		assert.Len(t, out, 8<<20)
	})
	t.Run("stderr_cut_at_4_KiB", func(t *testing.T) {
		t.Parallel()
		_, failed := failure(t, t.Context(), sh(`head -c 100000 /dev/zero | tr '\000' x >&2; exit 5`))
		assert.Equal(t, 5, failed.ExitCode)
		assert.Equal(t, strings.Repeat("x", 4<<10), failed.Stderr)
	})
	t.Run("stderr_of_success", func(t *testing.T) {
		t.Parallel()
		out, err := run.Exec{}.Run(t.Context(), sh(`head -c 100000 /dev/zero >&2; echo ok`))
		require.NoError(t, err)
		assert.Equal(t, "ok\n", string(out))
	})
}

// Juju's hooks have neither HOME nor USER.
func TestExec_environment(t *testing.T) {
	for _, name := range []string{"HOME", "USER"} {
		t.Setenv(name, "")
		require.NoError(t, os.Unsetenv(name))
	}
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("OVN_RUNDIR", "/run/elsewhere")
	out, err := run.Exec{}.Run(t.Context(), sh(`echo "${HOME-none} ${USER-none} $LC_ALL $OVN_RUNDIR"`))
	require.NoError(t, err)
	assert.Equal(t, "none none C /run/elsewhere\n", string(out))
}

// slow delays its first write for longer than run waits for output.
type slow struct{ got bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	if s.got.Len() == 0 {
		time.Sleep(time.Second) // run must not wait for this
	}
	return s.got.Write(p)
}

// A machine that is too busy may read an ended program's output late.
func TestExec_late_read_is_complete(t *testing.T) {
	t.Parallel()
	got := &slow{}
	c := sh("head -c 60000 /dev/zero")
	c.Stdout = got
	_, err := run.Exec{}.Run(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, 60000, got.got.Len())
}

func TestExec_children_are_not_awaited(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"child_is_silent":          `echo answer; sleep 60 & echo $! >"$1"`,
		"child_continues_to_write": `echo answer; { while :; do echo; done; } & echo $! >"$1"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "pid")
			started := time.Now()
			out, err := run.Exec{}.Run(t.Context(), sh(script, file))
			require.NoError(t, err)
			assert.Less(t, time.Since(started), 20*time.Second)
			assert.Equal(t, "answer", strings.TrimSpace(string(out)))
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
			require.NoError(t, err)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		})
	}
}

func TestExec_long_output_is_error(t *testing.T) {
	t.Parallel()
	c := sh("while echo x; do :; done")
	c.Stdout = broken{}
	_, failed := failure(t, t.Context(), c)
	assert.ErrorIs(t, failed, syscall.ENOSPC)
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
