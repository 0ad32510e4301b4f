package scenario

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines/client"
)

// connectClients relates the application to a CMS and to chassis, and starts the writer.
func (s *story) connectClients(ctx context.Context, t *testing.T) {
	require.NoError(t, s.Relate(ctx, "ovsdb", "ovn-chassis"))
	require.NoError(t, s.Relate(ctx, "ovsdb-cms", "neutron-api-plugin-ovn"))
	var err error
	s.client, err = s.newClient()
	require.NoError(t, err)
	s.settle(ctx, t)

	t.Run("the firewall rejects what isn't related", func(t *testing.T) {
		_, err := s.client.NB(ctx, "--timeout=3", "show")
		assert.Error(t, err)
	})
	address := map[string]string{"cms-client-bound-address": published(s.client.Machine)}
	require.NoError(t, s.RemoteSet(ctx, "ovsdb-cms", "neutron-api-plugin-ovn/0", address))
	s.settle(ctx, t)
	t.Run("a CMS writes to both databases", func(t *testing.T) {
		_, err := s.client.NB(ctx, "--wait=sb", "ls-add", "net")
		require.NoError(t, err)
		out, err := s.client.SB(ctx, "--bare", "--columns=external_ids", "list", "Datapath_Binding")
		require.NoError(t, err)
		assert.Contains(t, out, "name=net", "ovn-northd has translated it")
	})
	t.Run("a chassis registers, and may write what is its own only", func(t *testing.T) {
		require.NoError(t, s.client.BecomeChassis(ctx))
		chassisRegisters(ctx, t, s.client)
		accessIsControlled(ctx, t, s.client)
	})
	require.NoError(t, s.client.StartWriter(ctx))
}

// followRelations updates the client with what the units have published, once every living unit has.
func (s *story) followRelations(ctx context.Context) error {
	alive, err := s.Alive(ctx)
	if err != nil {
		return err
	}
	chassis, err := s.Data(ctx, "ovsdb")
	if err != nil {
		return err
	}
	cms, err := s.Data(ctx, "ovsdb-cms")
	if err != nil {
		return err
	}
	units := map[string]map[string]string{}
	for _, unit := range alive {
		want := published(s.Machines[unit])
		if chassis[unit]["bound-address"] != want || cms[unit]["bound-address"] != want {
			return fmt.Errorf("%s has published %v and %v", unit, chassis[unit], cms[unit])
		}
		units[unit] = cms[unit]
	}
	return s.client.Follow(ctx, units)
}

// published returns a machine's address as relations have it: a JSON string.
func published(m *machines.Machine) string { return fmt.Sprintf("%q", m.Address()) }

// writes waits until the writer has been served a while.
func (s *story) writes(ctx context.Context, t *testing.T) {
	t.Helper()
	require.NoError(t, s.serves(ctx))
}

func (s *story) serves(ctx context.Context) error {
	if s.client == nil {
		return nil
	}
	before := s.client.Acknowledged()
	return await(ctx, 3*time.Minute, func() error {
		for db, now := range s.client.Acknowledged() {
			if len(now) < len(before[db])+4 {
				return fmt.Errorf("%s has acknowledged %d writes, %d before", db, len(now), len(before[db]))
			}
		}
		return nil
	})
}

// chassisRegisters waits until ovn-controller has connected and written its row.
func chassisRegisters(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	eventually(ctx, t, 3*time.Minute, func() error {
		out, err := c.SB(ctx, "--bare", "--columns=hostname", "find", "Chassis", "name="+c.Machine.Name())
		if err == nil && strings.TrimSpace(out) != c.Machine.Name() {
			err = fmt.Errorf("chassis %s isn't there, but %q", c.Machine.Name(), out)
		}
		return err
	})
}

// accessIsControlled requires that a chassis' certificate can write its own row only, and read.
func accessIsControlled(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	_, err := c.Chassis(ctx, "set", "Chassis", c.Machine.Name(), "external_ids:shown=yes")
	assert.NoError(t, err)
	_, err = c.Chassis(ctx, "--bare", "--columns=name", "list", "Chassis")
	assert.NoError(t, err)

	_, err = c.SB(ctx, "--may-exist", "chassis-add", "another", "geneve", "192.0.2.9")
	require.NoError(t, err)
	for name, command := range map[string][]string{
		"the row of another chassis": {"set", "Chassis", "another", "external_ids:shown=yes"},
		"a row for another chassis":  {"chassis-add", "third", "geneve", "192.0.2.10"},
		"SB_Global":                  {"set", "SB_Global", ".", "external_ids:shown=yes"},
		"the listeners":              {"create", "Connection", "target=punix\\:shown"},
		"an address set":             {"create", "Address_Set", "name=shown"},
	} {
		_, err := c.Chassis(ctx, command...)
		assert.ErrorContains(t, err, "permission error", name)
	}
	_, err = c.SB(ctx, "chassis-del", "another")
	assert.NoError(t, err)
}

// nothingIsLost ends the writing and reads everything back.
func nothingIsLost(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	require.NoError(t, c.StopWriter(ctx))
	writes, err := c.Verify(ctx)
	require.NoError(t, err)
	for db, w := range writes {
		t.Logf("%s: %d writes acknowledged, %d failed, longest gap %v", db, w.Acknowledged, w.Unacknowledged, w.LongestGap)
		assert.Positive(t, w.Acknowledged, db)
		assert.Zero(t, w.Lost, db)
	}
}

// renewCertificates renews all certificates, then replaces the CA: no server restarts, and connections stay.
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

// certificatesChange waits until every unit serves another certificate than before, and all is well.
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

// served returns the serial numbers of the certificates that clients get, by address and port.
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

// servers returns the processes of the databases, by unit.
func (s *story) servers(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	return s.each(ctx, t, "systemctl show -P MainPID ovn-ovsdb-server-nb ovn-ovsdb-server-sb")
}
