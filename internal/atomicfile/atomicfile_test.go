package atomicfile_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
)

// entries returns the names in the directory, including temporary files.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func has(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, text, string(data))
	info, err := os.Lstat(path)
	require.NoError(t, err)
	assert.Equal(t, mode, info.Mode())
}

func TestWrite_replaces_whole_file(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(path string) error{
		"missing":    func(string) error { return nil },
		"longer":     func(path string) error { return os.WriteFile(path, bytes.Repeat([]byte("old"), 9999), 0o644) },
		"unwritable": func(path string) error { return os.WriteFile(path, []byte("old"), 0o400) },
		"link":       func(path string) error { return os.Symlink("/nonexistent/elsewhere", path) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "key_host")
			require.NoError(t, before(path))
			for _, mode := range []fs.FileMode{0o600, 0o644, 0o666, 0o755} { // 0o666: the umask has no effect
				require.NoError(t, atomicfile.Write(path, []byte("new"), mode))
				has(t, path, "new", mode)
			}
			assert.Equal(t, []string{"key_host"}, entries(t, filepath.Dir(path)))
		})
	}
}

func TestWrite_current_directory(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, atomicfile.Write("name", []byte("text"), 0o600))
	has(t, "name", "text", 0o600)
	assert.Equal(t, []string{"name"}, entries(t, "."))
}

func TestWriteIfChanged_keeps_equal_file(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cert_host")
	inode := func() uint64 {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		return info.Sys().(*syscall.Stat_t).Ino
	}
	step := func(text string, mode fs.FileMode, want bool) {
		t.Helper()
		changed, err := atomicfile.WriteIfChanged(path, []byte(text), mode)
		require.NoError(t, err)
		assert.Equal(t, want, changed)
		has(t, path, text, mode)
	}
	step("one", 0o644, true)
	first := inode()
	step("one", 0o644, false)
	step("one", 0o600, true)
	assert.Equal(t, first, inode(), "the mode is repaired in place")
	step("two", 0o600, true)
	step("two", 0o600, false)
	step("", 0o600, true)
	step("", 0o600, false)

	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	require.NoError(t, os.WriteFile(elsewhere, nil, 0o600))
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink(elsewhere, path))
	step("", 0o600, true) // a link is not the file, whatever its target
}

func TestInstall_makes_directories(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "one", "two", "file")
	for _, want := range []bool{true, false} {
		changed, err := atomicfile.Install(path, []byte("text"), 0o600)
		require.NoError(t, err)
		assert.Equal(t, want, changed)
	}
	_, err := atomicfile.Install(filepath.Join(path, "file"), nil, 0o600)
	require.ErrorIs(t, err, syscall.ENOTDIR)
}

func TestWrite_error_has_file_and_cause(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	for path, cause := range map[string]syscall.Errno{
		filepath.Join(dir, "gone", "x"):              syscall.ENOENT,
		filepath.Join(dir, "sub"):                    syscall.EEXIST,
		filepath.Join(dir, "file", "x"):              syscall.ENOTDIR,
		filepath.Join(dir, strings.Repeat("n", 250)): syscall.ENAMETOOLONG,
	} {
		err := atomicfile.Write(path, []byte("text"), 0o600)
		require.ErrorIs(t, err, cause)
		assert.True(t, strings.HasSuffix(err.Error(), " "+path+": "+cause.Error()), "without the temporary file: %v", err)
		_, err = atomicfile.WriteIfChanged(path, []byte("text"), 0o600)
		require.ErrorIs(t, err, cause)
	}
	assert.Equal(t, []string{"file", "sub"}, entries(t, dir))
}

func TestWrite_full_disk_keeps_old_file(t *testing.T) {
	require.Zero(t, os.Geteuid(), "only root can mount a small disk")
	dir := t.TempDir()
	mountTiny(t, dir)
	path := filepath.Join(dir, "cert_host")
	require.NoError(t, atomicfile.Write(path, []byte("old"), 0o644))

	large := bytes.Repeat([]byte("new "), 64<<10)
	err := atomicfile.Write(path, large, 0o600)
	require.ErrorIs(t, err, syscall.ENOSPC)
	_, err = atomicfile.WriteIfChanged(path, large, 0o600)
	require.ErrorIs(t, err, syscall.ENOSPC)
	has(t, path, "old", 0o644)
	assert.Equal(t, []string{"cert_host"}, entries(t, dir))
	require.NoError(t, atomicfile.Write(path, []byte("new"), 0o600))
	has(t, path, "new", 0o600)
}

// mountTiny mounts 64 KiB of memory for this test's thread only, so the mount always ends with the test.
func mountTiny(t *testing.T, dir string) {
	t.Helper()
	runtime.LockOSThread() // the thread ends with the test
	require.NoError(t, syscall.Unshare(syscall.CLONE_NEWNS))
	require.NoError(t, syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

// A later writer removes a killed writer's file, but not another writer's.
func TestWrite_removes_abandoned_files(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	for name, made := range map[string]time.Time{
		".key.new-1": old, ".key.new-2": time.Now(), ".keys.new-1": old, "key.new-1": old, ".other.new-1": old,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(dir, name), made, made))
	}
	require.NoError(t, atomicfile.Write(filepath.Join(dir, "key"), nil, 0o600))
	assert.Equal(t, []string{".key.new-2", ".keys.new-1", ".other.new-1", "key", "key.new-1"}, entries(t, dir))
}

// The file of a killed writer may have the same secret.
func TestRemove(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"key", ".key.new-1", ".other.new-1"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	for range 2 {
		require.NoError(t, atomicfile.Remove(filepath.Join(dir, "key")))
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		assert.Equal(t, []string{filepath.Join(dir, ".other.new-1")}, left)
	}
	require.Error(t, atomicfile.Remove(filepath.Dir(dir)), "a directory with files")
}

// writerEnv is the variable that makes a second process of this test write the file named by its value.
const writerEnv = "ATOMICFILE_TEST_WRITER"

// generation returns a content that shows whether it is complete.
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

// Even if a writer is killed at any time, a reader finds a complete file.
func TestWrite_killed_leaves_whole_file(t *testing.T) {
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
		require.Eventually(t, func() bool { return whole() != before }, 2*time.Minute, time.Millisecond, "the writer writes")
		// Each round kills the writer at another point of a write.
		deadline := time.Now().Add(time.Duration(round) * 1700 * time.Microsecond)
		for time.Now().Before(deadline) {
			whole()
			looks++
		}
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // the process is always killed
		require.Empty(t, stderr.String())
		whole()
	}
	assert.Greater(t, looks, 20)
}
