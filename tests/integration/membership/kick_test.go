package membership

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// 000-3, 000-4: a kick works on any unit, once, for both databases, with any name of the member and of the action.
// Each subtest leaves fewer units.
func TestKick_removes_dead_member(t *testing.T) {
	m := labtest.DeployWith(t, 5, lab.Options{JujuVersion: lab.Juju4})
	lose := func(m *labtest.Model) (gone, leader, follower *lab.Unit) {
		leader = m.MakeOneLeader()
		gone, follower = m.Followers()[0], m.Followers()[1]
		m.RemoveByForce(gone)
		m.RequireDown(gone)
		return gone, leader, follower
	}
	m.Run("from a follower, by its IDs", func(m *labtest.Model) {
		gone, _, follower := lose(m)
		rest, args := m.Remaining(), labtest.KickArgs(m.ShortID(gone, lab.SB), m.ShortID(gone, lab.NB))
		results := m.Act(follower, "kick", args...)
		for _, db := range lab.Databases {
			assert.Equal(m.T, membership.Removed, cluster.Outcome(results["ovn"+string(db)]))
			assert.Contains(m.T, results["ovn"+string(db)], m.ShortID(gone, db))
			assert.Contains(m.T, results["ovn"+string(db)], gone.Name())
			assert.Len(m.T, m.MemberIDs(follower, db), len(rest))
		}
		m.RequireWritable()
		for _, u := range rest {
			assert.Equal(m.T, membership.AlreadyGone, cluster.Outcome(m.Act(u, "kick", args...)["ovnsb"]), "R8, on every unit")
		}
	})
	// R5, R8: two operators paste the same command on two units.
	m.Run("by the names of the Python charm, on each unit at once", func(m *labtest.Model) {
		gone, _, _ := lose(m)
		rest, removed := m.Remaining(), new(atomic.Int32)
		for _, err := range labtest.AtOnce(rest, func(u *lab.Unit) error {
			r, err := m.RunAction(m.T.Context(), u, "cluster-kick", "sb-server-id="+m.ShortID(gone, lab.SB), "nb-server-id="+m.ShortID(gone, lab.NB), "i-really-mean-it=true")
			assert.Equal(m.T, "completed", r.Status, r.Message)
			if outcome := cluster.Outcome(r.Results["ovnnb"]); outcome == membership.Removed {
				removed.Add(1)
			} else {
				assert.Equal(m.T, membership.AlreadyGone, outcome)
			}
			return err
		}) {
			require.NoError(m.T, err)
		}
		assert.EqualValues(m.T, 1, removed.Load())
		m.RequireMembers(rest...)
	})
	m.Run("by the name of its unit, which every unit knows before and after", func(m *labtest.Model) {
		gone, leader, _ := lose(m)
		id := m.ServerID(gone, lab.NB)
		require.NoError(m.T, m.UpdateStatus(m.T.Context()))
		for _, u := range m.Remaining() {
			assert.Contains(m.T, m.Act(u, "cluster-status")["ovnnb"], "UNKNOWN (was "+gone.Name()+")")
		}
		// The statuses follow the kick at once, not only at the next update-status.
		require.Contains(m.T, m.NextCommands(leader), "juju run "+leader.Name()+" kick unit="+gone.Name()+" i-really-mean-it=true")
		hooks := len(leader.Hooks())
		m.Act(leader, "kick", "unit="+gone.Name(), "i-really-mean-it=true")
		assert.NotContains(m.T, leader.Workload().Message, "kick")
		assert.Contains(m.T, leader.Workload().Message, "2 of 2 up")
		assert.Len(m.T, leader.Hooks(), hooks, "without a hook")
		require.NoError(m.T, m.Settle(m.T.Context()))
		for _, u := range m.Remaining() {
			assert.NotContains(m.T, u.Workload().Message, "kick", u.Name())
		}
		again := m.Act(leader, "kick", "unit="+gone.Name(), "i-really-mean-it=true")
		assert.Equal(m.T, membership.AlreadyGone, cluster.Outcome(again["ovnnb"]))

		// R8: the record of the removal stays.
		require.NoError(m.T, m.UpdateStatus(m.T.Context()))
		assert.Contains(m.T, m.AppData()["nb-servers"], id)
		assert.Contains(m.T, m.AppData()["nb-servers"], "removed")
	})
}

