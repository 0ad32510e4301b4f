package tls_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

func TestFilesAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	f := filesIn(t.TempDir())
	want := of(fixed("Vault", vault.Options{Chain: true}))
	changed, err := f.Write(want)
	require.NoError(t, err)
	assert.True(t, changed)
	got, err := f.Read()
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for path, mode := range map[string]fs.FileMode{f.Key: 0o600, f.Certificate: 0o644, f.CA: 0o644} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), path)
	}
}

// The charm before this one wrote them for root's group alone, where Nagios can't read them.
func TestSetModes_keeps_times(t *testing.T) {
	t.Parallel()
	f := filesIn(t.TempDir())
	require.NoError(t, f.SetModes(), "there are none yet")
	write(t, f, of(fixed("Vault", vault.Options{})))
	for _, path := range []string{f.Key, f.Certificate, f.CA} {
		require.NoError(t, os.Chmod(path, 0o640))
		require.NoError(t, os.Chtimes(path, issued, issued))
	}
	was := stamps(t, f)
	require.NoError(t, f.SetModes())
	for path, mode := range map[string]fs.FileMode{f.Key: 0o600, f.Certificate: 0o644, f.CA: 0o644} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), path)
		assert.True(t, issued.Equal(info.ModTime()), path)
	}
	assert.Equal(t, was, stamps(t, f))

	require.NoError(t, os.Rename(f.Certificate, f.CA))
	require.NoError(t, os.Symlink(f.CA, f.Certificate))
	require.NoError(t, os.Chmod(f.Key, 0o640))
	require.NoError(t, f.SetModes())
	info, err := os.Stat(f.Key)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode(), "one that is a link is left as it is")
}

func TestFilesThatAreMissingAreNamed(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]func(tls.Files) string{
		"key":         func(f tls.Files) string { return f.Key },
		"certificate": func(f tls.Files) string { return f.Certificate },
		"CA":          func(f tls.Files) string { return f.CA },
	} {
		f := filesIn(t.TempDir())
		_, err := f.Read()
		require.ErrorIs(t, err, tls.ErrNone, name)
		require.ErrorIs(t, f.Touch(), tls.ErrNone, name)

		write(t, f, of(fixed("Vault", vault.Options{})))
		require.NoError(t, os.Remove(path(f)))
		_, err = f.Read()
		require.ErrorIs(t, err, tls.ErrNone, name)
		require.EqualError(t, err, "the unit has no certificate yet: "+path(f)+" is missing")
	}
}

func TestFilesThatCannotBeReadAreNotMissing(t *testing.T) {
	t.Parallel()
	f := filesIn(t.TempDir())
	require.NoError(t, os.Mkdir(f.Key, 0o700))
	_, err := f.Read()
	require.ErrorIs(t, err, syscall.EISDIR)
	require.NotErrorIs(t, err, tls.ErrNone)
}

// stamps are the files' identities: a file that was written again has another.
func stamps(t *testing.T, f tls.Files) (all []uint64) {
	t.Helper()
	for _, path := range []string{f.Key, f.Certificate, f.CA} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		all = append(all, info.Sys().(*syscall.Stat_t).Ino)
	}
	return all
}

