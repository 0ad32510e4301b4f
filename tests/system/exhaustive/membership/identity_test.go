package membership

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R3: of the 65,536 identities 9,516 are numbers to Juju. Each kind of them loses something else, as the operator types
// them.
func TestIdentity_turned_into_number_by_YAML_is_found(t *testing.T) {
	m := labtest.Deploy(t, 2)
	for name, pattern := range map[string]string{
		"octal, as 0017": `^0[0-7]{3}$`,
		"float, as 13e4": `^[1-9][0-9]e[0-9]$`,
	} {
		m.Run(name, func(m *labtest.Model) {
			odd := m.AddSilent()
			short := joinAs(m, odd, lab.NB, regexp.MustCompile(pattern))
			require.NoError(m.T, m.Settle(m.T.Context()))
			assert.Equal(m.T, short, odd.Data()["nb-identity"])
			m.RemoveByForce(odd)
			m.Eventually("a leader that misses it", func() bool {
				s := m.Raft(m.LeaderOf(lab.NB), lab.NB)
				for _, row := range s.Servers {
					if row.Short == short {
						return row.LastMsg != nil && *row.LastMsg > s.ElectionTimer
					}
				}
				return false
			})
			results := m.Act(m.LeaderOf(lab.NB), "kick", labtest.KickArgs("", short)...)
			assert.Contains(m.T, results["ovnnb"], "removed: "+short)
			assert.NotContains(m.T, m.MemberIDs(m.LeaderOf(lab.NB), lab.NB), short)
		})
	}
}

// joinAs makes a unit join with a server ID that is like pattern, by making files
// until one has such an ID. It returns the identity.
func joinAs(m *labtest.Model, u *lab.Unit, db lab.DB, pattern *regexp.Regexp) string {
	m.T.Helper()
	leader := m.LeaderOf(db)
	s := m.Raft(leader, db)
	port := map[lab.DB]string{lab.NB: ":6643", lab.SB: ":6644"}[db]
	for {
		_, err := u.Exec(m.T.Context(), "ovsdb-tool", "--cid="+string(*s.Cluster), "join-cluster", u.DBFile(db),
			db.Schema(), "ssl:"+u.Address()+port, s.Address)
		require.NoError(m.T, err)
		if id := m.ShortID(u, db); pattern.MatchString(id) {
			break
		}
		require.NoError(m.T, os.Remove(u.DBFile(db)))
	}
	require.NoError(m.T, u.Start(m.T.Context(), db))
	m.Eventually("a member", func() bool {
		s, err := m.RaftStatus(u, db)
		return err == nil && s.State == raft.ClusterMember
	})
	return m.ShortID(u, db)
}

// R16, R4: a unit whose server was kicked has joined again, and its hook has not ended:
// what it publishes are the IDs from before, complete. No unit calls its new member
// stale, and none prints a command that would kick it.
func TestIdentity_unpublished_new_member_is_not_stale(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju4})
	leader := m.MakeOneLeader()
	u := m.Followers()[0]
	before := m.ShortID(u, lab.NB)
	m.Act(leader, "kick", labtest.KickArgs("", m.ServerID(u, lab.NB), "force=true")...)
	m.Hold(true) // or the hook that was killed runs again with whatever comes next
	m.KillHook(u, "update-status", func(call string) bool { return strings.HasPrefix(call, "relation-set") })
	m.RequireMembers(m.Deployed...)
	now := m.ShortID(u, lab.NB)
	require.NotEqual(t, before, now)
	require.Equal(t, before, u.Data()["nb-identity"], "the premise")
	for _, other := range m.Deployed {
		if other == u {
			continue
		}
		require.NoError(t, m.RunHook(t.Context(), other, "update-status"))
		m.FindsNone(other, finding.StaleMember)
		assert.NotContains(t, other.Workload().Message, "kick", other.Name())
		said := m.Act(other, "cluster-status")
		assert.NotContains(t, said["ovnnb"], "stale", other.Name())
		assert.NotContains(t, said["at-a-glance"], " kick ", other.Name())
		refused := m.Refuse(other, "kick", labtest.KickArgs("", m.ServerID(u, lab.NB))...)
		assert.NotContains(t, refused, "force=true i-really-mean-it=true", other.Name())
	}
	require.Equal(t, before, u.Data()["nb-identity"], "still")
	m.Hold(false)
	m.Eventually("its own word", func() bool {
		require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
		return u.Data()["nb-identity"] == now
	})
	require.NoError(t, m.UpdateStatus(t.Context()))
	for _, each := range m.Deployed {
		assert.Equal(t, "active", each.Workload().Status, each.Workload().Message)
	}
}
