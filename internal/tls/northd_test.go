//go:build programs

package tls_test

import (
	stdtls "crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// ovn-northd checks the files each time that it wakes (update_ssl_config in northd/ovn-northd.c of OVN 23.03), so a
// new certificate or authority requires no restart. The test's server ends each connection after the handshake, which
// shows what ovn-northd presents and accepts.
func TestNorthd_loads_renewed_files(t *testing.T) {
	t.Parallel()
	first, second := vault.New("Vault Root"), vault.New("Vault Root")
	dir := t.TempDir()
	files := filesIn(dir)
	old := credentials(t, first, "127.0.0.2")
	write(t, files, old)

	host := loopbacktest.Network(t) + ".1"
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", host+":0")
	require.NoError(t, err)
	offered, fresh := credentials(t, first, host), credentials(t, second, host)
	own, newPair := keyPair(t, offered), keyPair(t, fresh)
	presented := make(chan *big.Int)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(offered.CA)
	roots.AppendCertsFromPEM(fresh.CA)
	change := make(chan struct{})
	config := &stdtls.Config{
		ClientAuth: stdtls.RequireAndVerifyClientCert, ClientCAs: roots,
		GetCertificate: func(*stdtls.ClientHelloInfo) (*stdtls.Certificate, error) {
			select {
			case <-change:
				return &newPair, nil
			default:
				return &own, nil
			}
		},
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		accept(listener, config, presented)
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})

	database := "ssl:" + listener.Addr().String()
	ovsdbtest.Run(t, nil, "ovn-northd", append(options(files), "-vconsole:off", "--log-file="+filepath.Join(dir, "log"),
		"--unixctl="+filepath.Join(dir, "ctl"), "--ovnnb-db="+database, "--ovnsb-db="+database)...)

	assert.Equal(t, serial(t, old), next(t, presented))
	renewed := credentials(t, first, "127.0.0.2", second)
	write(t, files, renewed)
	awaitSerial(t, presented, serial(t, renewed))

	close(change) // northd trusts the second authority from now on
	moved := credentials(t, second, "127.0.0.2", first)
	write(t, files, moved)
	awaitSerial(t, presented, serial(t, moved))
}

// accept sends the serial number of each client's certificate to presented until the listener is closed.
func accept(listener net.Listener, config *stdtls.Config, presented chan<- *big.Int) {
	defer close(presented)
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		_ = conn.SetDeadline(time.Now().Add(patience))
		secured := stdtls.Server(conn, config)
		// A successful read shows that the client accepts our certificate: with TLS 1.3 the client may do so after our
		// handshake.
		if _, err := secured.Read(make([]byte, 1)); err == nil {
			select {
			case presented <- secured.ConnectionState().PeerCertificates[0].SerialNumber:
			case <-time.After(patience):
			}
		}
		_ = conn.Close()
	}
}

func next(t *testing.T, presented <-chan *big.Int) *big.Int {
	t.Helper()
	select {
	case serial := <-presented:
		return serial
	case <-time.After(patience):
		require.Fail(t, "ovn-northd does not connect")
		return nil
	}
}

// awaitSerial waits for a connection with the certificate. A connection that has already begun may present the old
// one.
func awaitSerial(t *testing.T, presented <-chan *big.Int, want *big.Int) {
	t.Helper()
	for range 6 {
		if next(t, presented).Cmp(want) == 0 {
			return
		}
	}
	require.Fail(t, "ovn-northd keeps its old certificate")
}
