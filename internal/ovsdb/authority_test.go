//go:build programs

package ovsdb_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// authority is a CA like vault's for a model.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	// chain is this CA and those above it, without the root.
	chain []*x509.Certificate
	root  *x509.Certificate
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	a.certificate = sign(t, caTemplate("root"), caTemplate("root"), a.key, a.key)
	a.root = a.certificate
	return a
}

// intermediate is a CA below this one.
func (a *authority) intermediate(t *testing.T) *authority {
	t.Helper()
	b := &authority{key: newKey(t), root: a.root}
	b.certificate = sign(t, caTemplate("intermediate"), a.certificate, b.key, a.key)
	b.chain = append([]*x509.Certificate{b.certificate}, a.chain...)
	return b
}

func caTemplate(name string) *x509.Certificate {
	c := template(name, time.Hour)
	c.IsCA, c.BasicConstraintsValid, c.KeyUsage = true, true, x509.KeyUsageCertSign
	c.ExtKeyUsage = nil
	return c
}

func template(name string, validFor time.Duration) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(validFor),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

func sign(t *testing.T, c, by *x509.Certificate, key, with *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, with)
	require.NoError(t, err)
	signed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return signed
}

// issue writes a key, a certificate for the name, and the CAs with the chain to
// files. ovsdb-server shows the certificate alone.
func (a *authority) issue(t *testing.T, name string, validFor time.Duration) ovndb.Credentials {
	t.Helper()
	key := newKey(t)
	c := sign(t, template(name, validFor), a.certificate, key, a.key)
	der, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	files := ovndb.Credentials{
		Key: filepath.Join(dir, "key_host"), Certificate: filepath.Join(dir, "cert_host"), CA: filepath.Join(dir, "ovn-central.crt"),
	}
	write(t, files.Key, "EC PRIVATE KEY", der)
	write(t, files.Certificate, "CERTIFICATE", c.Raw)
	trusted := [][]byte{a.root.Raw}
	for _, ca := range a.chain {
		trusted = append(trusted, ca.Raw)
	}
	write(t, files.CA, "CERTIFICATE", trusted...)
	return files
}

func write(t *testing.T, path, kind string, blocks ...[]byte) {
	t.Helper()
	var text []byte
	for _, b := range blocks {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b})...)
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

// options make a server use the credentials.
func options(c ovndb.Credentials) []string {
	return []string{"--private-key=" + c.Key, "--certificate=" + c.Certificate, "--ca-cert=" + c.CA}
}
