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

func TestAnswerHasTheKeysOfTheCharm(t *testing.T) {
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

func TestTheRequestSaysWhoAsks(t *testing.T) {
	t.Parallel()
	ca := authority(vault.Options{})
	got, err := ca.Answer("remote-0a1b/0", asked("[]"))
	require.NoError(t, err)
	assert.Contains(t, got, "ovn-central_0.server.cert")
	bag := asked("[]")
	delete(bag, "unit_name")
	got, err = ca.Answer("remote-0a1b/0", bag)
	require.NoError(t, err)
	assert.Contains(t, got, "remote-0a1b_0.server.cert")
}

func TestCertificatesAreForServersAndClients(t *testing.T) {
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

func TestAnswerStaysUntilTheRequestChanges(t *testing.T) {
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

// The keys of the first request don't name the common name: a unit that goes back
// to an earlier one keeps what was issued for the later one.
func TestAnswerToAnEarlierNameIsTheLatersCertificate(t *testing.T) {
	t.Parallel()
	ca := authority(vault.Options{})
	name := func(cn string) string {
		bag := asked(`["10.0.0.1"]`)
		bag["common_name"] = cn
		return parse(t, answer(t, ca, bag)["ovn-central_0.server.cert"]).Subject.CommonName
	}
	assert.Equal(t, "a", name("a"))
	assert.Equal(t, "b", name("b"))
	assert.Equal(t, "b", name("a"))
}

func TestUnitsHaveCertificatesOfTheirOwn(t *testing.T) {
	t.Parallel()
	ca := authority(vault.Options{})
	own, global := map[string]bool{}, map[string]bool{}
	for _, unit := range []string{"ovn-central_0", "ovn-central_1", "ovn-central_2"} {
		bag := asked("[]")
		bag["unit_name"] = unit
		got := answer(t, ca, bag)
		own[got[unit+".server.cert"]], global[got["client.cert"]] = true, true
	}
	assert.Len(t, own, 3)
	assert.Len(t, global, 1, "all clients have one certificate")
}

func TestRequestsThatVaultRefusesAreNotAnswered(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]map[string]string{
		"no JSON":       {"sans": "10.0.0.1"},
		"brackets":      {"sans": `["[2001:db8::1]"]`},
		"an empty name": {"sans": `[""]`},
		"a port":        {"sans": `["10.0.0.1:6641"]`},
		"quotes":        {"common_name": `"juju-0"`},
	} {
		bag := asked("[]")
		maps.Copy(bag, change)
		got, err := authority(vault.Options{}).Answer("ovn-central/0", bag)
		require.ErrorContains(t, err, "cannot answer ovn-central_0: ", name)
		assert.Nil(t, got)
	}
}

func TestTTLsDecideHowLongCertificatesLast(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		options  vault.Options
		leaf, ca time.Duration
	}{
		"defaults": {vault.Options{}, 8759 * time.Hour, 87599 * time.Hour},
		"short":    {vault.Options{TTL: time.Minute, CATTL: time.Hour, Chain: true}, time.Minute, time.Hour},
		"expired":  {vault.Options{TTL: -time.Minute}, -time.Minute, 87599 * time.Hour},
	} {
		got := answer(t, authority(tt.options), asked("[]"))
		leaf, ca := parse(t, got["ovn-central_0.server.cert"]), parse(t, got["ca"])
		assert.Equal(t, now.Add(tt.leaf), leaf.NotAfter, name)
		assert.True(t, leaf.NotBefore.Before(leaf.NotAfter), name)
		assert.Equal(t, now.Add(tt.ca), ca.NotAfter, name)
		if tt.options.Chain {
			assert.Equal(t, now.Add(tt.ca), parse(t, got["chain"]).NotAfter, name)
		}
	}
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
