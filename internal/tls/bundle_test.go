package tls_test

import (
	"bytes"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

func TestCheck_truncated_file_is_refused(t *testing.T) {
	t.Parallel()
	ca := fixed("Vault", vault.Options{Chain: true})
	whole := of(ca, "10.0.0.1", "2001:db8::1")
	parts := map[string]func(*tls.Credentials) *[]byte{
		"key":         func(c *tls.Credentials) *[]byte { return &c.Key },
		"certificate": func(c *tls.Credentials) *[]byte { return &c.Certificate },
		"CA":          func(c *tls.Credentials) *[]byte { return &c.CA },
	}
	for name, part := range parts {
		for n := range len(*part(&whole)) {
			c := whole
			*part(&c) = (*part(&c))[:n]
			_, p := tls.Check(c, unit, issued)
			assert.Contains(t, []finding.ReasonCode{
				finding.CertificateUnread, finding.KeyUnread, finding.CAUnread, finding.CertificateOfOtherCA,
			}, p.Code, "%s, cut off after %d bytes", name, n)
		}
	}
}

// FuzzCheck shows that Check never panics, that each of its texts is one line of limited length, and that it accepts
// only the good key and certificate.
func FuzzCheck(f *testing.F) {
	ca := fixed("Vault", vault.Options{})
	good := of(ca, "10.0.0.1", "2001:db8::1")
	other := of(fixed("Vault", vault.Options{}), "10.0.0.1", "2001:db8::1")
	f.Add(good.Key, good.Certificate, good.CA)
	f.Add(other.Key, good.Certificate, good.CA)
	f.Add(good.Key, other.Certificate, good.CA)
	f.Add(good.Key, good.Certificate, other.CA)
	f.Add([]byte{}, []byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"), []byte("\x00"))
	f.Fuzz(func(t *testing.T, key, certificate, authorities []byte) {
		c := tls.Credentials{Key: key, Certificate: certificate, CA: authorities}
		info, problem := tls.Check(c, unit, issued)
		if problem.IsZero() {
			require.Len(t, info.Issuer, 64)
			require.Contains(t, info.Authorities, info.Issuer)
			return
		}
		text := problem.String()
		require.Less(t, len(text), 4000)
		for _, r := range text {
			require.True(t, unicode.IsPrint(r), "%q", text)
		}
		if len(key) > 100 {
			require.False(t, bytes.Contains([]byte(text), key[40:60]), "part of the key is in the text")
		}
	})
}

func TestBundle(t *testing.T) {
	t.Parallel()
	a, b := fixed("Vault", vault.Options{}), fixed("Vault", vault.Options{Chain: true})
	brief := fixed("Brief", vault.Options{CATTL: time.Hour})
	pems := func(parts ...string) string { return strings.Join(parts, "\n") + "\n" }
	for name, tt := range map[string]struct {
		now   time.Time
		parts []string
		want  string
	}{
		"nothing":              {issued, nil, ""},
		"nothing but blanks":   {issued, []string{"", "\n"}, ""},
		"one":                  {issued, []string{a.PEM()}, pems(a.PEM())},
		"without a newline":    {issued, []string{a.PEM(), b.PEM(), b.ChainPEM()}, pems(a.PEM(), b.PEM(), b.ChainPEM())},
		"in the order given":   {issued, []string{b.ChainPEM() + "\n" + a.PEM()}, pems(b.ChainPEM(), a.PEM())},
		"each once":            {issued, []string{a.PEM() + "\n" + a.PEM(), b.PEM(), a.PEM()}, pems(a.PEM(), b.PEM())},
		"with text":            {issued, []string{"Data:\n" + a.PEM() + "\n\n# old\n" + b.PEM()}, pems(a.PEM(), b.PEM())},
		"authorities only":     {issued, []string{a.PEM(), string(of(a).Certificate)}, pems(a.PEM())},
		"brief":                {issued.Add(time.Hour), []string{brief.PEM(), a.PEM()}, pems(brief.PEM(), a.PEM())},
		"without what expired": {issued.Add(time.Hour + 1), []string{brief.PEM(), a.PEM()}, pems(a.PEM())},
		"all expired":          {issued.AddDate(20, 0, 0), []string{brief.PEM(), a.PEM()}, ""},
	} {
		var parts [][]byte
		for _, p := range tt.parts {
			parts = append(parts, []byte(p))
		}
		got, err := tls.Bundle(tt.now, parts...)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, string(got), name)
	}
}

func TestBundle_malformed_part_is_refused(t *testing.T) {
	t.Parallel()
	ca := fixed("Vault", vault.Options{})
	for name, part := range map[string]string{
		"text": "no certificate", "cut off": ca.PEM()[:100], "one good, one cut off": ca.PEM() + "\n" + ca.PEM()[:100],
		"a key": string(of(ca).Key), "damage": strings.Replace(ca.PEM(), "M", "N", 1),
	} {
		got, err := tls.Bundle(issued, []byte(ca.PEM()), []byte(part))
		require.Error(t, err, name)
		assert.Nil(t, got)
	}
}
