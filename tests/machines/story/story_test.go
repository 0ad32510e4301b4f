package story

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/machines"
	"github.com/ovn-central/ovn-central-operator/tests/machines/client"
)

// story is a deployment in the course of its life. Its parts stand on each other.
type story struct {
	*model
	client     *client.Client
	ovsdb, cms int // the relations' numbers
}

// TestStory goes through the life of an application: each part begins with what
// the one before has left, and a writer runs from the first cluster to the last.
func TestStory(t *testing.T) {
	ctx, m := newModel(t, packedCharm(t), machines.Options{})
	s := &story{model: m}
	for _, part := range []struct {
		name string
		play func(context.Context, *testing.T)
	}{
		{"three units deploy and cluster", s.deployThree},
		{"a second run of every hook changes nothing", s.runAgain},
		{"clients need nothing but the relation", s.connectClients},
		{"a package that is installed again restarts nothing while that is held back", s.reinstall},
		{"gateways are spread by any unit", s.spreadGateways},
		{"the agent that acts is killed, and one acts again", s.killAgent},
		{"an agent that stands still is started again by systemd", s.freezeAgent},
		{"an agent's socket takes a node out", s.operateByTheSocket},
		{"grow to five", s.growToFive},
		{"remove a follower, then the leader", s.shrinkToThree},
		{"a machine that is cut off is kicked and comes back", s.cutAndKick},
		{"a unit is added on a machine that another has left", s.addOnUsedMachine},
		{"certificates are renewed, then the CA is replaced", s.renewCertificates},
		{"the election timer changes", s.changeElectionTimer},
		{"every machine restarts, one after another", s.restartMachines},
		{"the leader's machine loses its power", s.powerCut},
		{"the writer has lost nothing", func(ctx context.Context, t *testing.T) { nothingIsLost(ctx, t, s.client) }},
		{"the application is removed", s.removeApplication},
	} {
		began := time.Now()
		if !t.Run(part.name, func(t *testing.T) { part.play(ctx, t) }) {
			t.Fatalf("the parts after %q stand on it", part.name)
		}
		t.Logf("%s: %v", part.name, time.Since(began).Round(time.Second))
	}
}

// TestNetworkWithoutIPv4 has units, clients and a unit that goes, all of them with
// IPv6 addresses only.
func TestNetworkWithoutIPv4(t *testing.T) {
	ctx, m := newModel(t, packedCharm(t), machines.Options{IPv6: true})
	s := &story{model: m}
	s.deployThree(ctx, t)
	s.connectClients(ctx, t)
	leader := s.leaderOf(ctx, t, "nb", "OVN_Northbound")
	require.NoError(t, s.RemoveUnit(ctx, leader, false))
	s.gone(ctx, t, leader)
	s.settle(ctx, t)
	s.followRelations(ctx, t)
	s.writes(ctx, t)
	nothingIsLost(ctx, t, s.client)
}

func (s *story) deployThree(ctx context.Context, t *testing.T) {
	all, err := s.fleet.Boot(ctx, 4)
	require.NoError(t, err)
	// The default is a pocket of Ubuntu's cloud archive.
	require.NoError(t, s.Configure(ctx, map[string]string{"source": "distro"}))
	s.deploy(ctx, t, all[:3]...)
	s.client, err = client.New(ctx, all[3], s.ca)
	require.NoError(t, err)

	_, err = s.Settled(ctx, convergence)
	require.NoError(t, err)
	status, err := s.Status(ctx)
	require.NoError(t, err)
	for unit, u := range status.Units {
		assert.Contains(t, []string{"waiting", "blocked"}, u.Workload.Status, unit)
		assert.Contains(t, u.Workload.Message, "certificates", unit)
		_, err := s.machines[unit].Exec(ctx, "test", "!", "-e", "/var/lib/ovn/ovnnb_db.db")
		assert.NoError(t, err, "%s has a database before it may have one", unit)
	}

	s.relateVault(ctx, t)
	s.settle(ctx, t)
	status, err = s.Status(ctx)
	require.NoError(t, err)
	assert.NotEmpty(t, status.AppVersion)
	assert.NotEmpty(t, status.LeaderSettings["nb_cid"])
	assert.NotEmpty(t, status.LeaderSettings["sb_cid"])
}

// runAgain has every agent run its hooks of a start again, and compares files and
// processes.
func (s *story) runAgain(ctx context.Context, t *testing.T) {
	before := s.traces(ctx, t)
	for _, unit := range s.alive(ctx, t) {
		require.NoError(t, s.UpdateStatus(ctx, unit))
	}
	require.NoError(t, s.Configure(ctx, map[string]string{"ovsdb-server-election-timer": "4"}))
	s.settle(ctx, t)
	assert.Equal(t, before, s.traces(ctx, t))
}

// traces are what a hook that changes something would change: per unit, the
// charm's files, the databases' servers and the firewall.
func (s *story) traces(ctx context.Context, t *testing.T) map[string]string {
	t.Helper()
	traces := map[string]string{}
	for _, unit := range s.alive(ctx, t) {
		out, err := s.machines[unit].Shell(ctx, `stat -c '%n %i %Y %a' /etc/default/ovn-central /etc/ovn/*
systemctl show -P MainPID ovn-ovsdb-server-nb ovn-ovsdb-server-sb ovn-northd
ufw status`)
		require.NoError(t, err)
		traces[unit] = out
	}
	return traces
}

