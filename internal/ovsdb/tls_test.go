//go:build programs

package ovsdb_test

import (
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// secure starts the only member of a cluster that uses TLS for servers and clients.
func secure(t *testing.T, d ovndb.Database, c ovndb.Credentials) *server {
	t.Helper()
	s := ovsdbtest.New(t, d, loopbacktest.Network(t)+".1")
	s.Address = "ssl" + s.Address[len("tcp"):]
	return listening(s, options(c), endpointsOf(s)...).Create(t).Start(t)
}

func askWith(t *testing.T, c ovndb.Credentials, s *server, endpoints ...string) (ovsdb.ServerState, error) {
	t.Helper()
	return (&ovsdb.Dialer{Credentials: c}).Server(within(t, 2*time.Second), s.Database, endpoints...)
}

// trusting returns own credentials with the CA of others.
func trusting(own, others ovndb.Credentials) ovndb.Credentials {
	own.CA = others.CA
	return own
}

func TestDialer_TLS(t *testing.T) {
	t.Parallel()
	ca, other := vault.New("root"), vault.New("root")
	chain := vault.NewWith("root", vault.Options{Chain: true})
	ours, theirs := issue(t, ca, "client", time.Hour), issue(t, other, "client", time.Hour)
	for name, test := range map[string]struct {
		server, client ovndb.Credentials
		err            any
	}{
		"same_root":           {issue(t, ca, "server", time.Hour), ours, nil},
		"same_intermediate":   {issue(t, chain, "server", time.Hour), issue(t, chain, "client", time.Hour), nil},
		"any_name":            {issue(t, ca, "another-name", time.Hour), ours, nil},
		"other_CA":            {theirs, ours, new(x509.UnknownAuthorityError)},
		"other_CA_trusts_our": {trusting(theirs, ours), ours, new(x509.UnknownAuthorityError)},
		"expired":             {issue(t, ca, "server", -time.Hour), ours, new(x509.CertificateInvalidError)},
		"client_is_refused":   {issue(t, ca, "server", time.Hour), trusting(theirs, ours), new(error)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := secure(t, ovndb.SB, test.server)
			state, err := askWith(t, test.client, s, endpointsOf(s)...)
			if test.err != nil {
				require.ErrorAs(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, s.Status(t).Server, state.Server)
		})
	}
}

func TestDialer_unusable_credentials(t *testing.T) {
	t.Parallel()
	good := issue(t, vault.New("root"), "client", time.Hour)
	s := secure(t, ovndb.NB, good)
	empty := good.CA + ".empty"
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for path, c := range map[string]ovndb.Credentials{
		"/nonexistent/cert": {Key: good.Key, Certificate: "/nonexistent/cert", CA: good.CA},
		"PEM":               {Key: empty, Certificate: good.Certificate, CA: good.CA},
		"/nonexistent/ca":   {Key: good.Key, Certificate: good.Certificate, CA: "/nonexistent/ca"},
		empty:               {Key: good.Key, Certificate: good.Certificate, CA: empty},
	} {
		_, err := askWith(t, c, s, endpointsOf(s)...)
		require.ErrorContains(t, err, path)
	}
	plain := cluster(t, ovndb.NB, 1)[0]
	_, err := askWith(t, ovndb.Credentials{Key: "/nonexistent"}, plain, endpointsOf(plain)...)
	require.NoError(t, err, "TCP needs no credentials")
}

func TestDialer_IPv6(t *testing.T) {
	t.Parallel()
	own := issue(t, vault.New("root"), "server", time.Hour)
	for _, protocol := range []string{"tcp", "ssl"} {
		endpoint := protocol + ":[::1]:" + freePort(t)
		s := ovsdbtest.New(t, ovndb.SB, loopbacktest.Network(t)+".1")
		listening(s, options(own), endpoint).Create(t).Start(t)
		state, err := askWith(t, own, s, endpoint)
		require.NoError(t, err)
		assert.Equal(t, s.Status(t).Server, state.Server)
	}
}

// The error says which endpoint to use instead.
func TestDialer_wrong_protocol(t *testing.T) {
	t.Parallel()
	own := issue(t, vault.New("root"), "client", time.Hour)
	encrypted, plain := secure(t, ovndb.NB, own), cluster(t, ovndb.NB, 1)[0]
	for s, protocols := range map[*server][2]string{encrypted: {"ssl:", "tcp:"}, plain: {"tcp:", "ssl:"}} {
		good := endpointsOf(s)[0]
		_, err := askWith(t, own, s, protocols[1]+strings.TrimPrefix(good, protocols[0]))
		require.ErrorContains(t, err, "use "+good)
	}
	_, err := new(ovsdb.Dialer).Global(within(t, 2*time.Second), ovndb.SB, endpointsOf(plain)[0])
	_, why, _ := strings.Cut(err.Error(), "unknown database OVN_Southbound: ")
	assert.NotEmpty(t, why)
	_, err = askWith(t, own, plain, plain.Address)
	require.ErrorContains(t, err, "6641")
}

// issue writes a key, a certificate for the name, and the certificates of the CA to files.
func issue(t *testing.T, ca *vault.CA, name string, validFor time.Duration) ovndb.Credentials {
	t.Helper()
	certificate, key := ca.Issue(name, nil, time.Now().Add(-2*time.Hour), time.Now().Add(validFor))
	dir := t.TempDir()
	c := ovndb.Credentials{
		Key: filepath.Join(dir, "key"), Certificate: filepath.Join(dir, "certificate"), CA: filepath.Join(dir, "ca"),
	}
	for path, text := range map[string]string{
		c.Key: key, c.Certificate: certificate, c.CA: ca.PEM() + "\n" + ca.ChainPEM(),
	} {
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
	}
	return c
}

// options make a server use the credentials.
func options(c ovndb.Credentials) []string {
	return []string{"--private-key=" + c.Key, "--certificate=" + c.Certificate, "--ca-cert=" + c.CA}
}
