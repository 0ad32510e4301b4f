package tls

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
)

// ErrNone is wrapped if a unit has no credentials, or only some of the three files.
var ErrNone = errors.New("the unit has no certificate yet")

// Files are the paths of the three files in the servers' configuration.
type Files struct{ Key, Certificate, CA string }

// The modes of the files. Only root can read the key; the servers run as root.
const (
	secret fs.FileMode = 0o600
	public fs.FileMode = 0o644
)

// Read reads the files, whether they are valid or not. If one is missing, the error wraps [ErrNone] and names the
// file.
func (f Files) Read() (Credentials, error) {
	var c Credentials
	for _, file := range []struct {
		path string
		into *[]byte
	}{{f.Key, &c.Key}, {f.Certificate, &c.Certificate}, {f.CA, &c.CA}} {
		data, err := os.ReadFile(file.path)
		if errors.Is(err, fs.ErrNotExist) {
			return Credentials{}, fmt.Errorf("%w: %s is missing", ErrNone, file.path)
		}
		if err != nil {
			return Credentials{}, fmt.Errorf("cannot read the unit's credentials: %w", err)
		}
		*file.into = data
	}
	return c, nil
}

// Write writes the credentials that differ from the files, each file atomically, under running servers. These use them
// for new connections; existing connections continue. It reports whether it wrote. After a failure or a kill, the next
// call with the same credentials completes the work, even for a server that has seen half of it.
//
// OVS determines the order. ovsdb-server (reconfigure_ssl) and ovn-northd (update_ssl_config) check the files each time
// that they wake. They load key and certificate only if the mtime of both has changed, and check the certificate only
// if the key has changed, which then counts as seen (stream_ssl_set_key_and_cert in lib/stream-ssl.c, OVS 3.1).
// Therefore:
//   - the key is written after the certificate: a server that wakes between a new key and an old certificate would
//     never load the pair;
//   - both are written even if only one differs: a certificate that was renewed for the same key would never be loaded;
//   - a key older than its certificate shows that a Write was killed;
//   - the CA is checked separately and written first: a peer that gets the new certificate must trust its issuer.
//
// A server that starts between the certificate and the key, or wakes there after it slept through an earlier Write, has
// neither until the next pair: see [Files.Touch]. No order avoids that; the gap is one rename. And OVS sees no
// difference between two files written within one tick of the file system's clock, about 4 ms.
func (f Files) Write(c Credentials) (changed bool, err error) {
	if len(c.Key) == 0 || len(c.Certificate) == 0 || len(c.CA) == 0 {
		return false, errors.New("cannot write the unit's credentials: a part of them is empty")
	}
	changed, err = atomicfile.WriteIfChanged(f.CA, c.CA, public)
	if err != nil {
		return false, err
	}
	if f.hasPair(c) {
		return changed, nil
	}
	return true, f.writePair(c)
}

func (f Files) writePair(c Credentials) error {
	err := atomicfile.Write(f.Certificate, c.Certificate, public)
	if err == nil {
		err = atomicfile.Write(f.Key, c.Key, secret)
	}
	return err
}

// Touch writes key and certificate again unchanged, so that a server with no pair, or an old one, loads them. Call it
// if a running server's TLS ports don't answer, or present a certificate other than the file's.
func (f Files) Touch() error {
	c, err := f.Read()
	if err != nil {
		return err
	}
	return f.writePair(c)
}

// SetModes sets the modes of the existing files. The previous charm wrote key and certificate as 0640 (write_cert of
// charms.openstack), but Nagios, which is not in root's group, reads the certificate. SetModes does not change the
// files' times, so no server reads them again.
func (f Files) SetModes() error {
	for path, mode := range map[string]fs.FileMode{f.Key: secret, f.Certificate: public, f.CA: public} {
		info, err := os.Lstat(path)
		if err == nil && info.Mode().IsRegular() && info.Mode().Perm() != mode {
			err = os.Chmod(path, mode)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot set the modes of the unit's credentials: %w", err)
		}
	}
	return nil
}

// hasPair reports whether the files of key and certificate have this content, their modes, and the right order of
// mtimes.
func (f Files) hasPair(c Credentials) bool {
	key, written := matches(f.Key, c.Key, secret)
	certificate, before := matches(f.Certificate, c.Certificate, public)
	return key && certificate && !written.Before(before)
}

// matches reports whether a regular file has this content and mode. It returns when the file was written.
func matches(path string, data []byte, mode fs.FileMode) (ok bool, written time.Time) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() != mode {
		return false, time.Time{}
	}
	old, err := os.ReadFile(path)
	return err == nil && string(old) == string(data), info.ModTime()
}