// A refused kick changes nothing, so all cases share one cluster.
func TestKick_is_refused(t *testing.T) {
	m := labtest.Deploy(t, 3)
	leader := m.MakeOneLeader()
	other, live := m.Followers()[0], m.Followers()[1]
	refuses := func(name string, test func(*labtest.Model)) {
		m.Run(name, func(m *labtest.Model) {
			test(m)
			for _, db := range lab.Databases {
				assert.Len(m.T, m.MemberIDs(leader, db), 3)
			}
		})
	}
	// R3: every ID that is not exactly one other member of that database is refused.
	for name, c := range map[string]struct {
		sb, nb string
		code   finding.Code
		args   finding.Args
	}{
		"of a member of the other database":     {nb: m.ShortID(other, lab.SB), code: finding.MemberOfOther, args: finding.Args{Value: "OVN_Southbound", Member: finding.Server{ID: m.ShortID(other, lab.SB), Unit: other.Name()}}},
		"of one digit":                          {nb: m.ShortID(other, lab.NB)[:1]},
		"of three digits":                       {nb: "abc", code: finding.MemberIDInvalid, args: finding.Args{Value: `"abc"`}},
		"of garbage":                            {nb: "zzzz", code: finding.MemberIDInvalid, args: finding.Args{Value: `"zzzz"`}},
		"of an ID with another character in it": {nb: m.ServerID(other, lab.NB)[:35] + "!", code: finding.MemberIDInvalid, args: finding.Args{Value: `"` + m.ServerID(other, lab.NB)[:35] + `!"`}},
		"of an ID that never was":               {sb: "a1b2c3d4-0000-4000-8000-000000000000", code: finding.UnknownMember, args: finding.Args{Value: "a1b2c3d4-0000-4000-8000-000000000000"}},
		"of nothing":                            {},
	} {
		refuses(name, func(m *labtest.Model) {
			said := m.Refuse(leader, "kick", labtest.KickArgs(c.sb, c.nb)...)
			if c.code != "" {
				assert.Contains(m.T, said, labtest.Reason(c.code, c.args))
			}
		})
	}
	// R3: a unit's own member leaves when its unit is removed.
	refuses("of the unit's own server", func(m *labtest.Model) {
		said := m.Refuse(leader, "kick", labtest.KickArgs(m.ShortID(leader, lab.SB), m.ShortID(leader, lab.NB), "force=true")...)
		assert.Contains(m.T, said, labtest.Reason(finding.OwnMember, finding.Args{Member: finding.Server{ID: m.ShortID(leader, lab.NB), Unit: leader.Name()}}))
		assert.Contains(m.T, said, "juju remove-unit "+leader.Name())
	})
	// R4: a live member, and one whose unit is in the model, need force.
	refuses("of a live member without force", func(m *labtest.Model) {
		said := m.Refuse(leader, "kick", labtest.KickArgs("", m.ServerID(live, lab.NB))...)
		assert.Contains(m.T, said, labtest.Reason(finding.UnitInModel, finding.Args{Unit: live.Name()}))
		assert.Contains(m.T, said, tallies(3))
		assert.Contains(m.T, said, "juju remove-unit "+live.Name())
		assert.NotContains(m.T, said, "=true i-really-mean-it=true", "no command by which a unit of the model loses a server that is up")
	})

	m.RemoveByForce(other)
	m.RequireDown(other)
	refuses("of two members of which one is not found", func(m *labtest.Model) { // both are judged before either is touched
		r, err := m.RunAction(m.T.Context(), leader, "kick", labtest.KickArgs("zzzz", m.ServerID(other, lab.NB))...)
		require.NoError(m.T, err)
		assert.Equal(m.T, "failed", r.Status)
		assert.Equal(m.T, membership.Refused, cluster.Outcome(r.Results["ovnsb"]))
		assert.Equal(m.T, membership.Untouched, cluster.Outcome(r.Results["ovnnb"]))
	})
	// R4: the value of the confirmation counts, not only its presence.
	refuses("without confirmation", func(m *labtest.Model) {
		for _, more := range [][]string{{"i-really-mean-it=false"}, nil} {
			assert.Contains(m.T, m.Refuse(leader, "kick", append(more, "nb-identity="+m.ShortID(other, lab.NB))...),
				labtest.Reason(finding.Unconfirmed, finding.Args{}))
		}
		dry := m.Act(leader, "kick", "nb-identity="+m.ShortID(other, lab.NB), "dry-run=true")
		assert.Equal(m.T, membership.WouldRemove, cluster.Outcome(dry["ovnnb"]))
		assert.Contains(m.T, dry["ovnnb"], m.ShortID(other, lab.NB))
		assert.Contains(m.T, dry["ovnnb"], tallies(2))
	})
	// R1: a dangerous kick: of a live member while another one is dead.
	refuses("of a live member while another is dead", func(m *labtest.Model) {
		said := m.Refuse(leader, "kick", labtest.KickArgs(m.ShortID(live, lab.SB), m.ShortID(live, lab.NB), "force=true")...)
		assert.Contains(m.T, said, labtest.QuorumLost(2, 3, 1, 2))
		assert.Contains(m.T, said, "next: juju run "+leader.Name()+" kick unit="+other.Name()+" i-really-mean-it=true")
		m.RequireWritable()
	})
}

