package membership

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// ports makes a machine reject connections to its Raft ports (iptables), or accept them again.
func ports(m *labtest.Model, u *lab.Unit, action string) {
	m.T.Helper()
	namespace, err := u.Machine.Namespace()
	require.NoError(m.T, err)
	out, err := exec.CommandContext(m.T.Context(), "nsenter", "--net="+namespace, "/usr/sbin/iptables", "--wait", action, "INPUT",
		"-p", "tcp", "-m", "multiport", "--dports", "6643,6644", "-j", "REJECT", "--reject-with", "tcp-reset").CombinedOutput()
	require.NoError(m.T, err, string(out))
}

const (
	closePorts = "--insert"
	openPorts  = "--delete"
)

// R0, R1: a member that others can't connect to follows its leader, and does not count.
func TestClosedPorts(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju4})
	leader := m.MakeOneLeader()
	closed, other := m.Followers()[0], m.Followers()[1]
	units := []*lab.Unit{leader, closed, other}
	shown := func(m *labtest.Model, health string, closed ...*lab.Unit) func() bool {
		return func() bool {
			m.RunUpdateStatus(units...)
			for _, u := range units {
				if u.Workload().Status != "active" || !labtest.Shows(u, health) {
					return false
				}
			}
			for i, u := range closed {
				if !m.HasFinding(units[i], finding.PortsClosed, u.Name()) {
					return false
				}
			}
			return true
		}
	}
	noRecovery := func(m *labtest.Model) {
		m.T.Helper()
		for _, u := range units {
			for key, value := range m.Act(u, "cluster-status") {
				assert.NotContains(m.T, value, "recover", "%s: %s", u.Name(), key)
			}
		}
	}

	m.Run("one_unit", func(m *labtest.Model) {
		ports(m, closed, closePorts)
		m.Eventually("every unit names the ports", shown(m, "2 of 3 up, none may fail", closed, closed, closed))
		noRecovery(m)
	})
	m.Run("two_of_three", func(m *labtest.Model) {
		ports(m, other, closePorts)
		m.Eventually("every unit names the ports", shown(m, "0 of 3 up, none may fail", closed, closed, other))
		noRecovery(m)
		m.RequireWritable()
		refusal := m.RefuseRemoval(other)
		assert.Contains(m.T, refusal, closed.Address()+":6643")
		assert.NotContains(m.T, refusal, leader.Address()+":6643")
		m.RunUpdateStatus(leader)
		m.Says(leader, "active")
		assert.Contains(m.T, m.Finds(leader, finding.LeaveBlocked, other.Name()).Message, closed.Address()+":6643")
		require.True(m.T, m.IsMember(other))
	})
	m.Run("unit_leaves_while_its_ports_are_closed", func(m *labtest.Model) {
		ports(m, other, openPorts)
		m.Eventually("the others are connected", func() bool {
			m.RunUpdateStatus(leader)
			return labtest.Shows(leader, "2 of 3 up, none may fail")
		})
		m.Remove(closed)
		require.NoError(m.T, m.Resolved(m.T.Context(), other, false))
		m.RequireMembers(leader)
		m.RequireWritable()
	})
}
