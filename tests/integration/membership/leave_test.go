package membership

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// 000-1, 000-2, R6, R10: the specification's own example: after two of five units are removed, the other three are a
// cluster without a fault. A follower leaves first; then the leader, whose agent has restarted since it joined, so
// that its `stop` has no relation any more (R9).
func TestLeave_five_to_three_then_one_failure(t *testing.T) {
	m := labtest.Deploy(t, 5)
	leader := m.MakeOneLeader()
	u := m.Followers()[0]
	w := m.StartWriter(t.Context(), 0)
	m.Remove(u)
	m.RequireMembers(m.Remaining()...)
	m.RequirePutAway(u)
	m.RequireVacated(u)

	leader.RestartAgent()
	m.Remove(leader)
	assert.Contains(t, strings.Join(leader.Hooks(), "\n"), "ovsdb-peer-relation-broken")
	rest := m.Remaining()
	require.Len(t, rest, 3)
	m.RequireMembers(rest...)
	m.KillServers(rest[0])
	m.RequireDown(rest[0])
	m.RequireWritable()
	m.Verify(w)
}

// R5: measured without the lock: both leaves pass R1, both report success, and the quorum is lost.
func TestLeave_four_members_one_down_two_concurrent(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	m.MakeOneLeader()
	followers := m.Followers()
	dead, going := followers[0], followers[1:3]
	m.PowerOff(dead)
	m.RequireDown(dead)
	var refused []string
	var waits *lab.Unit
	for i, err := range labtest.AtOnce(going, func(u *lab.Unit) error {
		return m.RemoveUnit(t.Context(), u, lab.RemoveOptions{})
	}) {
		if err != nil {
			refused, waits = append(refused, m.HookFailed(err, "stop")), going[i]
		}
	}
	require.Len(t, refused, 1, "exactly one may leave")
	assert.Contains(t, refused[0], labtest.QuorumLost(2, 3, 1, 2))
	m.RequireWritable()

	// P2: Juju shows only that the unit's hook failed. The staying unit names it, and the reason why it waits.
	stays := m.LeaderOf(lab.NB)
	require.NotContains(t, going, stays, "the premise")
	require.NoError(t, m.RunHook(t.Context(), stays, "update-status"))
	blocked := m.Finds(stays, finding.LeaveBlocked, waits.Name())
	m.Finds(waits, finding.LeaveBlocked, waits.Name()) // its own status shows the hook
	assert.Equal(t, []string{"juju remove-unit --force " + dead.Name(), "juju add-unit ovn-central"}, cluster.Commands(blocked))
	assert.NotContains(t, m.NextCommands(stays), cluster.Commands(blocked)[0], "only if it is lost")
}

// R9: the only copy waits for another unit's join, whatever its server's state; the printed command restores the
// server. The unit that joins then has the only copy in the next subtest.
func TestStop_only_copy_stays(t *testing.T) {
	m := labtest.DeployWith(t, 1, lab.Options{JujuVersion: lab.Juju4})
	for name, spoil := range map[string]func(*labtest.Model, *lab.Unit){
		"up":   func(*labtest.Model, *lab.Unit) {},
		"dead": func(m *labtest.Model, u *lab.Unit) { m.KillServers(u) },
		"hung": func(m *labtest.Model, u *lab.Unit) {
			for _, db := range lab.Databases {
				require.NoError(m.T, u.Hang(db))
			}
		},
	} {
		m.Run(name, func(m *labtest.Model) {
			t, u := m.T, m.Remaining()[0]
			require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
			next := m.AddSilent()
			spoil(m, u)
			said := m.RefuseRemoval(u)
			assert.Contains(t, said, "juju resolved --no-retry "+u.Name())
			command := ""
			if name == "up" {
				assert.Contains(t, said, labtest.Reason(finding.SoleMember, finding.Args{}))
			} else {
				assert.Contains(t, said, labtest.Reason(finding.OnlyCopy, finding.Args{}))
				assert.Contains(t, said, u.DBFile(lab.NB))
				command = labtest.LineWith(t, said, "next: juju ")
			}
			switch name {
			case "dead":
				require.Equal(t, "run "+u.Name()+" resume", command)
				assert.Equal(t, "completed", m.Type("juju "+command).Status)
			case "hung":
				services := lab.NB.Service() + " " + lab.SB.Service()
				require.Equal(t, "ssh "+u.Name()+" 'sudo systemctl unmask "+services+" && sudo systemctl restart "+services+"'", command)
				_, code, err := u.Systemctl(t.Context(), append([]string{"restart"}, strings.Fields(services)...)...)
				require.NoError(t, err)
				require.Zero(t, code)
			}
			for _, db := range lab.Databases {
				m.Eventually("the only member serves", func() bool { return m.HasLeader(u, db) })
			}
			require.NoError(t, next.JoinDatabases(t.Context()))
			_, err := m.RetryUntil(t.Context(), u)
			require.NoError(t, err)
			m.Deployed = append(m.Deployed, next)
			m.RequireMembers(next)
			m.RequireWritable()
			require.NoError(t, m.Settle(t.Context())) // its hooks run before it is removed in the next subtest
		})
	}
}
