package tls_test

import (
	"bytes"
	"crypto/sha256"
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

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

var (
	issued  = time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)
	expires = issued.AddDate(1, 0, 0)
	unit    = []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")}
)

// fixed returns an authority whose clock stays at the time of issue.
func fixed(name string, o vault.Options) *vault.CA {
	o.Now = func() time.Time { return issued }
	return vault.NewWith(name, o)
}

func of(ca *vault.CA, sans ...string) tls.Credentials {
	certificate, key := ca.Issue("juju-0", sans, issued, expires)
	return tls.Credentials{Key: []byte(key), Certificate: []byte(certificate), CA: []byte(ca.PEM() + "\n" + ca.ChainPEM())}
}

func TestCheck_code_of_problem(t *testing.T) {
	t.Parallel()
	ca, other := fixed("Vault", vault.Options{}), fixed("Elsewhere", vault.Options{})
	chain, old := fixed("Vault", vault.Options{Chain: true}), fixed("Old", vault.Options{CATTL: time.Hour})
	good, chained := of(ca, "10.0.0.1", "2001:db8::1"), of(chain, "10.0.0.1", "2001:db8::1")
	later := issued.Add(time.Hour)
	for name, tt := range map[string]struct {
		credentials tls.Credentials
		now         time.Time
		code        finding.ReasonCode // empty if there is no problem
	}{
		"good":               {good, later, ""},
		"chain":              {chained, later, ""},
		"at_start":           {good, issued, ""},
		"at_end":             {good, expires, ""},
		"more_CAs":           {trusting(good, other.PEM(), ca.PEM()), later, ""},
		"chain_in_both":      {presenting(chained, string(chained.Certificate), chain.ChainPEM()), later, ""},
		"text_before":        {presenting(good, "Certificate:\n    Data:", string(good.Certificate)), later, ""}, // easyrsa's
		"text_after":         {trusting(good, ca.PEM(), "# the end"), later, ""},
		"no_certificate":     {presenting(good), later, finding.CertificateUnread},
		"no_key":             {keyed(good, ""), later, finding.KeyUnread},
		"no_CA":              {trusting(good), later, finding.CAUnread},
		"key_as_CA":          {trusting(good, string(good.Key)), later, finding.CAUnread},
		"CA_as_key":          {keyed(good, ca.PEM()), later, finding.KeyUnread},
		"half_CA":            {trusting(good, ca.PEM()[:200]), later, finding.CAUnread},
		"damage_before_CA":   {trusting(good, "-----BEGIN CERTIFICATE-----\nMIIB", ca.PEM()), later, finding.CAUnread},
		"encrypted_key":      {keyed(good, encrypted), later, finding.KeyUnread},
		"unknown_key":        {keyed(good, unknown), later, finding.KeyUnread},
		"other_key":          {keyed(good, string(of(ca).Key)), later, finding.KeyDiffers},
		"too_early":          {good, issued.Add(-time.Minute), finding.CertificateTooNew},
		"too_late":           {good, expires.Add(1), finding.CertificateExpired},
		"expired_CA":         {of(old, "10.0.0.1", "2001:db8::1"), issued.Add(2 * time.Hour), finding.CAExpired},
		"other_CA":           {trusting(good, other.PEM()), later, finding.CertificateOfOtherCA},
		"other_CA_same_name": {trusting(good, fixed("Vault", vault.Options{}).PEM()), later, finding.CertificateOfOtherCA},
		"no_intermediate":    {trusting(chained, chain.PEM()), later, finding.CertificateOfOtherCA},
		"other_address":      {of(ca, "10.0.0.9"), later, finding.CertificateLacks},
		"one_address":        {of(ca, "10.0.0.1"), later, finding.CertificateLacks},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, p := tls.Check(tt.credentials, unit, tt.now)
			assert.Equal(t, tt.code, p.Code, p)
		})
	}
}

const (
	encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n"
	unknown   = "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n"
)

