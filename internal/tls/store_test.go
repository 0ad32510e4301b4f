package tls_test

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// modes asserts the files' modes, and returns their inodes, which change when a file is written again.
func modes(t *testing.T, f tls.Files) (inodes [3]uint64) {
	t.Helper()
	for i, path := range []string{f.Key, f.Certificate, f.CA} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, []fs.FileMode{0o600, 0o644, 0o644}[i], info.Mode(), path)
		inodes[i] = info.Sys().(*syscall.Stat_t).Ino
	}
	return inodes
}

// With the previous charm's modes, Nagios can't read the certificate.
func TestSetModes_keeps_times(t *testing.T) {
	t.Parallel()
	f := filesIn(t.TempDir())
	require.NoError(t, f.SetModes(), "there are no files yet")
	write(t, f, of(fixed("Vault", vault.Options{})))
	was := modes(t, f)
	for _, path := range []string{f.Key, f.Certificate, f.CA} {
		require.NoError(t, os.Chmod(path, 0o640))
		require.NoError(t, os.Chtimes(path, issued, issued))
	}
	require.NoError(t, f.SetModes())
	assert.Equal(t, was, modes(t, f))
	info, err := os.Stat(f.Key)
	require.NoError(t, err)
	assert.True(t, issued.Equal(info.ModTime()))

	other := f.CA + ".other"
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, os.Remove(f.Certificate))
	require.NoError(t, os.Symlink(other, f.Certificate))
	require.NoError(t, f.SetModes())
	info, err = os.Stat(other)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode(), "links are not followed")
}

func TestFiles_missing_file_is_named(t *testing.T) {
	t.Parallel()
	f := filesIn(t.TempDir())
	_, err := f.Read()
	require.ErrorIs(t, err, tls.ErrNone)
	require.ErrorIs(t, f.Touch(), tls.ErrNone)
	for _, path := range []string{f.Key, f.Certificate, f.CA} {
		write(t, f, of(fixed("Vault", vault.Options{})))
		require.NoError(t, os.Remove(path))
		_, err = f.Read()
		require.ErrorIs(t, err, tls.ErrNone)
		require.ErrorContains(t, err, path)
	}
	require.NoError(t, os.Mkdir(f.CA, 0o700))
	_, err = f.Read()
	require.ErrorIs(t, err, syscall.EISDIR)
	require.NotErrorIs(t, err, tls.ErrNone, "an unreadable file is not missing")
}

// Key and certificate are written together: OVS loads neither alone.
func TestWrite_changes_only_what_differs(t *testing.T) {
	t.Parallel()
	ca, other := fixed("Vault", vault.Options{}), fixed("Vault", vault.Options{})
	old, fresh := of(ca), of(other)
	unchanged := func(tls.Files) error { return nil }
	for name, tt := range map[string]struct {
		before    func(f tls.Files) error
		next      tls.Credentials
		pair, cas bool
	}{
		"nothing":        {unchanged, old, false, false},
		"CA":             {unchanged, trusting(old, other.PEM()), false, true},
		"pair":           {unchanged, trusting(fresh, string(old.CA)), true, false},
		"certificate":    {unchanged, presenting(old, string(ca.Renew(old.Certificate))), true, false},
		"all":            {unchanged, fresh, true, true},
		"readable_key":   {func(f tls.Files) error { return os.Chmod(f.Key, 0o640) }, old, true, false},
		"no_certificate": {func(f tls.Files) error { return os.Rename(f.Certificate, f.CA+".gone") }, old, true, false},
		"certificate_newer": {func(f tls.Files) error {
			return errors.Join(os.Chtimes(f.Key, issued, issued), os.Chtimes(f.Certificate, issued, issued.Add(1)))
		}, old, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := filesIn(t.TempDir())
			write(t, f, old)
			was := modes(t, f)
			require.NoError(t, tt.before(f))
			for i, changes := range []bool{tt.pair || tt.cas, false} {
				changed, err := f.Write(tt.next)
				require.NoError(t, err)
				assert.Equal(t, changes, changed, i)
			}
			is := modes(t, f)
			assert.Equal(t, []bool{tt.pair, tt.pair, tt.cas}, []bool{is[0] != was[0], is[1] != was[1], is[2] != was[2]})
			got, err := f.Read()
			require.NoError(t, err)
			assert.Equal(t, tt.next, got)
		})
	}
}

// If a Write fails at any step, the files are whole, and the next Write completes it.
func TestWrite_failed_is_completed_by_next(t *testing.T) {
	t.Parallel()
	f := filesIn(t.TempDir())
	for _, blocked := range []string{f.CA, f.Certificate, f.Key} {
		write(t, f, of(fixed("Vault", vault.Options{})))
		next := of(fixed("Vault", vault.Options{}))
		aside := blocked + ".aside"
		require.NoError(t, os.Rename(blocked, aside))
		require.NoError(t, os.Mkdir(blocked, 0o700)) // a rename can't replace a directory
		_, err := f.Write(next)
		require.ErrorContains(t, err, blocked)
		assert.Equal(t, 1, strings.Count(err.Error(), blocked), err)
		assert.NotContains(t, err.Error(), "BEGIN")

		require.NoError(t, os.Remove(blocked))
		require.NoError(t, os.Rename(aside, blocked))
		changed, err := f.Write(next)
		require.NoError(t, err)
		assert.True(t, changed)
		got, err := f.Read()
		require.NoError(t, err)
		assert.Equal(t, next, got)
	}
}

func TestWrite_incomplete_credentials_are_refused(t *testing.T) {
	t.Parallel()
	f := filesIn(t.TempDir())
	old, next := of(fixed("Vault", vault.Options{})), of(fixed("Vault", vault.Options{}))
	write(t, f, old)
	for _, c := range []tls.Credentials{keyed(next, ""), presenting(next), trusting(next)} {
		_, err := f.Write(c)
		require.Error(t, err)
		got, err := f.Read()
		require.NoError(t, err)
		assert.Equal(t, old, got)
	}
	_, err := filesIn("/nonexistent").Write(old)
	require.ErrorIs(t, err, fs.ErrNotExist)
}