func (s *story) connectClients(ctx context.Context, t *testing.T) {
	var err error
	s.ovsdb, err = s.Relate(ctx, "ovsdb", "ovn-chassis", 1)
	require.NoError(t, err)
	s.cms, err = s.Relate(ctx, "ovsdb-cms", "neutron-api-plugin-ovn", 1)
	require.NoError(t, err)
	s.followRelations(ctx, t)

	t.Run("the firewall rejects who isn't related", func(t *testing.T) {
		_, err := s.client.NB(ctx, "--timeout=3", "show")
		assert.Error(t, err)
	})
	address := map[string]string{"cms-client-bound-address": published(s.client.Machine)}
	require.NoError(t, s.RemoteSet(ctx, s.cms, "neutron-api-plugin-ovn/0", address))
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

// published is how a machine's address stands on relations: a JSON string, with
// IPv6 in brackets.
func published(m *machines.Machine) string {
	if m.Address().Is6() {
		return fmt.Sprintf(`"[%v]"`, m.Address())
	}
	return fmt.Sprintf("%q", m.Address())
}

// followRelations tells the client what the units have published by now, which is
// complete when every living unit has.
func (s *story) followRelations(ctx context.Context, t *testing.T) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		chassis, err := s.Data(ctx, s.ovsdb)
		if err != nil {
			return err
		}
		cms, err := s.Data(ctx, s.cms)
		if err != nil {
			return err
		}
		alive := s.alive(ctx, t)
		units := map[string]map[string]string{}
		for _, unit := range alive {
			want := published(s.machines[unit])
			if chassis[unit]["bound-address"] != want || cms[unit]["bound-address"] != want {
				return fmt.Errorf("%s has published %v and %v", unit, chassis[unit], cms[unit])
			}
			units[unit] = cms[unit]
		}
		remotes, err := client.NewRemotes(units)
		if err != nil {
			return err
		}
		return s.client.SetRemotes(ctx, remotes)
	})
}

func (s *story) growToFive(ctx context.Context, t *testing.T) {
	more, err := s.fleet.Boot(ctx, 2)
	require.NoError(t, err)
	s.deploy(ctx, t, more...)
	s.settle(ctx, t)
	assert.Len(t, s.alive(ctx, t), 5)
	s.followRelations(ctx, t)
	s.writes(ctx, t)
}

func (s *story) shrinkToThree(ctx context.Context, t *testing.T) {
	leader := s.leaderOf(ctx, t, "sb", "OVN_Southbound")
	var follower string
	for _, unit := range s.alive(ctx, t) {
		if unit != leader && unit != s.leaderOf(ctx, t, "nb", "OVN_Northbound") {
			follower = unit
		}
	}
	retired := s.decommission(ctx, t, leader, follower)
	for _, unit := range []string{follower, leader} {
		require.NoError(t, s.RemoveUnit(ctx, unit, false))
		s.gone(ctx, t, unit)
		if unit == follower {
			retired()
		}
		s.settle(ctx, t)
		left, err := s.machines[unit].Shell(ctx, "ls /var/lib/ovn")
		require.NoError(t, err)
		assert.Contains(t, left, ".left-", "the databases of %s are kept under another name", unit)
		assert.NotContains(t, strings.Fields(left), "ovnnb_db.db")
		s.followRelations(ctx, t)
		s.writes(ctx, t)
	}
	assert.Len(t, s.alive(ctx, t), 3)
}

// writes waits until the writer has been served a while.
func (s *story) writes(ctx context.Context, t *testing.T) {
	t.Helper()
	before := s.client.Acknowledged()
	eventually(ctx, t, 3*time.Minute, func() error { return more(s.client, before, 4) })
}

func (s *story) removeApplication(ctx context.Context, t *testing.T) {
	units := s.alive(ctx, t)
	require.NoError(t, s.RemoveApplication(ctx))
	for _, unit := range units {
		s.gone(ctx, t, unit)
	}
	for _, unit := range units {
		m := s.machines[unit]
		_, err := m.Exec(ctx, "systemctl", "is-active", "ovn-ovsdb-server-nb", "ovn-ovsdb-server-sb", "ovn-northd", agentService)
		assert.Error(t, err, "%s serves on", unit)
		_, err = m.Shell(ctx, "test ! -e /etc/systemd/system/"+agentService+".service && test ! -e /etc/ovn/"+agentService+".json")
		assert.NoError(t, err, "the agent of %s is not gone", unit)
		s.dataIsKept(ctx, t, m)
	}
}

// dataIsKept shows that the databases of a removed application are on the disk
// (R9): as clustered files, whose contents can be read.
func (s *story) dataIsKept(ctx context.Context, t *testing.T, m *machines.Machine) {
	t.Helper()
	_, err := m.Shell(ctx, `for f in $(ls -t /var/lib/ovn/ovnnb_db.db* | grep -v lock); do
	ovsdb-tool cluster-to-standalone /tmp/kept "$f" && ovsdb-tool query /tmp/kept \
		'["OVN_Northbound",{"op":"select","table":"Logical_Switch","where":[["name","==","net"]],"columns":["name"]}]' | grep -q net && exit
	rm -f /tmp/kept
done
exit 1`)
	assert.NoError(t, err, "the data of %s is not on its disk", m.Name())
}
