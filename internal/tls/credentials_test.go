package tls_test

import (
	stdtls "crypto/tls"
	"crypto/x509"
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

// application is a name that all certificates are valid for.
const application = "ovn-central"

// credentials are of the authority, for the host, and trust that authority and
// the others.
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
		Key: filepath.Join(dir, "key_host"), Certificate: filepath.Join(dir, "cert_host"), CA: filepath.Join(dir, "ovn-central.crt"),
	}
}

func write(t *testing.T, f tls.Files, c tls.Credentials) {
	t.Helper()
	awaitTick(t, f)
	_, err := f.Write(c)
	require.NoError(t, err)
}

// awaitTick waits until a file that is written now has another mtime than those
// that are there: OVS tells files by it, and file systems count in ticks of some
// milliseconds.
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

// leaf is the certificate of the credentials.
func leaf(t *testing.T, c tls.Credentials) *x509.Certificate {
	t.Helper()
	own, err := stdtls.X509KeyPair(c.Certificate, c.Key)
	require.NoError(t, err)
	return own.Leaf
}
