//go:build programs

package tls_test

import (
	"context"
	stdtls "crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// server is a real ovsdb-server of the Northbound database with TLS, between
// servers and to clients.
type server struct {
	*ovsdbtest.Server
	files tls.Files
	host  string
}

func newServer(t *testing.T, host string, c tls.Credentials) *server {
	t.Helper()
	s := &server{ovsdbtest.New(t, ovndb.NB, host), filesIn(t.TempDir()), host}
	s.Address = "ssl:" + host + ":6643"
	s.Options = []string{ovsdbtest.Remote("ssl:" + s.client()), "-p", s.files.Key, "-c", s.files.Certificate, "-C", s.files.CA}
	write(t, s.files, c)
	return s
}

func (s *server) client() string { return s.host + ":6641" }

// alone starts one whose database is not clustered.
func alone(t *testing.T, host string, c tls.Credentials) *server {
	t.Helper()
	s := newServer(t, host, c)
	s.Standalone(t).Start(t)
	return s
}

// pair starts two members of one cluster.
func pair(t *testing.T, first, second tls.Credentials) (a, b *server) {
	t.Helper()
	net := loopbacktest.Network(t)
	a, b = newServer(t, net+".1", first), newServer(t, net+".2", second)
	ovsdbtest.Form(t, a.Server, b.Server)
	awaitConnected(t, a, b)
	return a, b
}

// awaitConnected waits until each member has a connection to the other, and one
// from it, over which heartbeats come.
func awaitConnected(t *testing.T, members ...*server) {
	t.Helper()
	for _, m := range members {
		require.Eventually(t, func() bool { return connected(t, m) }, patience, 20*time.Millisecond, "%s is not connected", m.host)
	}
}

func connected(t *testing.T, m *server) bool {
	t.Helper()
	s := m.Status(t)
	up := map[bool]bool{} // incoming or not
	for _, c := range s.Connections {
		up[c.Incoming] = up[c.Incoming] || c.Up
	}
	return s.State == raft.ClusterMember && s.HasLeader() && len(s.Servers) == 2 && up[true] && up[false]
}

// client is one connection to a server.
type client struct {
	*stdtls.Conn
	answers *json.Decoder
}

// dial connects with credentials to a server. It fails if either of the two
// does not trust the other.
func dial(t *testing.T, s *server, c tls.Credentials) (*client, error) {
	t.Helper()
	own, err := stdtls.X509KeyPair(c.Certificate, c.Key)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(c.CA))
	dialer := stdtls.Dialer{
		NetDialer: &net.Dialer{Timeout: patience},
		Config:    &stdtls.Config{Certificates: []stdtls.Certificate{own}, RootCAs: roots, ServerName: application},
	}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.client())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	opened := &client{conn.(*stdtls.Conn), json.NewDecoder(conn)}
	// With TLS 1.3 a client learns only now that it was refused.
	_, err = opened.call("echo")
	return opened, err
}

// call is one request over the connection.
func (c *client) call(method string, params ...any) (result json.RawMessage, err error) {
	if params == nil {
		params = []any{}
	}
	_ = c.SetDeadline(time.Now().Add(patience))
	if err := json.NewEncoder(c).Encode(map[string]any{"id": 1, "method": method, "params": params}); err != nil {
		return nil, err
	}
	var answer struct {
		Result, Error json.RawMessage
	}
	if err := c.answers.Decode(&answer); err != nil {
		return nil, err
	}
	if len(answer.Error) > 0 && string(answer.Error) != "null" {
		return nil, fmt.Errorf("%s: %s", method, answer.Error)
	}
	return answer.Result, nil
}

// served is what the server presents to a new connection.
func served(t *testing.T, s *server, c tls.Credentials) *x509.Certificate {
	t.Helper()
	opened, err := dial(t, s, c)
	require.NoError(t, err)
	defer opened.Close()
	return opened.ConnectionState().PeerCertificates[0]
}

// awaitServed waits until the server presents the certificate to a new connection. A server that
// was awake while the files were written may accept one more before it looks at them again.
func awaitServed(t *testing.T, s *server, c, want tls.Credentials) {
	t.Helper()
	serial := leaf(t, want).SerialNumber
	require.Eventually(t, func() bool { return served(t, s, c).SerialNumber.Cmp(serial) == 0 }, patience, 10*time.Millisecond)
}

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

// ovsdb-server takes TLS 1.0 and 1.1 by default (ovsdb-server(1), --ssl-protocols), which
// the charm leaves as it is; the OpenSSL of the machine does not.
func TestServersSpeakNoTLSBefore1dot2(t *testing.T) {
	t.Parallel()
	ca := vault.New("Vault")
	host := loopbacktest.Network(t) + ".1"
	s := alone(t, host, credentials(t, ca, host))
	visitor := credentials(t, ca, host)
	own, err := stdtls.X509KeyPair(visitor.Certificate, visitor.Key)
	require.NoError(t, err)
	for version, takes := range map[uint16]bool{
		stdtls.VersionTLS10: false, stdtls.VersionTLS11: false, stdtls.VersionTLS12: true, stdtls.VersionTLS13: true,
	} {
		dialer := stdtls.Dialer{NetDialer: &net.Dialer{Timeout: patience}, Config: &stdtls.Config{
			Certificates: []stdtls.Certificate{own}, MinVersion: version, MaxVersion: version,
			InsecureSkipVerify: true, //nolint:gosec // the version is what is asked for
		}}
		conn, err := dialer.DialContext(t.Context(), "tcp", s.client())
		if !takes {
			assert.ErrorContains(t, err, "remote error", stdtls.VersionName(version))
			continue
		}
		require.NoError(t, err, stdtls.VersionName(version))
		assert.Equal(t, version, conn.(*stdtls.Conn).ConnectionState().Version)
		require.NoError(t, conn.Close())
	}
}
