package vault_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"maps"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

var now = time.Date(2026, 11, 16, 8, 0, 0, 0, time.UTC)

func authority(o vault.Options) *vault.CA {
	o.Now = func() time.Time { return now }
	return vault.NewWith("Vault Root", o)
}

func asked(sans string) map[string]string {
	return map[string]string{"unit_name": "ovn-central_0", "common_name": "juju-0", "sans": sans, "certificate_name": "any"}
}

func answer(t *testing.T, ca *vault.CA, bag map[string]string) map[string]string {
	t.Helper()
	got, err := ca.Answer("ovn-central/0", bag)
	require.NoError(t, err)
	return got
}

func parse(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	block, rest := pem.Decode([]byte(text))
	require.NotNil(t, block)
	require.Empty(t, rest)
	c, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return c
}

func TestVault_answer_has_keys_of_charm(t *testing.T) {
	t.Parallel()
	root := []string{"ca", "client.cert", "client.key"}
	tests := map[string]struct {
		options vault.Options
		bag     map[string]string
		want    []string
	}{
		"nothing asked": {vault.Options{}, nil, root},
		"one":           {vault.Options{}, asked("[]"), append(root, "ovn-central_0.server.cert", "ovn-central_0.server.key")},
		"with a chain":  {vault.Options{Chain: true}, nil, append(root, "chain")},
	}
	for name, tt := range tests {
		got := answer(t, authority(tt.options), tt.bag)
		assert.ElementsMatch(t, tt.want, slices.Collect(maps.Keys(got)), name)
	}
}

func TestVault_certificates_are_for_servers_and_clients(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]vault.Options{"root": {}, "chain": {Chain: true}, "RSA": {RSA: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ca := authority(o)
			got := answer(t, ca, asked(`["ovn.example.com", "10.0.0.1", "2001:db8::1"]`))
			leaf := parse(t, got["ovn-central_0.server.cert"])
			assert.Equal(t, "juju-0", leaf.Subject.CommonName)
			assert.Equal(t, []string{"juju-0", "ovn.example.com"}, leaf.DNSNames)
			require.Len(t, leaf.IPAddresses, 2)
			assert.True(t, leaf.IPAddresses[1].Equal(net.ParseIP("2001:db8::1")))
			assert.Equal(t, now.Add(vault.DefaultTTL), leaf.NotAfter)
			roots, between := x509.NewCertPool(), x509.NewCertPool()
			roots.AddCert(parse(t, got["ca"]))
			if o.Chain {
				between.AddCert(parse(t, got["chain"]))
				_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now})
				require.Error(t, err, "the chain is needed")
			}
			for _, use := range []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth} {
				_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, Intermediates: between, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{use}})
				require.NoError(t, err)
			}
			_, err := tls.X509KeyPair([]byte(got["ovn-central_0.server.cert"]), []byte(got["ovn-central_0.server.key"]))
			require.NoError(t, err)
			assert.Equal(t, o.RSA, strings.HasPrefix(got["ovn-central_0.server.key"], "-----BEGIN RSA PRIVATE KEY-----\n"))
			for _, v := range got {
				assert.False(t, strings.HasSuffix(v, "\n"), "as vault gives them")
			}
		})
	}
}

func TestVault_answer_stays_until_request_changes(t *testing.T) {
	t.Parallel()
	ca := authority(vault.Options{})
	first := answer(t, ca, asked(`["10.0.0.1", "10.0.0.2"]`))
	assert.Equal(t, first, answer(t, ca, asked(`["10.0.0.1", "10.0.0.2"]`)))
	assert.Equal(t, first, answer(t, ca, asked(`["10.0.0.2","10.0.0.1","10.0.0.1"]`)), "the order doesn't matter")

	second := answer(t, ca, asked(`["10.0.0.1"]`))
	assert.NotEqual(t, first["ovn-central_0.server.cert"], second["ovn-central_0.server.cert"])
	assert.NotEqual(t, first["ovn-central_0.server.key"], second["ovn-central_0.server.key"])
	ca.Reissue()
	third := answer(t, ca, asked(`["10.0.0.1"]`))
	assert.NotEqual(t, second["ovn-central_0.server.cert"], third["ovn-central_0.server.cert"])
	assert.Equal(t, first["ca"], third["ca"])
}

func TestRenewKeepsTheKey(t *testing.T) {
	t.Parallel()
	ca := authority(vault.Options{})
	got := answer(t, ca, asked(`["10.0.0.1"]`))
	old := parse(t, got["ovn-central_0.server.cert"])
	renewed := parse(t, string(ca.Renew([]byte(got["ovn-central_0.server.cert"]))))
	assert.Equal(t, old.PublicKey, renewed.PublicKey)
	assert.Equal(t, old.DNSNames, renewed.DNSNames)
	assert.NotEqual(t, old.SerialNumber, renewed.SerialNumber)
	require.NoError(t, renewed.CheckSignatureFrom(parse(t, ca.PEM())))
	assert.Panics(t, func() { ca.Renew([]byte("none")) })
}
