package tls_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

func TestBundleHasEachAuthorityOnceInOrder(t *testing.T) {
	t.Parallel()
	a, b := fixed("Vault", vault.Options{}), fixed("Vault", vault.Options{Chain: true})
	brief := fixed("Brief", vault.Options{CATTL: time.Hour})
	lines := func(parts ...string) string { return strings.Join(parts, "\n") + "\n" }
	tests := map[string]struct {
		now   time.Time
		parts []string
		want  string
	}{
		"nothing":              {issued, nil, ""},
		"nothing but blanks":   {issued, []string{"", "\n"}, ""},
		"one":                  {issued, []string{a.PEM()}, lines(a.PEM())},
		"without a newline":    {issued, []string{a.PEM(), b.PEM(), b.ChainPEM()}, lines(a.PEM(), b.PEM(), b.ChainPEM())},
		"in the order given":   {issued, []string{b.ChainPEM() + "\n" + b.PEM(), a.PEM()}, lines(b.ChainPEM(), b.PEM(), a.PEM())},
		"each once":            {issued, []string{a.PEM() + "\n" + a.PEM(), b.PEM(), a.PEM()}, lines(a.PEM(), b.PEM())},
		"with text":            {issued, []string{"Certificate:\n    Data:\n" + a.PEM() + "\n\n# old\n" + b.PEM()}, lines(a.PEM(), b.PEM())},
		"authorities only":     {issued, []string{a.PEM(), string(of(a).Certificate)}, lines(a.PEM())},
		"brief":                {issued.Add(time.Hour), []string{brief.PEM(), a.PEM()}, lines(brief.PEM(), a.PEM())},
		"without what expired": {issued.Add(time.Hour + 1), []string{brief.PEM(), a.PEM()}, lines(a.PEM())},
		"all expired":          {issued.AddDate(20, 0, 0), []string{brief.PEM(), a.PEM()}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var parts [][]byte
			for _, p := range tt.parts {
				parts = append(parts, []byte(p))
			}
			got, err := tls.Bundle(tt.now, parts...)
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(got))
		})
	}
}

func TestBundleRefusesWhatCannotBeRead(t *testing.T) {
	t.Parallel()
	ca := fixed("Vault", vault.Options{})
	for name, part := range map[string]string{
		"text": "no certificate", "cut off": ca.PEM()[:100], "one good, one cut off": ca.PEM() + "\n" + ca.PEM()[:100],
		"a key": string(of(ca).Key), "damage": strings.Replace(ca.PEM(), "M", "N", 1),
	} {
		got, err := tls.Bundle(issued, []byte(ca.PEM()), []byte(part))
		require.ErrorContains(t, err, "cannot bundle CA certificates: it ", name)
		assert.Nil(t, got)
	}
}

func TestFingerprintsAreOfTheBytes(t *testing.T) {
	t.Parallel()
	a, b := fixed("Vault", vault.Options{}), fixed("Vault", vault.Options{})
	var want []string
	for _, ca := range []*vault.CA{a, b} {
		block, _ := pem.Decode([]byte(ca.PEM()))
		sum := sha256.Sum256(block.Bytes)
		want = append(want, hex.EncodeToString(sum[:]))
	}
	got, err := tls.Fingerprints([]byte(a.PEM() + "\n" + b.PEM()))
	require.NoError(t, err)
	assert.Equal(t, want, got)
	_, err = tls.Fingerprints([]byte("none"))
	require.EqualError(t, err, "cannot read certificates: it has no PEM block")
}
