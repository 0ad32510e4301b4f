//go:build programs

package monitoring_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

const day = 24 * time.Hour

// authority is a CA, for use until end.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
}

func newAuthority(t *testing.T, end time.Duration) authority {
	t.Helper()
	a := authority{certificate: &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "CA"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-400 * day), NotAfter: time.Now().Add(end),
	}}
	var err error
	a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return a
}

// issue writes a certificate, its own or another's, and returns the path.
func (a authority) issue(t *testing.T, c *x509.Certificate) string {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, a.certificate, a.key.Public(), a.key)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "certificate")
	require.NoError(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644))
	return path
}

func leaf(end time.Duration) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "unit"},
		NotBefore: time.Now().Add(-400 * day), NotAfter: time.Now().Add(end),
	}
}

// plugin runs the plugin with the real openssl and returns its exit status and line.
func plugin(t *testing.T, args ...string) (status int, line string) {
	t.Helper()
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "sh", Args: append([]string{"./check_ovn_certs"}, args...)})
	if failed := (*run.Error)(nil); errors.As(err, &failed) {
		return failed.ExitCode, string(out)
	}
	require.NoError(t, err)
	return 0, string(out)
}

func TestPlugin_expiry(t *testing.T) {
	t.Parallel()
	for title, c := range map[string]struct {
		leaf, ca time.Duration
		status   int
		says     string
	}{
		"long to go":             {300 * day, 3000 * day, 0, "OK: "},
		"less than 60 days":      {59 * day, 3000 * day, 1, "WARNING: "},
		"just more than 60 days": {60*day + time.Hour, 3000 * day, 0, "OK: "},
		"less than 30 days": {
			29 * day, 3000 * day, 2,
			"is not valid in 30 days (depth 0: certificate has expired)",
		},
		"expired":                       {-time.Hour, 3000 * day, 2, "is not valid (depth 0: certificate has expired)"},
		"the CA ends before the unit's": {300 * day, 59 * day, 1, "(depth 1: certificate has expired)"},
		"the CA has expired":            {300 * day, -time.Hour, 2, "is not valid (depth 1: certificate has expired)"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			ca := newAuthority(t, c.ca)
			status, line := plugin(t, ca.issue(t, leaf(c.leaf)), ca.issue(t, ca.certificate))
			assert.Equal(t, c.status, status, line)
			assert.Contains(t, line, c.says)
			assert.NotContains(t, line[:len(line)-1], "\n", "Nagios shows one line")
		})
	}
}

func TestPlugin_unusable_certificates_are_critical(t *testing.T) {
	t.Parallel()
	ca, other := newAuthority(t, 3000*day), newAuthority(t, 3000*day)
	good, trusted := ca.issue(t, leaf(300*day)), ca.issue(t, ca.certificate)
	torn := filepath.Join(t.TempDir(), "torn")
	require.NoError(t, os.WriteFile(torn, []byte("-----BEGIN CERTIFICATE-----\n"), 0o644))
	for title, args := range map[string][]string{
		"of another CA":         {good, other.issue(t, other.certificate)},
		"no certificate":        {torn, trusted},
		"no CA":                 {good, torn},
		"certificate not there": {good + "-gone", trusted},
		"CA not there":          {good, trusted + "-gone"},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			status, line := plugin(t, args...)
			assert.Equal(t, 2, status, line)
			assert.Contains(t, line, "CRITICAL: ")
		})
	}
	status, line := plugin(t, good)
	assert.Equal(t, 3, status, line)
}