// R1: of three members one is left, which knows no leader. Nothing is done that needs a leader, and no member is
// named as dead: this unit may be cut off.
func TestKick_without_quorum_is_refused(t *testing.T) {
	m := labtest.Deploy(t, 3)
	u, others := m.Deployed[0], m.Deployed[1:]
	leaderless := func() bool {
		for _, db := range lab.Databases {
			if s, err := m.RaftStatus(u, db); err != nil || s.HasLeader() {
				return false
			}
		}
		return true
	}
	outside := "nb-identity=" + m.ServerID(u, lab.NB) + " unit-in-model=true i-really-mean-it=true" // if it is cut off
	m.PowerOff(others...)
	m.Eventually("a quorum that is lost", leaderless)
	m.Run("the status says that it is lost", func(m *labtest.Model) {
		require.NoError(m.T, m.RunHook(m.T.Context(), u, "update-status"))
		m.Says(u, "blocked")
		lost := m.Finds(u, finding.NoQuorum, "nb sb")
		assert.Contains(m.T, lost.Message, "ovn-central/1, ovn-central/2")
		assert.Equal(m.T, []string{"juju run " + u.Name() + " recover dry-run=true"}, cluster.Commands(lost))
	})
	m.Run("a kick is refused", func(m *labtest.Model) {
		said := m.Refuse(u, "kick", labtest.KickArgs(m.ShortID(others[0], lab.SB), m.ShortID(others[0], lab.NB), "force=true")...)
		assert.Contains(m.T, said, "nb, sb: "+labtest.Reason(finding.NoLeader, finding.Args{}))
		assert.Contains(m.T, said, ": juju run "+u.Name()+" recover dry-run=true")
	})
	m.Run("a pause is refused, since its vote may elect a leader", func(m *labtest.Model) {
		said := m.Refuse(u, "pause")
		assert.Contains(m.T, said, "nb, sb: "+labtest.Reason(finding.NoLeader, finding.Args{}))
		assert.Contains(m.T, said, outside)
		assert.Equal(m.T, 1, strings.Count(said, " kick "), "one command for both databases")
		assert.Contains(m.T, said, ": juju run "+u.Name()+" recover dry-run=true")
		for _, db := range lab.Databases {
			assert.True(m.T, u.Running(db), db)
		}
		require.NoError(m.T, others[0].PowerOn(m.T.Context()))
		m.Eventually("a leader, elected by its vote", func() bool { return m.HasLeader(u, lab.NB) })
		m.PowerOff(others[0])
		m.Eventually("a member without a leader", leaderless)
	})
	m.Run("its removal is refused, and says both ways out", func(m *labtest.Model) {
		said := m.RefuseRemoval(u)
		for _, other := range others {
			assert.NotContains(m.T, said, m.ShortID(other, lab.NB))
		}
		assert.Contains(m.T, said, labtest.Reason(finding.NoLeader, finding.Args{}))
		assert.Contains(m.T, said, outside)
		assert.Contains(m.T, said, ": juju run "+u.Name()+" backup")
		assert.True(m.T, u.Running(lab.NB))
	})
	m.Run("a pause by force stops its servers, as a recovery begins", func(m *labtest.Model) {
		m.Act(u, "pause", "force=true")
		assert.False(m.T, u.Running(lab.NB))
	})
}

// R2: ovsdb-server itself accepts any text as the only member's ID, and wedges.
func TestKick_sole_member_is_never_sent(t *testing.T) {
	m := labtest.Deploy(t, 1)
	u := m.Deployed[0]
	for _, id := range []string{"zzzz", "ffff", m.ShortID(u, lab.NB), m.ServerID(u, lab.SB), "0", "ssl:" + u.Address() + ":6643"} {
		m.Refuse(u, "kick", labtest.KickArgs("", id, "force=true")...)
	}
	s := m.Raft(u, lab.NB)
	assert.Equal(t, raft.ClusterMember, s.State)
	m.RequireWritable()
}

// tallies returns the arithmetic of a kick from a cluster of three, with so many members up now.
func tallies(up int) string {
	return finding.Texts([]finding.Reason{{Code: finding.UpBefore, Count: up, Total: 3}, {Code: finding.UpAfter, Count: 2, Total: 2}})
}
