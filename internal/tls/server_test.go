//go:build programs

package tls_test

import (
	stdtls "crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
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
