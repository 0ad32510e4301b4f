//go:build programs

package tls_test

import (
	"context"
	stdtls "crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/tls"
)

const schema = "/usr/share/ovn/ovn-nb.ovsschema"

// server is a real ovsdb-server of the Northbound database with TLS, between
// servers and to clients.
type server struct {
	files     tls.Files
	dir, host string
	process   *os.Process
	stop      func()
}

func newServer(t *testing.T, host string, c tls.Credentials) *server {
	t.Helper()
	dir := t.TempDir()
	s := &server{files: filesIn(dir), dir: dir, host: host}
	write(t, s.files, c)
	return s
}

func (s *server) database() string { return filepath.Join(s.dir, "db") }
func (s *server) raft() string     { return "ssl:" + s.host + ":6643" }
func (s *server) client() string   { return s.host + ":6641" }

func (s *server) standalone(t *testing.T) *server {
	t.Helper()
	command(t, "ovsdb-tool", "create", s.database(), schema)
	return s
}

// start runs the server until the test ends, or stop.
func (s *server) start(t *testing.T) *server {
	t.Helper()
	s.process, s.stop = process(t, "ovsdb-server", "-vconsole:off", "--log-file="+filepath.Join(s.dir, "log"), "--unixctl="+s.ctl(),
		"--remote=pssl:6641:"+s.host, "-p", s.files.Key, "-c", s.files.Certificate, "-C", s.files.CA, s.database())
	require.Eventually(t, func() bool {
		_, err := s.appctl(t, "version")
		return err == nil
	}, patience, 5*time.Millisecond, "ovsdb-server does not start")
	return s
}

func (s *server) ctl() string { return filepath.Join(s.dir, "ctl") }

func (s *server) appctl(t *testing.T, args ...string) (string, error) {
	t.Helper()
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "ovs-appctl", Args: append([]string{"-T", "2", "-t", s.ctl()}, args...)})
	return string(out), err
}

func (s *server) status(t *testing.T) raft.Status {
	t.Helper()
	text, err := s.appctl(t, "cluster/status", string(ovndb.NB))
	require.NoError(t, err)
	status, err := raft.Parse(text)
	require.NoError(t, err)
	return status
}

// pair starts two members of one cluster.
func pair(t *testing.T, first, second tls.Credentials) (a, b *server) {
	t.Helper()
	net := loopbacktest.Network(t)
	a, b = newServer(t, net+".1", first), newServer(t, net+".2", second)
	command(t, "ovsdb-tool", "create-cluster", a.database(), schema, a.raft())
	command(t, "ovsdb-tool", "join-cluster", b.database(), string(ovndb.NB), b.raft(), a.raft())
	a.start(t)
	b.start(t)
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
	s := m.status(t)
	up := map[bool]bool{} // incoming or not
	for _, c := range s.Connections {
		up[c.Incoming] = up[c.Incoming] || c.Up
	}
	return s.State == raft.ClusterMember && s.HasLeader() && len(s.Servers) == 2 && up[true] && up[false]
}

// process runs a program until the test ends, or the function is called.
func process(t *testing.T, name string, args ...string) (p *os.Process, stop func()) {
	t.Helper()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...) // what the test cleans up may need it
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // killed, always
	}()
	stop = func() {
		_ = cmd.Process.Kill()
		<-ended
	}
	t.Cleanup(stop)
	return cmd.Process, stop
}

// command runs a program that must succeed.
func command(t *testing.T, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, err := run.Exec{}.Run(ctx, run.Command{Name: name, Args: args})
	require.NoError(t, err)
}

// client is one connection to a server.
type client struct {
	*stdtls.Conn
	answers *json.Decoder
}

// dial connects with credentials to a server. It fails where either of the two
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
