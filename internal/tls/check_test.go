package tls_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

var (
	issued  = time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	expires = issued.AddDate(1, 0, 0)
	unit    = tls.Names{Hosts: []string{"juju-0"}, Addresses: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")}}
)

// fixed is an authority with a clock that stays at the time of issue.
func fixed(name string, o vault.Options) *vault.CA {
	o.Now = func() time.Time { return issued }
	return vault.NewWith(name, o)
}

func of(ca *vault.CA, sans ...string) tls.Credentials {
	certificate, key := ca.Issue("juju-0", sans, issued, expires)
	return tls.Credentials{Key: []byte(key), Certificate: []byte(certificate), CA: []byte(ca.PEM() + "\n" + ca.ChainPEM())}
}

func TestCheckFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	ca, other, chain := fixed("Vault", vault.Options{}), fixed("Elsewhere", vault.Options{}), fixed("Vault", vault.Options{Chain: true})
	good := of(ca, "10.0.0.1", "2001:db8::1")
	change := func(f func(*tls.Credentials)) tls.Credentials {
		c := good
		f(&c)
		return c
	}
	old := fixed("Old", vault.Options{CATTL: time.Hour})
	tests := map[string]struct {
		credentials tls.Credentials
		now         time.Time
		kind        tls.Kind // none: it is good
		text        string
	}{
		"nothing":                {credentials: good},
		"nothing, with a chain":  {credentials: of(chain, "10.0.0.1", "2001:db8::1")},
		"nothing, at the start":  {credentials: good, now: issued},
		"nothing, at the end":    {credentials: good, now: expires},
		"nothing, with more CAs": {credentials: change(func(c *tls.Credentials) { c.CA = []byte(other.PEM() + "\n" + ca.PEM()) })},
		"nothing, with the chain in both files, as the charm before this one wrote it": {credentials: func() tls.Credentials {
			c := of(chain, "10.0.0.1", "2001:db8::1")
			c.Certificate = append(c.Certificate, []byte("\n"+chain.ChainPEM())...)
			return c
		}()},
		"nothing, with text around, as easyrsa writes it": {credentials: change(func(c *tls.Credentials) {
			c.Certificate = append([]byte("Certificate:\n    Data:\n        Version: 3 (0x2)\n"), c.Certificate...)
			c.CA = append(c.CA, []byte("\n# the end\n")...)
		})},

		"no certificate":    {change(func(c *tls.Credentials) { c.Certificate = nil }), issued, tls.Malformed, "certificate can't be read: it has no PEM block"},
		"no key":            {change(func(c *tls.Credentials) { c.Key = nil }), issued, tls.Malformed, "key of the certificate can't be read: it has no PEM block"},
		"no CA":             {change(func(c *tls.Credentials) { c.CA = nil }), issued, tls.Malformed, "CA certificate can't be read: it has no PEM block"},
		"a key for the CA":  {change(func(c *tls.Credentials) { c.CA = c.Key }), issued, tls.Malformed, "CA certificate can't be read: it holds a ec private key"},
		"a CA for the key":  {change(func(c *tls.Credentials) { c.Key = c.CA }), issued, tls.Malformed, "key of the certificate can't be read: it is not one private key"},
		"half a CA":         {change(func(c *tls.Credentials) { c.CA = c.CA[:200] }), issued, tls.Malformed, "CA certificate can't be read: it is cut off or damaged"},
		"damage before CAs": {change(func(c *tls.Credentials) { c.CA = append([]byte("-----BEGIN CERTIFICATE-----\nMIIB\n"), c.CA...) }), issued, tls.Malformed, "CA certificate can't be read: it is cut off or damaged"},
		"an encrypted key": {change(func(c *tls.Credentials) {
			c.Key = []byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n")
		}), issued, tls.Malformed, "key of the certificate can't be read: it is encrypted"},

		"another key":       {change(func(c *tls.Credentials) { c.Key = of(ca).Key }), issued, tls.KeyMismatch, "certificate is for another key"},
		"too early":         {good, issued.Add(-time.Minute), tls.NotYetValid, "certificate is valid from 2026-11-16 08:00 UTC only, here it is 2026-11-16 07:59 UTC"},
		"too late":          {good, expires.Add(time.Hour), tls.Expired, "certificate verify failed: certificate has expired on 2027-11-16 08:00 UTC, here it is 2027-11-16 09:00 UTC"},
		"an old CA":         {of(old, "10.0.0.1", "2001:db8::1"), issued.Add(2 * time.Hour), tls.Expired, `certificate verify failed: CA certificate "Old" has expired on 2026-11-16 09:00 UTC, here it is 2026-11-16 10:00 UTC`},
		"another CA":        {change(func(c *tls.Credentials) { c.CA = []byte(other.PEM()) }), issued, tls.Untrusted, `certificate was not issued by the CA that is given with it: its issuer is "Vault", given are "Elsewhere"`},
		"one of its name":   {change(func(c *tls.Credentials) { c.CA = []byte(fixed("Vault", vault.Options{}).PEM()) }), issued, tls.Untrusted, `certificate was not issued by the CA that is given with it: its issuer is "Vault", given are "Vault"`},
		"another address":   {of(ca, "10.0.0.9"), issued, tls.MissingAddress, "certificate is for juju-0, 10.0.0.9, this unit is 10.0.0.1, 2001:db8::1"},
		"one address only":  {of(ca, "10.0.0.1"), issued, tls.MissingAddress, "certificate is for juju-0, 10.0.0.1, this unit is 2001:db8::1"},
		"many addresses":    {of(ca, many(20)...), issued, tls.MissingAddress, "certificate is for juju-0, 10.1.0.0, 10.1.0.1, 10.1.0.2, 10.1.0.3, 10.1.0.4, …, this unit is 10.0.0.1, 2001:db8::1"},
		"a very long name":  {of(ca, strings.Repeat("a.", 100)), issued, tls.MissingAddress, "certificate is for " + strings.Repeat("a.", 40) + "…, juju-0, this unit is 10.0.0.1, 2001:db8::1"},
		"an intermediate's": {trusting(of(chain, "10.0.0.1", "2001:db8::1"), chain.PEM()), issued, tls.Untrusted, `certificate was not issued by the CA that is given with it: its issuer is "Vault Intermediate", given are "Vault"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := tt.now
			if now.IsZero() {
				now = issued.Add(time.Hour)
			}
			_, err := tls.Check(tt.credentials, unit, now)
			if tt.kind == "" {
				require.NoError(t, err)
				return
			}
			var p *tls.Problem
			require.ErrorAs(t, err, &p)
			assert.Equal(t, tls.Problem{Kind: tt.kind, Text: tt.text}, *p)
			assert.Equal(t, tt.text, err.Error())
		})
	}
}

func many(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("10.1.0.%d", i))
	}
	return all
}

func TestCheckNeedsTheNamesToo(t *testing.T) {
	t.Parallel()
	c := of(fixed("Vault", vault.Options{}), "ovn.example.com")
	_, err := tls.Check(c, tls.Names{Hosts: []string{"ovn.example.com", "juju-0"}}, issued)
	require.NoError(t, err)
	_, err = tls.Check(c, tls.Names{Hosts: []string{"juju-1"}}, issued)
	require.EqualError(t, err, "certificate is for juju-0, ovn.example.com, this unit is juju-1")
}

func TestCheckTellsWhatIsKnown(t *testing.T) {
	t.Parallel()
	other, ca := fixed("Elsewhere", vault.Options{}), fixed("Vault", vault.Options{Chain: true})
	c := of(ca, "2001:db8::1", "10.0.0.9", "10.0.0.1", "b", "a")
	c.CA = []byte(other.PEM() + "\n" + ca.PEM() + "\n" + ca.ChainPEM())
	authorities, err := tls.Fingerprints(c.CA)
	require.NoError(t, err)
	require.Len(t, authorities, 3)
	want := tls.Info{
		NotBefore: issued, NotAfter: expires,
		SANs:        []string{"a", "b", "juju-0", "10.0.0.1", "10.0.0.9", "2001:db8::1"},
		Authorities: authorities,
		Issuer:      authorities[2],
	}
	info, err := tls.Check(c, unit, issued)
	require.NoError(t, err)
	assert.Equal(t, want, info)

	// Without what a bundle leaves out, so that the same file written as one tells the same.
	c.CA = append(c.CA, []byte("\n"+fixed("Old", vault.Options{CATTL: -time.Hour}).PEM()+"\n"+string(c.Certificate))...)
	info, err = tls.Check(c, unit, issued)
	require.NoError(t, err)
	assert.Equal(t, want, info)

	// Of what can't be used too, as far as it goes.
	info, err = tls.Check(c, tls.Names{Hosts: []string{"elsewhere"}}, issued)
	require.Error(t, err)
	assert.Equal(t, want, info)
	want.Issuer = ""
	info, err = tls.Check(c, unit, expires.Add(time.Hour))
	require.Error(t, err)
	assert.Equal(t, want, info)
}

func TestKeysOfAllKindsAreRead(t *testing.T) {
	t.Parallel()
	ca := fixed("Vault", vault.Options{})
	rsa := of(fixed("Vault", vault.Options{RSA: true}), "10.0.0.1", "2001:db8::1")
	ec := of(ca, "10.0.0.1", "2001:db8::1")
	block, _ := pem.Decode(ec.Key)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	pkcs8, parameters := ec, ec
	pkcs8.Key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}) // easyrsa's form
	parameters.Key = append(pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 0}}), ec.Key...)
	for name, c := range map[string]tls.Credentials{"PKCS#1 with RSA": rsa, "SEC 1 with ECDSA": ec, "PKCS#8": pkcs8, "with parameters": parameters} {
		_, err := tls.Check(c, unit, issued)
		require.NoError(t, err, name)
	}
	strange := ec
	strange.Key = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("secret")})
	_, err = tls.Check(strange, unit, issued)
	require.EqualError(t, err, "key of the certificate can't be read: it is damaged or of a kind that isn't known")
}

func trusting(c tls.Credentials, authorities ...string) tls.Credentials {
	c.CA = []byte(strings.Join(authorities, "\n"))
	return c
}

// leafFor is self-signed, so it is its own authority, for these uses.
func leafFor(t *testing.T, uses ...x509.ExtKeyUsage) tls.Credentials {
	t.Helper()
	root := &x509.Certificate{
		SerialNumber: serial(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageCertSign,
	}
	root.Subject.CommonName = "root"
	leaf := &x509.Certificate{SerialNumber: serial(2), NotBefore: root.NotBefore, NotAfter: root.NotAfter, ExtKeyUsage: uses}
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	rootDER, err := x509.CreateCertificate(rand.Reader, root, root, rootKey.Public(), rootKey)
	require.NoError(t, err)
	root, err = x509.ParseCertificate(rootDER)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, leaf, root, key.Public(), rootKey)
	require.NoError(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	return tls.Credentials{
		Key:         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		CA:          pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}),
	}
}

func TestKeysAreNotPrinted(t *testing.T) {
	t.Parallel()
	c := of(fixed("Vault", vault.Options{}))
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("wrote", "credentials", c)
	slog.New(slog.NewTextHandler(&log, nil)).Info("wrote", "credentials", c)
	fmt.Fprintf(&log, "%v %+v %#v %s %q %x %v", c, c, c, c, c, c, &c)
	assert.NotContains(t, log.String(), "BEGIN")
	assert.NotContains(t, log.String(), fmt.Sprintf("%x", c.Key[:20]))
	assert.NotContains(t, log.String(), fmt.Sprint(c.Key[:20]))
	assert.Equal(t, 9, strings.Count(log.String(), "(credentials)"))
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	ca := fixed("Vault", vault.Options{})
	short, _ := ca.Issue("juju-0", nil, issued, expires)
	long, _ := ca.Issue("juju-1", nil, issued, expires.AddDate(1, 0, 0))
	path := filepath.Join(t.TempDir(), "certificates")
	require.NoError(t, os.WriteFile(path, []byte(long+"\n"+short+"\n"), 0o600))
	first, last, err := tls.Expiry(path)
	require.NoError(t, err)
	assert.Equal(t, []time.Time{expires, expires.AddDate(1, 0, 0)}, []time.Time{first, last})
	for _, text := range []string{"", short[:len(short)/2]} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, _, err = tls.Expiry(path)
		require.Error(t, err)
	}
	_, _, err = tls.Expiry(path + ".not")
	require.Error(t, err)
}