// The texts appear in a unit's status, so each is one line of limited length that shows the difference.
func TestCheck_text(t *testing.T) {
	t.Parallel()
	ca := fixed("Vault", vault.Options{})
	for has, sans := range map[string][]string{
		"a, juju-0, 10.0.0.9":                  {"10.0.0.9", "a"},
		strings.Repeat("a.", 40) + "…, juju-0": {strings.Repeat("a.", 100)},
		"a, b, c, d, e, f, …":                  strings.Split("a,b,c,d,e,f,g,h", ","),
	} {
		_, p := tls.Check(of(ca, sans...), unit, issued)
		assert.Equal(t, finding.Reason{Code: finding.CertificateLacks, Name: has, Value: "10.0.0.1, 2001:db8::1"}, p)
	}
}

func TestCheck_info(t *testing.T) {
	t.Parallel()
	other, ca := fixed("Elsewhere", vault.Options{}), fixed("Vault", vault.Options{Chain: true})
	c := of(ca, "2001:db8::1", "10.0.0.9", "10.0.0.1", "b", "a")
	c.CA = []byte(other.PEM() + "\n" + ca.PEM() + "\n" + ca.ChainPEM())
	authorities := fingerprints(t, c.CA)
	require.Len(t, authorities, 3)
	want := tls.Info{
		NotBefore: issued, NotAfter: expires,
		Fingerprint: fingerprints(t, c.Certificate)[0], Authorities: authorities, Issuer: authorities[2],
	}
	info, p := tls.Check(c, unit, issued)
	require.Empty(t, p)
	assert.Equal(t, want, info)

	// Info lacks the certificates that Bundle omits.
	c.CA = append(c.CA, []byte("\n"+fixed("Old", vault.Options{CATTL: -time.Hour}).PEM()+"\n"+string(c.Certificate))...)
	info, p = tls.Check(c, unit, issued)
	require.Empty(t, p)
	assert.Equal(t, want, info)

	// The same holds for unusable credentials.
	info, p = tls.Check(c, []netip.Addr{netip.MustParseAddr("10.0.0.7")}, issued)
	require.Equal(t, finding.CertificateLacks, p.Code)
	assert.Equal(t, want, info)
	want.Issuer = ""
	info, p = tls.Check(c, unit, expires.Add(time.Hour))
	require.Equal(t, finding.CertificateExpired, p.Code)
	assert.Equal(t, want, info)
}

// fingerprints returns the fingerprints of the certificates in a PEM text.
func fingerprints(t *testing.T, text []byte) (all []string) {
	t.Helper()
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		all = append(all, fmt.Sprintf("%x", sha256.Sum256(block.Bytes)))
	}
	return all
}

func TestCheck_forms_of_keys(t *testing.T) {
	t.Parallel()
	rsa := of(fixed("Vault", vault.Options{RSA: true}), "10.0.0.1", "2001:db8::1")
	ec := of(fixed("Vault", vault.Options{}), "10.0.0.1", "2001:db8::1")
	block, _ := pem.Decode(ec.Key)
	key, err := x509.ParseECPrivateKey(block.Bytes)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	pkcs8 := keyed(ec, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))) // easyrsa's form
	parameters := pem.EncodeToMemory(&pem.Block{Type: "EC PARAMETERS", Bytes: []byte{6, 0}})
	for name, c := range map[string]tls.Credentials{
		"PKCS#1": rsa, "SEC 1": ec, "PKCS#8": pkcs8, "parameters": keyed(ec, string(parameters)+string(ec.Key)),
	} {
		_, p := tls.Check(c, unit, issued)
		require.Empty(t, p, name)
	}
}

func keyed(c tls.Credentials, key string) tls.Credentials {
	c.Key = []byte(key)
	return c
}

func presenting(c tls.Credentials, certificates ...string) tls.Credentials {
	c.Certificate = []byte(strings.Join(certificates, "\n"))
	return c
}

func trusting(c tls.Credentials, authorities ...string) tls.Credentials {
	c.CA = []byte(strings.Join(authorities, "\n"))
	return c
}

func TestCredentials_print_no_key(t *testing.T) {
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
