package tls_test

import (
	stdtls "crypto/tls"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// patience bounds every wait for a real program on a busy machine.
const patience = time.Minute

// application is a name for which all certificates are valid.
const application = "ovn-central"

// credentials returns credentials that the authority has issued for the host. They trust that authority and the
// others.
func credentials(t *testing.T, ca *vault.CA, host string, others ...*vault.CA) tls.Credentials {
	t.Helper()
	now := time.Now()
	certificate, key := ca.Issue("juju-"+host, []string{host, application}, now.Add(-time.Hour), now.Add(time.Hour))
	parts := [][]byte{[]byte(ca.PEM()), []byte(ca.ChainPEM())}
	for _, other := range others {
		parts = append(parts, []byte(other.PEM()), []byte(other.ChainPEM()))
	}
	bundle, err := tls.Bundle(now, parts...)
	require.NoError(t, err)
	return tls.Credentials{Key: []byte(key), Certificate: []byte(certificate), CA: bundle}
}

func filesIn(dir string) tls.Files {
	return tls.Files{
		Key: filepath.Join(dir, "key_host"), Certificate: filepath.Join(dir, "cert_host"), CA: filepath.Join(dir, "ca.crt"),
	}
}

func write(t *testing.T, f tls.Files, c tls.Credentials) {
	t.Helper()
	awaitTick(t, f)
	_, err := f.Write(c)
	require.NoError(t, err)
}

// awaitTick waits until a file that is written now gets an mtime that differs from the existing files'. OVS compares
// mtimes, and file systems round times to some milliseconds.
func awaitTick(t *testing.T, f tls.Files) {
	t.Helper()
	probe := f.Key + ".probe"
	require.Eventually(t, func() bool {
		require.NoError(t, os.WriteFile(probe, []byte("."), 0o600))
		now, err := os.Stat(probe)
		require.NoError(t, err)
		for _, path := range []string{f.Key, f.Certificate, f.CA} {
			if info, err := os.Stat(path); err == nil && !info.ModTime().Before(now.ModTime()) {
				return false
			}
		}
		return true
	}, patience, time.Millisecond)
	require.NoError(t, os.Remove(probe))
}

// options returns the options that make a program of OVS or OVN use the files.
func options(f tls.Files) []string { return []string{"-p", f.Key, "-c", f.Certificate, "-C", f.CA} }

// keyPair returns the key and certificate of the credentials.
func keyPair(t *testing.T, c tls.Credentials) stdtls.Certificate {
	t.Helper()
	own, err := stdtls.X509KeyPair(c.Certificate, c.Key)
	require.NoError(t, err)
	return own
}

// serial returns the serial number of the credentials' certificate.
func serial(t *testing.T, c tls.Credentials) *big.Int {
	t.Helper()
	return keyPair(t, c).Leaf.SerialNumber
}