// Key and certificate are written together: OVS loads neither alone.
func TestWriteTouchesOnlyWhatHasTo(t *testing.T) {
	t.Parallel()
	ca, other := fixed("Vault", vault.Options{}), fixed("Vault", vault.Options{})
	old := of(ca)
	tests := map[string]struct {
		before    func(f tls.Files) error
		then      func(c *tls.Credentials)
		pair, cas bool
	}{
		"nothing":                   {},
		"another CA":                {then: func(c *tls.Credentials) { c.CA = []byte(other.PEM()) }, cas: true},
		"another pair":              {then: func(c *tls.Credentials) { n := of(ca); c.Key, c.Certificate = n.Key, n.Certificate }, pair: true},
		"a certificate for the key": {then: func(c *tls.Credentials) { c.Certificate = ca.Renew(c.Certificate) }, pair: true},
		"all":                       {then: func(c *tls.Credentials) { *c = of(other) }, pair: true, cas: true},
		"a key that all could read": {before: func(f tls.Files) error { return os.Chmod(f.Key, 0o640) }, pair: true},
		"a key that is older than its certificate": {before: func(f tls.Files) error {
			return errors.Join(os.Chtimes(f.Key, issued, issued), os.Chtimes(f.Certificate, issued, issued.Add(1)))
		}, pair: true},
		"no certificate": {before: func(f tls.Files) error { return os.Rename(f.Certificate, f.Certificate+".gone") }, pair: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := filesIn(t.TempDir())
			write(t, f, old)
			was := stamps(t, f)
			if tt.before != nil {
				require.NoError(t, tt.before(f))
			}
			next := old
			if tt.then != nil {
				tt.then(&next)
			}
			changed, err := f.Write(next)
			require.NoError(t, err)
			assert.Equal(t, tt.pair || tt.cas, changed)
			is := stamps(t, f)
			assert.Equal(t, []bool{tt.pair, tt.pair, tt.cas}, []bool{is[0] != was[0], is[1] != was[1], is[2] != was[2]})
			got, err := f.Read()
			require.NoError(t, err)
			assert.Equal(t, next, got)

			changed, err = f.Write(next)
			require.NoError(t, err)
			assert.False(t, changed, "the second time there is nothing to do")
			assert.Equal(t, is, stamps(t, f))
		})
	}
}

// A Write that ends at any of its steps leaves whole files, and the next one
// completes it.
func TestWriteThatFailedIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	ca := fixed("Vault", vault.Options{})
	old, next := of(ca), of(fixed("Vault", vault.Options{}))
	for name, blocked := range map[string]func(tls.Files) *string{
		"at the CA":          func(f tls.Files) *string { return &f.CA },
		"at the certificate": func(f tls.Files) *string { return &f.Certificate },
		"at the key":         func(f tls.Files) *string { return &f.Key },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := filesIn(t.TempDir())
			write(t, f, old)
			aside := *blocked(f) + ".aside"
			require.NoError(t, os.Rename(*blocked(f), aside))
			require.NoError(t, os.Mkdir(*blocked(f), 0o700)) // nothing is renamed over a directory
			_, err := f.Write(next)
			require.ErrorContains(t, err, "cannot write the unit's credentials: cannot write "+*blocked(f)+": ")
			assert.NotContains(t, err.Error(), "BEGIN")

			require.NoError(t, os.Remove(*blocked(f)))
			require.NoError(t, os.Rename(aside, *blocked(f)))
			changed, err := f.Write(next)
			require.NoError(t, err)
			assert.True(t, changed)
			got, err := f.Read()
			require.NoError(t, err)
			assert.Equal(t, next, got)
		})
	}
}

func TestNothingIsWrittenOfWhatIsNotComplete(t *testing.T) {
	t.Parallel()
	f := filesIn(filepath.Join(t.TempDir()))
	old := of(fixed("Vault", vault.Options{}))
	write(t, f, old)
	for name, empty := range map[string]func(*tls.Credentials){
		"key": func(c *tls.Credentials) { c.Key = nil }, "certificate": func(c *tls.Credentials) { c.Certificate = nil }, "CA": func(c *tls.Credentials) { c.CA = nil },
	} {
		next := of(fixed("Vault", vault.Options{}))
		empty(&next)
		_, err := f.Write(next)
		require.EqualError(t, err, "cannot write the unit's credentials: a part of them is empty", name)
		got, err := f.Read()
		require.NoError(t, err)
		assert.Equal(t, old, got)
	}
	_, err := filesIn("/nonexistent").Write(old)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.EqualError(t, err, "cannot write the unit's credentials: cannot write /nonexistent/ovn-central.crt: no such file or directory")
}
