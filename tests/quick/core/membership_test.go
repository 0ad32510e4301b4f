package core

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R1, R2, R4, R6, R8, R9, R11: three units lose one for good. Changes that would break a quorum are refused, the dead
// member is kicked although the kick is killed on the way, and the leader leaves.
func TestMembership(t *testing.T) {
	m := labtest.Deploy(t, 3)
	w := m.StartWriter(t.Context(), 0)
	leader := m.MakeOneLeader()
	gone, stays := m.Followers()[0], m.Followers()[1]
	kick := labtest.KickArgs(m.ShortID(gone, lab.SB), m.ShortID(gone, lab.NB))

	said := m.Refuse(leader, "kick", kick...)
	assert.Contains(t, said, "juju remove-unit "+gone.Name(), "R4: a live member")
	assert.Len(t, m.MemberIDs(leader, lab.NB), 3)
	m.FindsNone(leader, finding.FewMembers)
	m.RemoveByForce(gone)
	m.RequireDown(gone)
	m.Refuse(leader, "kick", labtest.KickArgs(m.ShortID(stays, lab.SB), m.ShortID(stays, lab.NB), "force=true")...) // R1
	said = m.RefuseRemoval(stays)
	assert.Contains(t, said, labtest.QuorumLost(2, 3, 1, 2), "R9")
	for _, db := range lab.Databases {
		assert.Len(t, m.MemberIDs(stays, db), 3, "nothing was touched")
		assert.True(t, stays.Running(db))
	}

	// The command is killed at two of its calls, and then runs to its end.
	for _, call := range []int{30, 60} {
		_, err := m.RunActionKilledAt(t.Context(), leader, call, "kick", kick...)
		require.NoError(t, err)
	}
	results := m.Act(leader, "kick", kick...)
	for _, db := range lab.Databases {
		assert.Contains(t, results["ovn"+string(db)], m.ShortID(gone, db))
		assert.Len(t, m.MemberIDs(leader, db), 2, "R6: proved")
	}
	m.Finds(leader, finding.FewMembers, "nb") // R11
	assert.Equal(t, membership.AlreadyGone, cluster.Outcome(m.Act(stays, "kick", kick...)["ovnnb"]), "R8")

	_, err := m.RetryUntil(t.Context(), stays)
	require.NoError(t, err)
	require.True(t, stays.Removed(), "a follower leaves")
	m.RequireMembers(leader)
	w.Stop()
	m.Verify(w)
	assert.Len(t, m.PutAway(stays), 2, "R10: both files are put away")
	assert.Empty(t, m.InPlace(stays))
}

// R5: the leader and a follower of four leave at once. Each is judged as if the other's leave were done.
func TestLeave(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	w := m.StartWriter(t.Context(), 0)
	leader := m.MakeOneLeader()
	going := []*lab.Unit{leader, m.Followers()[0]}
	for _, err := range labtest.AtOnce(going, func(u *lab.Unit) error {
		return m.RemoveUnit(t.Context(), u, lab.RemoveOptions{})
	}) {
		require.NoError(t, err)
	}
	rest := m.Remaining()
	require.Len(t, rest, 2)
	m.RequireMembers(rest...)
	m.RequireWritable()
	w.Stop()
	m.Verify(w)
}

// R0, R5: the servers of three units are restarted at the same time, and one after the other goes
// down; then a write of a follower fails, and the next hook writes its file again.
func TestRestart(t *testing.T) {
	m := labtest.Deploy(t, 3)
	w := m.StartWriter(t.Context(), 0)
	before, down := m.PIDs(m.Deployed...), labtest.WatchServers(m.Deployed)
	services := "services=ovn-ovsdb-server-nb ovn-ovsdb-server-sb"
	results := make([]lab.ActionResult, len(m.Deployed))
	for _, err := range labtest.AtOnce(m.Deployed, func(u *lab.Unit) (err error) {
		results[slices.Index(m.Deployed, u)], err = m.RunAction(t.Context(), u, "restart-services", services)
		return err
	}) {
		require.NoError(t, err)
	}
	down.End()
	assert.Empty(t, down.Broken, "a majority was down")
	now, refused := m.PIDs(m.Deployed...), 0
	for i, u := range m.Deployed {
		for _, db := range lab.Databases {
			if server := u.Name() + " " + string(db); strings.Contains(results[i].Results["restarted"], "server-"+string(db)) {
				assert.NotEqual(t, before[server], now[server], "%s is reported as restarted", server)
			}
		}
		if results[i].Status == "failed" { // others had the lock for too long
			t.Logf("%s: %s", u.Name(), results[i].Message)
			refused++
			results[i].Results = m.Act(u, "restart-services", services)
		}
		assert.Equal(t, "ovn-ovsdb-server-nb, ovn-ovsdb-server-sb", results[i].Results["restarted"])
	}
	assert.Less(t, refused, len(m.Deployed), "none had its turn")
	for server, pid := range m.PIDs(m.Deployed...) {
		assert.NotEqual(t, before[server], pid, "%s was not restarted", server)
	}
	m.RequireMembers(m.Deployed...)
	w.Stop()
	m.Verify(w)

	u := m.Followers()[0]
	failed := m.FailOnce(u, "write", "EIO")
	m.AddSwitch("lacking")
	failed()
	m.Eventually("the premise: the file has a gap, once a later record shows it", func() bool {
		_, err := u.Exec(t.Context(), "ovsdb-tool", "check-cluster", u.DBFile(lab.NB))
		return err != nil
	})
	m.Tick("its file is whole again", func() bool {
		_, err := u.Exec(t.Context(), "ovsdb-tool", "check-cluster", u.DBFile(lab.NB))
		return err == nil && u.Workload().Status == "active"
	}, u)
	m.RequireMembers(m.Deployed...)
	assert.Contains(t, m.Seen(u), "lacking")
}
