//go:build programs

package tls_test

import (
	stdtls "crypto/tls"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

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
