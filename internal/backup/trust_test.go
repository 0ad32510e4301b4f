package backup

import (
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

// An operator names the backup to restore, so its files may be of any kind.
func TestRead_other_kinds_of_files(t *testing.T) {
	t.Parallel()
	other := filepath.Join(t.TempDir(), "other")
	require.NoError(t, os.WriteFile(other, []byte("{}"), 0o600))
	for name, put := range map[string]func(path string) error{
		"pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"link":   func(path string) error { return os.Symlink(other, path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	} {
		for _, file := range []string{manifestName, "ovnnb_db.db.gz"} {
			dir := whole(t)
			require.NoError(t, os.Remove(filepath.Join(dir, file)))
			require.NoError(t, put(filepath.Join(dir, file)))
			require.ErrorContains(t, check(t.Context(), dir), file, name)
		}
	}
}

// A small file may unpack to more than the disk can hold.
func TestUnpack_size_is_limited(t *testing.T) {
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
	require.ErrorContains(t, Unpack(t.Context(), dir, m, ovndb.NB, to), "1485")
	require.NoFileExists(t, to)

	m.Databases[0].Size = found.size
	require.NoError(t, Unpack(t.Context(), dir, m, ovndb.NB, to))
	require.NoError(t, os.Remove(to))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, Unpack(ctx, dir, m, ovndb.NB, to), context.Canceled)
	_, err = os.Lstat(to)
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestUnpack_follows_no_link(t *testing.T) {
	t.Parallel()
	dir := whole(t)
	m, err := Read(dir)
	require.NoError(t, err)
	victim, to := filepath.Join(t.TempDir(), "victim"), filepath.Join(t.TempDir(), "to")
	require.NoError(t, os.WriteFile(victim, []byte("unchanged"), 0o600))
	require.NoError(t, os.Symlink(victim, to))
	require.NoError(t, Unpack(t.Context(), dir, m, ovndb.NB, to))
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "unchanged", string(text))
}

const nobody = 65534

// Root writes to no folder in which another user could replace its files by links.
func TestTake_directory_of_other_user(t *testing.T) {
	t.Parallel()
	require.Zero(t, os.Geteuid(), "only root can give a folder to another user")
	s := &Service{Now: time.Now}
	theirs := filepath.Join(t.TempDir(), "theirs")
	require.NoError(t, errors.Join(os.Mkdir(theirs, 0o700), os.Chown(theirs, nobody, nobody)))
	chown := func(top, _ string) error { return os.Chown(top, nobody, nobody) }
	chmod := func(mode os.FileMode) func(top, dir string) error {
		return func(top, _ string) error { return os.Chmod(top, mode) }
	}
	for name, c := range map[string]struct {
		dir  string // below the folder of the test
		make func(top, dir string) error
	}{
		"theirs": {"", chown},
		"below_theirs": {"a", func(top, dir string) error {
			return errors.Join(os.Mkdir(dir, 0o700), chown(top, ""))
		}},
		"new_below_theirs":   {"a/b", chown},
		"writable":           {"", chmod(0o777)},
		"writable_for_group": {"", chmod(0o770)},
		"sticky":             {"", chmod(0o777 | os.ModeSticky)},
		"link_to_theirs":     {"link", func(_, dir string) error { return os.Symlink(theirs, dir) }},
		"their_link": {"link/a", func(top, dir string) error {
			link := filepath.Dir(dir)
			return errors.Join(os.Symlink(filepath.Dir(top), link), os.Lchown(link, nobody, nobody))
		}},
		"link_to_itself": {"link", func(_, dir string) error { return os.Symlink("link", dir) }},
		"file":           {"file/a", func(_, dir string) error { return os.WriteFile(filepath.Dir(dir), nil, 0o600) }},
	} {
		top := t.TempDir()
		dir := filepath.Join(top, c.dir)
		require.NoError(t, c.make(top, dir), name)
		_, _, err := s.Take(t.Context(), dir, 1)
		require.ErrorContains(t, err, dir, name)
		says := err.Error()
		_, err = s.Plan(t.Context(), dir, 1)
		require.EqualError(t, err, says, name)
		_, err = s.TakeScheduled(t.Context(), dir, 1)
		require.EqualError(t, err, says, name)
		_, err = os.Lstat(filepath.Join(dir, failureName))
		require.Error(t, err, name)
		if seen, err := Observe(dir); err == nil {
			assert.Equal(t, says, seen.Failure, name)
		}
	}
}

func TestTrusted_links_of_root(t *testing.T) {
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

// Root never makes the lock at the target of a link.
func TestLock_follows_no_link(t *testing.T) {
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
	assert.Error(t, err, "its first line would be in the unit's status")
}
