//go:build programs

package tls_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	stdtls "crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
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

// server is a real ovsdb-server of the Northbound database that uses TLS for members and clients.
type server struct {
	*ovsdbtest.Server
	files tls.Files
	host  string
}

func newServer(t *testing.T, host string, c tls.Credentials) *server {
	t.Helper()
	s := &server{ovsdbtest.New(t, ovndb.NB, host), filesIn(t.TempDir()), host}
	s.Address = "ssl:" + host + ":6643"
	s.Options = append(options(s.files), ovsdbtest.Remote("ssl:"+s.client()))
	write(t, s.files, c)
	return s
}

func (s *server) client() string { return s.host + ":6641" }

// alone starts a server of a standalone database.
func alone(t *testing.T, host string, c tls.Credentials) *server {
	t.Helper()
	s := newServer(t, host, c)
	s.Standalone(t).Start(t)
	return s
}

// pair starts the two members of a cluster.
func pair(t *testing.T, first, second tls.Credentials) (a, b *server) {
	t.Helper()
	net := loopbacktest.Network(t)
	a, b = newServer(t, net+".1", first), newServer(t, net+".2", second)
	ovsdbtest.Form(t, a.Server, b.Server)
	awaitConnected(t, a, b)
	return a, b
}

// awaitConnected waits until each member has a connection to the other, and one from it.
func awaitConnected(t *testing.T, members ...*server) {
	t.Helper()
	for _, m := range members {
		require.Eventually(t, func() bool { return connected(t, m) }, patience, 20*time.Millisecond, m.host)
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

// dial connects to a server with credentials. It fails if either side does not trust the other.
func dial(t *testing.T, s *server, c tls.Credentials) (*client, error) {
	t.Helper()
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(c.CA))
	dialer := stdtls.Dialer{
		NetDialer: &net.Dialer{Timeout: patience},
		Config: &stdtls.Config{
			Certificates: []stdtls.Certificate{keyPair(t, c)}, RootCAs: roots, ServerName: application,
		},
	}
	conn, err := dialer.DialContext(t.Context(), "tcp", s.client())
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = conn.Close() })
	opened := &client{conn.(*stdtls.Conn), json.NewDecoder(conn)}
	// With TLS 1.3, only this call shows the client that the server refused it.
	_, err = opened.call("echo")
	return opened, err
}

// call makes one request over the connection.
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

// served returns the serial number of the certificate that the server presents to a new connection.
func served(t *testing.T, s *server, c tls.Credentials) *big.Int {
	t.Helper()
	opened, err := dial(t, s, c)
	require.NoError(t, err)
	defer opened.Close()
	return opened.ConnectionState().PeerCertificates[0].SerialNumber
}

// awaitServed waits until the server presents the certificate to a new connection. A server that was awake while the
// files were written may accept one more connection before it checks them again.
func awaitServed(t *testing.T, s *server, c, want tls.Credentials) {
	t.Helper()
	number := serial(t, want)
	require.Eventually(t, func() bool { return served(t, s, c).Cmp(number) == 0 }, patience, 10*time.Millisecond)
}

// selfSigned returns a self-signed certificate for these uses.
func selfSigned(t *testing.T, uses ...x509.ExtKeyUsage) tls.Credentials {
	t.Helper()
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		BasicConstraintsValid: true, IsCA: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: uses, Subject: pkix.Name{CommonName: "root"},
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return tls.Credentials{
		Key: pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), Certificate: certificate, CA: certificate,
	}
}

// Check accepts exactly the credentials that an ovsdb-server and an ovsdb-client accept.
func TestCheck_agrees_with_servers(t *testing.T) {
	t.Parallel()
	root, chain, other := vault.New("Vault"), vault.NewWith("Vault", vault.Options{Chain: true}), vault.New("Vault")
	now := time.Now()
	issued := func(notBefore, notAfter time.Time) tls.Credentials {
		certificate, key := root.Issue("juju-0", nil, notBefore, notAfter)
		return tls.Credentials{Key: []byte(key), Certificate: []byte(certificate), CA: []byte(root.PEM())}
	}
	good, chained := credentials(t, root, "127.0.0.1"), credentials(t, chain, "127.0.0.1")
	rsa := credentials(t, vault.NewWith("Vault", vault.Options{RSA: true}), "127.0.0.1")
	inBoth := presenting(trusting(chained, chain.PEM()), string(chained.Certificate), chain.ChainPEM())
	for name, tt := range map[string]struct {
		credentials tls.Credentials
		good        bool
	}{
		"root":                    {good, true},
		"chain":                   {chained, true},
		"two_of_one_name":         {credentials(t, root, "127.0.0.1", other, chain), true},
		"two_of_one_name_reverse": {trusting(good, other.PEM(), root.PEM()), true},
		"RSA":                     {rsa, true},
		"other_root_of_the_name":  {trusting(good, other.PEM()), false},
		"intermediate_only":       {trusting(chained, chain.ChainPEM()), false},
		"root_only":               {trusting(chained, chain.PEM()), false},
		"intermediate_with_leaf":  {inBoth, false},
		"expired":                 {issued(now.Add(-2*time.Hour), now.Add(-time.Hour)), false},
		"not_yet_valid":           {issued(now.Add(time.Hour), now.Add(2*time.Hour)), false},
		"for_servers":             {selfSigned(t, x509.ExtKeyUsageServerAuth), false},
		"for_clients":             {selfSigned(t, x509.ExtKeyUsageClientAuth), false},
		"for_both":                {selfSigned(t, x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := alone(t, loopbacktest.Network(t)+".1", tt.credentials)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			args := append(options(s.files), "-t", "10", "list-dbs", "ssl:"+s.client())
			_, refusal := run.Exec{}.Run(ctx, run.Command{Name: "ovsdb-client", Args: args})
			_, problem := tls.Check(tt.credentials, nil, time.Now())
			if tt.good {
				require.NoError(t, refusal)
				require.Empty(t, problem)
			} else {
				require.ErrorContains(t, refusal, "SSL")
				require.NotEmpty(t, problem)
			}
		})
	}
}

// ovsdb-server permits TLS 1.0 and 1.1 by default (ovsdb-server(1), --ssl-protocols); the machine's OpenSSL does not.
func TestServer_TLS_versions(t *testing.T) {
	t.Parallel()
	ca := vault.New("Vault")
	host := loopbacktest.Network(t) + ".1"
	s := alone(t, host, credentials(t, ca, host))
	own := keyPair(t, credentials(t, ca, host))
	for version, accepted := range map[uint16]bool{
		stdtls.VersionTLS10: false, stdtls.VersionTLS11: false, stdtls.VersionTLS12: true, stdtls.VersionTLS13: true,
	} {
		dialer := stdtls.Dialer{NetDialer: &net.Dialer{Timeout: patience}, Config: &stdtls.Config{
			Certificates: []stdtls.Certificate{own}, MinVersion: version, MaxVersion: version,
			InsecureSkipVerify: true, //nolint:gosec // only the version matters
		}}
		conn, err := dialer.DialContext(t.Context(), "tcp", s.client())
		assert.Equal(t, accepted, err == nil, stdtls.VersionName(version))
		if err == nil {
			require.NoError(t, conn.Close())
		}
	}
}
