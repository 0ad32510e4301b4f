package scenario

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines/juju"
)

// TestAdoption_on_machines refreshes from the Python charm under a writer: no server restarts, nothing is lost.
func TestAdoption_on_machines(t *testing.T) {
	charm := packedCharm(t)
	ctx, s := newStory(t, stubCharm(t, charm), machines.Options{})
	s.play(ctx, t, []part{{"the Python charm's cluster serves", s.deployPredecessor}})
	units := s.alive(ctx, t)

	before := s.legacy(ctx, t)
	require.NoError(t, s.Refresh(ctx, charm))
	s.settle(ctx, t)
	after := s.legacy(ctx, t)

	status, err := s.Status(ctx)
	require.NoError(t, err)
	for unit, u := range status.Units {
		refreshed := u.Hooks[len(before.hooks[unit]):]
		assert.Contains(t, refreshed, "upgrade-charm", unit)
		assert.NotContains(t, refreshed, "install", unit)
		assert.NotContains(t, refreshed, "start", unit)
	}
	assert.Equal(t, before.settings, after.settings, "leader settings, the clusters' IDs among them")
	assert.Equal(t, before.addresses, after.addresses, "bound-address, byte for byte")
	assert.Equal(t, before.servers, after.servers, "processes of the servers")
	assert.Equal(t, before.files, after.files, "databases")
	assert.Equal(t, before.connections, after.connections, "rows of Connection")
	assert.Equal(t, before.sources, after.sources, "sources of packages")
	assert.Subset(t, after.rules, before.rules, "rules of the firewall")
	s.writes(ctx, t)
	nothingIsLost(ctx, t, s.client)

	t.Run("access control holds once servers have restarted", func(t *testing.T) {
		// Before OVS 3.3.0 a server keeps the role that a listener had when it was made: the Python charm set it afterwards.
		for _, unit := range units {
			require.NoError(t, s.Machines[unit].Reboot(ctx))
			s.settle(ctx, t)
		}
		accessIsControlled(ctx, t, s.client)
	})
	t.Run("the adopted application grows and shrinks", func(t *testing.T) {
		require.NoError(t, s.Add(ctx, 1))
		s.settle(ctx, t)
		s.remove(ctx, t, units[0])
	})
}

// deployPredecessor sets up the machines, and the model with what the Python charm had published and set.
func (s *story) deployPredecessor(ctx context.Context, t *testing.T) {
	on, err := s.fleet.Boot(ctx, 3)
	require.NoError(t, err)
	require.NoError(t, s.Configure(ctx, s.life.Options))
	for _, m := range on {
		_, err := s.AddUnit(ctx, m)
		require.NoError(t, err)
	}
	units := s.alive(ctx, t)
	require.NoError(t, s.Relate(ctx, juju.Certificates, s.life.CA))
	require.NoError(t, s.Relate(ctx, "ovsdb", "ovn-chassis"))
	require.NoError(t, s.Relate(ctx, "ovsdb-cms", "neutron-api-plugin-ovn"))
	for _, unit := range units {
		require.NoError(t, s.StartAgent(ctx, unit))
	}
	_, err = s.Settled(ctx, convergence)
	require.NoError(t, err)

	predecessor{ca: s.CA, units: on}.layOut(ctx, t)
	settings := map[string]string{"ready": "True", "install_stamp": "2203"}
	for _, db := range databases {
		status, err := clusterStatus(ctx, on[0], db)
		require.NoError(t, err)
		settings[db.short+"_cid"] = string(status.Cluster)
	}
	require.NoError(t, s.LeaderSettings(ctx, settings))
	for _, unit := range units {
		address := map[string]string{"bound-address": published(s.Machines[unit])}
		for _, relation := range []string{juju.Peers, "ovsdb", "ovsdb-cms"} {
			require.NoError(t, s.SetData(ctx, relation, unit, address))
		}
	}

	s.client, err = s.newClient()
	require.NoError(t, err)
	own := s.client.Machine.Address().String()
	require.NoError(t, s.RemoteSet(ctx, "ovsdb-cms", "neutron-api-plugin-ovn/0", map[string]string{"cms-client-bound-address": published(s.client.Machine)}))
	each(ctx, t, on, func(ctx context.Context, m *machines.Machine) error {
		_, err := m.Shell(ctx, `for port in 6641 16642; do ufw prepend allow proto tcp from "$1" to any port $port comment charm-ovn-central; done`, own)
		return err
	})
	require.NoError(t, s.followRelations(ctx))
	require.NoError(t, s.client.BecomeChassis(ctx))
	chassisRegisters(ctx, t, s.client)
	require.NoError(t, s.client.StartWriter(ctx))
	s.writes(ctx, t)
}

// legacy is what an adoption must not change.
type legacy struct {
	settings                map[string]string
	addresses, hooks        map[string][]string
	servers, files, sources map[string]string
	connections             string
	rules                   []string
}

func (s *story) legacy(ctx context.Context, t *testing.T) legacy {
	t.Helper()
	status, err := s.Status(ctx)
	require.NoError(t, err)
	l := legacy{
		settings: status.LeaderSettings, addresses: map[string][]string{}, hooks: map[string][]string{},
		servers: s.servers(ctx, t), files: map[string]string{}, sources: map[string]string{},
	}
	for unit, u := range status.Units {
		l.hooks[unit] = u.Hooks
		m := s.Machines[unit]
		for _, relation := range []string{juju.Peers, "ovsdb", "ovsdb-cms"} {
			data, err := s.Data(ctx, relation)
			require.NoError(t, err)
			l.addresses[unit] = append(l.addresses[unit], data[unit]["bound-address"])
		}
		// An inode: a database that was made again has another.
		l.files[unit], err = m.Shell(ctx, `stat -c '%n %i' /var/lib/ovn/*.db`)
		require.NoError(t, err)
		l.sources[unit], err = m.Shell(ctx, `cat /etc/apt/sources.list.d/*`)
		require.NoError(t, err)
		rules, err := m.Shell(ctx, `ufw show added | sort`)
		require.NoError(t, err)
		for rule := range strings.Lines(rules) {
			l.rules = append(l.rules, unit+": "+strings.TrimSpace(rule))
		}
	}
	nb, err := s.client.NB(ctx, "--bare", "--columns=target,inactivity_probe", "list", "Connection")
	require.NoError(t, err)
	sb, err := s.client.SB(ctx, "--bare", "--columns=target,role,inactivity_probe", "list", "Connection")
	require.NoError(t, err)
	l.connections = nb + sb
	return l
}
