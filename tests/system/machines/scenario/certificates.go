package scenario

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// renewCertificates renews all certificates, and then replaces the CA: servers
// serve the new ones without a restart, and connections stay.
func (s *story) renewCertificates(ctx context.Context, t *testing.T) {
	servers := s.servers(ctx, t)
	before := s.served(ctx, t)
	s.CA.Reissue()
	require.NoError(t, s.Certify(ctx, true))
	s.certificatesChange(ctx, t, before)

	before = s.served(ctx, t)
	next := vault.New("vault after a ceremony")
	require.NoError(t, s.client.Trust(s.CA.PEM(), next.PEM()))
	require.NoError(t, s.ReplaceCA(ctx, next))
	s.certificatesChange(ctx, t, before)
	// The client's own certificate is of the CA that the units no longer trust.
	require.NoError(t, s.client.Certify(s.CA))
	require.NoError(t, s.client.FollowCertificate(ctx))
	s.writes(ctx, t)
	assert.Equal(t, servers, s.servers(ctx, t), "no server was restarted")
	s.agentsTrust(ctx, t)
	chassisRegisters(ctx, t, s.client)
}

// certificatesChange waits until every unit serves another certificate than
// before, and all is well.
func (s *story) certificatesChange(ctx context.Context, t *testing.T, before map[string]string) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		for target, serial := range s.served(ctx, t) {
			if serial == before[target] {
				return fmt.Errorf("%s serves the certificate %s still", target, serial)
			}
		}
		return nil
	})
	s.settle(ctx, t)
}

// served are the serial numbers of the certificates that clients get, by address
// and port.
func (s *story) served(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	serials := map[string]string{}
	for _, unit := range s.alive(ctx, t) {
		for _, port := range []string{"6641", "6642", "16642"} {
			target := net.JoinHostPort(s.Machines[unit].Address().String(), port)
			out, err := s.client.Machine.Shell(ctx,
				`timeout 5 openssl s_client -connect "$1" </dev/null 2>/dev/null | openssl x509 -noout -serial`, target)
			require.NoError(t, err, target)
			serials[target] = strings.TrimSpace(out)
		}
	}
	return serials
}

// servers are the processes of the databases, by unit.
func (s *story) servers(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	return s.each(ctx, t, "systemctl show -P MainPID ovn-ovsdb-server-nb ovn-ovsdb-server-sb")
}
