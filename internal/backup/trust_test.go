package backup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// A backup is restored from where a person says: the files there may be of any kind.
func TestBackupWhoseFilesAreNoFilesIsRefused(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("{}"), 0o600))
	for name, c := range map[string]struct {
		put  func(path string) error
		says string
	}{
		"a pipe without a writer": {func(path string) error { return syscall.Mkfifo(path, 0o600) }, "is no regular file"},
		"a link":                  {func(path string) error { return os.Symlink(other, path) }, "is a link"},
		"a folder":                {func(path string) error { return os.Mkdir(path, 0o700) }, "is no regular file"},
		"a device":                {func(path string) error { return os.Symlink("/dev/zero", path) }, "is a link"},
	} {
		for _, file := range []string{manifestName, "ovnnb_db.db.gz"} {
			dir := whole(t)
			require.NoError(t, os.Remove(filepath.Join(dir, file)))
			require.NoError(t, c.put(filepath.Join(dir, file)))
			err := check(t.Context(), dir)
			require.ErrorContains(t, err, file, name)
			assert.ErrorContains(t, err, c.says, name)
		}
	}
}

// A small file can hold as much as a disk takes.
func TestCopyIsUnpackedNoFurtherThanItsManifestSays(t *testing.T) {
	t.Parallel()
	dir := whole(t)
	raw := filepath.Join(t.TempDir(), "raw")
	require.NoError(t, os.WriteFile(raw, make([]byte, 4<<20), 0o600))
	m, err := Read(dir)
	require.NoError(t, err)
	packed := filepath.Join(dir, m.Databases[0].File)
	require.NoError(t, os.Remove(packed))
	found, err := pack(t.Context(), raw, packed)
	require.NoError(t, err)
	m.Databases[0].SHA256, m.Databases[0].Packed = found.plain, found.packed

	to := filepath.Join(t.TempDir(), "to")
	require.ErrorContains(t, Unpack(t.Context(), dir, m, ovndb.NB, to), "it holds more than the 1485 bytes that its manifest says")
	_, err = os.Lstat(to)
	require.ErrorIs(t, err, os.ErrNotExist, "what is left of it")

	m.Databases[0].Size = found.size
	require.NoError(t, Unpack(t.Context(), dir, m, ovndb.NB, to), "the premise")
	require.NoError(t, os.Remove(to))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Unpack(ctx, dir, m, ovndb.NB, to), context.Canceled)
	_, err = os.Lstat(to)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// What is unpacked goes to no file that another name leads to.
func TestCopyIsUnpackedToAFileOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := whole(t)
	m, err := Read(dir)
	require.NoError(t, err)
	victim, to := filepath.Join(t.TempDir(), "victim"), filepath.Join(t.TempDir(), "to")
	require.NoError(t, os.WriteFile(victim, []byte("as it was"), 0o600))
	require.NoError(t, os.Symlink(victim, to))
	require.NoError(t, Unpack(t.Context(), dir, m, ovndb.NB, to))
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "as it was", string(text))
	text, err = os.ReadFile(to)
	require.NoError(t, err)
	assert.True(t, bytes.HasPrefix(text, []byte("OVSDB JSON")))
}

const nobody = 65534

// Root writes in no folder in which another user could put a link in the way of what it writes.
func TestBackupIsMadeOnlyWhereNoOtherUserCanInterfere(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	s := &Service{Now: time.Now}
	theirs := filepath.Join(t.TempDir(), "theirs")
	require.NoError(t, errors.Join(os.Mkdir(theirs, 0o700), os.Chown(theirs, nobody, nobody)))
	const foreign, writable = "belongs to user 65534", "other users may write to"
	for name, c := range map[string]struct {
		dir  string // below the folder of the test
		make func(top, dir string) error
		says string
	}{
		"another user's": {"", func(top, _ string) error { return os.Chown(top, nobody, nobody) }, foreign},
		"below another user's": {"a", func(top, dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), os.Chown(top, nobody, nobody))
		}, foreign},
		"new below another user's": {"a/b", func(top, _ string) error { return os.Chown(top, nobody, nobody) }, foreign},
		"others may write":         {"", func(top, _ string) error { return os.Chmod(top, 0o777) }, writable}, //nolint:gosec // the case
		"its group may write":      {"", func(top, _ string) error { return os.Chmod(top, 0o770) }, writable}, //nolint:gosec // the case
		"in which each user has files of its own": {"", func(top, _ string) error {
			return os.Chmod(top, 0o777|os.ModeSticky) //nolint:gosec // the case
		}, "use a new folder in it"},
		"a link to another user's": {"link", func(_, dir string) error { return os.Symlink(theirs, dir) }, foreign},
		"another user's link": {"link/a", func(top, dir string) error {
			link := filepath.Dir(dir)
			return errors.Join(os.Symlink(filepath.Dir(top), link), os.Lchown(link, nobody, nobody))
		}, foreign},
		"a link to itself": {"link", func(_, dir string) error { return os.Symlink("link", dir) }, "too many levels of symbolic links"},
		"a file":           {"file/a", func(_, dir string) error { return os.WriteFile(filepath.Dir(dir), nil, 0o600) }, "is no folder"},
	} {
		top := t.TempDir()
		dir := filepath.Join(top, c.dir)
		require.NoError(t, c.make(top, dir), name)
		_, _, err := s.Take(t.Context(), dir, 1)
		require.ErrorContains(t, err, "cannot back up to "+dir, name)
		require.ErrorContains(t, err, c.says, name)
		_, err = s.Plan(t.Context(), dir, 1)
		require.ErrorContains(t, err, c.says, name)
		_, err = s.TakeScheduled(t.Context(), dir, 1)
		require.ErrorContains(t, err, c.says, name)
		_, err = os.Lstat(filepath.Join(dir, failureName))
		require.Error(t, err, name)
		if seen, err := Observe(dir); err == nil {
			assert.Contains(t, seen.Failure, c.says, name)
		}
	}
}

func TestFolderOfRootIsFoundThroughLinksOfRoot(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(top, "real"), 0o700))
	require.NoError(t, os.Symlink("real", filepath.Join(top, "link")))
	require.NoError(t, os.Mkdir(filepath.Join(top, "users"), 0o700))
	require.NoError(t, os.Chmod(filepath.Join(top, "users"), 0o777|os.ModeSticky)) //nolint:gosec // as /tmp
	for path, want := range map[string]string{
		"link/new/folder": "real/new/folder", "real": "real", "link/../link": "real", "users/own": "users/own",
	} {
		found, err := trusted(filepath.Join(top, path))
		require.NoError(t, err, path)
		assert.Equal(t, filepath.Join(top, want), found, path)
	}
}

// Root makes the lock at the path it got, never at the target of a link.
func TestLockFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim, path := filepath.Join(dir, "victim"), filepath.Join(dir, lockName)
	require.NoError(t, os.Symlink(victim, path))
	_, err := lock(path)
	require.ErrorIs(t, err, syscall.ELOOP)
	_, err = os.Lstat(victim)
	require.ErrorIs(t, err, os.ErrNotExist)

	other := filepath.Join(dir, "other")
	require.NoError(t, os.WriteFile(other, []byte(strings.Repeat("x", 9)), 0o600))
	require.NoError(t, os.Symlink(other, filepath.Join(dir, failureName)))
	_, err = Observe(dir)
	assert.ErrorContains(t, err, "is a link", "its first line would be in the unit's status")
}
