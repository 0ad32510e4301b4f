// Package core shows on real servers, in about a minute, that the product keeps its promises: each test is the
// shortest that fails if one breaks. tests/integration has the others.
package core

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Three empty machines become a control plane. A drain ends only once the gateway is bound to its new
// chassis, which responds. If the unit that acts dies, another agent acts.
func TestControlPlane(t *testing.T) {
	t.Parallel()
	m, units := labtest.Fresh(t, 3, lab.Options{})
	m.RequireOneCluster(units...)
	for _, u := range units {
		assert.Equal(t, `"`+u.Address()+`"`, m.RelationData(m.Chassis).Units[u.Name()]["bound-address"])
	}
	holder := labtest.ActingUnit(t, units...)

	u := units[1]
	for name, at := range map[string]string{"gw1": "192.0.2.1", "gw2": "192.0.2.2"} {
		labtest.Tool(t, u, "ovn-sbctl", lab.SB, "chassis-add", name, "geneve", at, "--", "set", "Chassis", name, "hostname="+name,
			"other_config:ovn-cms-options=enable-chassis-as-gw", "other_config:ovn-bridge-mappings=physnet1:br-ex",
			"--", "create", "Chassis_Private", "name="+name)
	}
	labtest.Tool(t, u, "ovn-nbctl", lab.NB, "ls-add", "public", "--", "lsp-add", "public", "ln", "--", "lsp-set-type", "ln", "localnet",
		"--", "lsp-set-options", "ln", "network_name=physnet1", "--", "lr-add", "r1", "--", "lrp-add", "r1", "lrp-1", "00:00:00:00:00:01", "10.0.1.1/24",
		"--", "lsp-add", "public", "p1", "--", "lsp-set-type", "p1", "router", "--", "lsp-set-options", "p1", "router-port=lrp-1",
		"--", "lrp-set-gateway-chassis", "lrp-1", "gw1", "2", "--", "lrp-set-gateway-chassis", "lrp-1", "gw2", "1")
	bind := func(chassis string) {
		id := labtest.Tool(t, u, "ovn-sbctl", lab.SB, "--bare", "--columns=_uuid", "find", "Chassis", "name="+chassis)
		labtest.Tool(t, u, "ovn-sbctl", lab.SB, "set", "Port_Binding", "cr-lrp-1", "chassis="+id)
	}
	m.Eventually("the gateway has a binding", func() bool {
		return labtest.Tool(t, u, "ovn-sbctl", lab.SB, "--bare", "--columns=logical_port", "find", "Port_Binding", "logical_port=cr-lrp-1") != ""
	})
	bind("gw1")
	stop := labtest.Watch(t.Context(), 200*time.Millisecond, func() { // as ovn-controller responds
		cfg := labtest.Tool(t, u, "ovn-sbctl", lab.SB, "--bare", "--columns=nb_cfg", "list", "SB_Global")
		for _, name := range []string{"gw1", "gw2"} {
			labtest.Tool(t, u, "ovn-sbctl", lab.SB, "set", "Chassis_Private", name, "nb_cfg="+cfg)
		}
	})
	t.Cleanup(stop)
	confirmed := "next: juju run " + units[2].Name() + " drain node=gw1 i-really-mean-it=true --wait=2h\n"
	assert.Contains(t, m.Refuse(units[2], "drain", "node=gw1"), confirmed, "it interrupts traffic")
	r, err := m.RunAction(t.Context(), units[2], "drain", "node=gw1", "timeout=5", "grace-period=0",
		"i-really-mean-it=true")
	require.NoError(t, err)
	assert.Equal(t, "failed", r.Status, "the gateway is still bound to gw1")
	bind("gw2")
	m.Act(units[2], "drain", "node=gw1", "timeout=30", "grace-period=0", "i-really-mean-it=true")
	assert.True(t, strings.HasPrefix(labtest.Tool(t, u, "ovn-nbctl", lab.NB, "lrp-get-gateway-chassis", "lrp-1"), "lrp-1-gw2"))
	stop()

	m.PowerOff(holder)
	assert.NotEqual(t, holder, labtest.ActingUnit(t, labtest.Without(units, holder)...))
}

// An application of the Python charm is refreshed to this charm: nothing that runs is restarted, no
// write is lost, and the firewall's rules and the data on the relations stay.
func TestAdoption(t *testing.T) {
	t.Parallel()
	m, units := labtest.PythonCloud(t, 3, lab.Options{})
	w := m.StartWriter(t.Context(), 0)
	before, settings := m.Processes(units...), m.LeaderSettings()
	called := labtest.RecordCalls(units...)
	rules, data := map[string][]string{}, m.RelationData(m.Chassis).Units
	for _, u := range units {
		rules[u.Name()] = m.FirewallRules(u)
	}

	m.RefreshCharm()
	m.RequireActive(units...)
	m.RequireOneCluster(units...)
	assert.Equal(t, before, m.Processes(units...), "processes and terms")
	assert.Empty(t, called("apt-get"))
	for _, command := range []string{"stop", "restart", "start", "mask"} {
		assert.Empty(t, called("systemctl "+command))
	}
	assert.Subset(t, m.LeaderSettings(), settings)
	for _, u := range units {
		assert.Subset(t, m.FirewallRules(u), rules[u.Name()])
		assert.Equal(t, data[u.Name()]["bound-address"], m.RelationData(m.Chassis).Units[u.Name()]["bound-address"])
		assert.NotEmpty(t, u.Data()["nb-identity"], "it publishes what the others need to judge it")
	}
	m.Verify(w)
}

func TestMain(m *testing.M) { labtest.Main(m) }
