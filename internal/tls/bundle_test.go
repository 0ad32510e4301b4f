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

func TestFingerprints(t *testing.T) {
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
	require.Error(t, err)
}
