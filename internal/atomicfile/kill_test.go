package atomicfile_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
)

// writerEnv makes a second process of this test write the file that it names.
const writerEnv = "ATOMICFILE_TEST_WRITER"

// generation is a content that shows whether it is complete.
func generation(n int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%08d\n", n), 20_000) }

func TestMain(m *testing.M) {
	path := os.Getenv(writerEnv)
	for n := 0; path != ""; n++ {
		if err := atomicfile.Write(path, generation(n), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// If a writer is killed at any time, any reader finds a complete file.
func TestNobodySeesAPartOfAFile(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "key_host")
	require.NoError(t, atomicfile.Write(path, generation(0), 0o600))
	whole := func() int {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		n := 0
		_, err = fmt.Sscanf(string(data), "%d", &n)
		require.NoError(t, err)
		require.True(t, bytes.Equal(generation(n), data), "a part of generation %d", n)
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		return n
	}
	looks := 0
	for round := range 20 {
		cmd := exec.CommandContext(t.Context(), self)
		cmd.Env = append(os.Environ(), writerEnv+"="+path)
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		before := whole()
		require.Eventually(t, func() bool { return whole() != before }, 2*time.Minute, time.Millisecond, "the writers write")
		// Each round ends at another moment of a write.
		deadline := time.Now().Add(time.Duration(round) * 1700 * time.Microsecond)
		for time.Now().Before(deadline) {
			whole()
			looks++
		}
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed, always
		require.Empty(t, stderr.String())
		whole()
	}
	assert.Greater(t, looks, 20)
}
