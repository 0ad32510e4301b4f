//go:build programs

package tls_test

import (
	"context"
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// What [tls.Check] lets pass and refuses is what real programs take and refuse:
// one ovsdb-server and one ovsdb-client that have the same credentials.
func TestCheckAgreesWithRealServers(t *testing.T) {
	t.Parallel()
	root, chain, other := vault.New("Vault"), vault.NewWith("Vault", vault.Options{Chain: true}), vault.New("Vault")
	now := time.Now()
	expired, key := root.Issue("juju-0", nil, now.Add(-2*time.Hour), now.Add(-time.Hour))
	late, lateKey := root.Issue("juju-0", nil, now.Add(time.Hour), now.Add(2*time.Hour))
	withChain := credentials(t, chain, "127.0.0.1")
	withChain.Certificate = append(withChain.Certificate, []byte("\n"+chain.ChainPEM())...)
	withChain.CA = []byte(chain.PEM())
	tests := map[string]struct {
		credentials tls.Credentials
		good        bool
	}{
		"root":                          {credentials(t, root, "127.0.0.1"), true},
		"chain":                         {credentials(t, chain, "127.0.0.1"), true},
		"two of one name":               {credentials(t, root, "127.0.0.1", other, chain), true},
		"two of one name, reversed":     {trusting(credentials(t, root, "127.0.0.1"), other.PEM(), root.PEM()), true},
		"RSA":                           {credentials(t, vault.NewWith("Vault", vault.Options{RSA: true}), "127.0.0.1"), true},
		"another root of the name":      {trusting(credentials(t, root, "127.0.0.1"), other.PEM()), false},
		"intermediate without its root": {trusting(credentials(t, chain, "127.0.0.1"), chain.ChainPEM()), false},
		"root without the intermediate": {trusting(credentials(t, chain, "127.0.0.1"), chain.PEM()), false},
		"intermediate beside the leaf":  {withChain, false},
		"expired":                       {tls.Credentials{Key: []byte(key), Certificate: []byte(expired), CA: []byte(root.PEM())}, false},
		"not yet valid":                 {tls.Credentials{Key: []byte(lateKey), Certificate: []byte(late), CA: []byte(root.PEM())}, false},
		"for servers only":              {leafFor(t, x509.ExtKeyUsageServerAuth), false},
		"for clients only":              {leafFor(t, x509.ExtKeyUsageClientAuth), false},
		"for both":                      {leafFor(t, x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := alone(t, loopbacktest.Network(t)+".1", tt.credentials)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			_, refusal := run.Exec{}.Run(ctx, run.Command{Name: "ovsdb-client", Args: []string{
				"-t", "10", "-p", s.files.Key, "-c", s.files.Certificate, "-C", s.files.CA, "list-dbs", "ssl:" + s.client(),
			}})
			_, err := tls.Check(tt.credentials, tls.Names{}, time.Now())
			if tt.good {
				require.NoError(t, refusal)
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, refusal, "SSL")
				require.Error(t, err)
			}
		})
	}
}
