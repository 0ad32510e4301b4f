package tls_test

import (
	"bytes"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
			_, err := tls.Check(c, unit, issued)
			var p *tls.Problem
			require.ErrorAs(t, err, &p, "%s, cut off after %d bytes", name, n)
			assert.Contains(t, []tls.Kind{tls.Malformed, tls.Untrusted}, p.Kind)
		}
	}
}

// FuzzCheck shows that Check never panics, that its texts are one bounded line, and that it accepts no other key or
// certificate than the good one.
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
		info, err := tls.Check(c, unit, issued)
		if err == nil {
			require.Len(t, info.Issuer, 64)
			require.Contains(t, info.Authorities, info.Issuer)
			return
		}
		var p *tls.Problem
		require.ErrorAs(t, err, &p)
		require.NotEmpty(t, p.Text)
		require.Less(t, len(p.Text), 4000)
		for _, r := range p.Text {
			require.True(t, unicode.IsPrint(r), "%q", p.Text)
		}
		if len(key) > 100 {
			require.False(t, bytes.Contains([]byte(p.Text), key[40:60]), "part of the key is in the text")
		}
	})
}

// FuzzBundle shows that a bundle can be read, and that bundling it again changes nothing.
func FuzzBundle(f *testing.F) {
	ca, chain := fixed("Vault", vault.Options{}), fixed("Vault", vault.Options{Chain: true})
	f.Add([]byte(ca.PEM()), []byte(chain.PEM()+"\n"+chain.ChainPEM()))
	f.Add([]byte(ca.PEM()+"\n"+ca.PEM()), []byte{})
	f.Add([]byte("-----BEGIN CERTIFICATE-----"), of(ca).Certificate)
	f.Fuzz(func(t *testing.T, a, b []byte) {
		bundle, err := tls.Bundle(issued, a, b)
		if err != nil {
			require.Empty(t, bundle)
			return
		}
		again, err := tls.Bundle(issued, bundle, bundle)
		require.NoError(t, err)
		require.Equal(t, string(bundle), string(again))
		if len(bundle) > 0 {
			ids, err := tls.Fingerprints(bundle)
			require.NoError(t, err)
			require.NotEmpty(t, ids)
		}
	})
}
