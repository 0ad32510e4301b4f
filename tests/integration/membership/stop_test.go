package membership

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// R9: if a failure protects nothing, it must not block the removal.
func TestStop_unreachable_server_does_not_block_removal(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	for name, spoil := range map[string]func(*lab.Unit) error{
		"hung": func(u *lab.Unit) error { return errors.Join(u.Hang(lab.NB), u.Hang(lab.SB)) },
		"dead": func(u *lab.Unit) error { return errors.Join(u.Kill(lab.NB), u.Kill(lab.SB)) },
	} {
		m.Run(name, func(m *labtest.Model) {
			t := m.T
			m.MakeOneLeader()
			u := m.Followers()[0]
			require.NoError(t, spoil(u))
			require.NoError(t, m.BeginRemoval(t.Context(), u))
			start := time.Now()
			m.Remove(u)
			assert.Less(t, time.Since(start), labtest.Patience)
			left, live := m.PutAway(u), m.InPlace(u)
			assert.Empty(t, left, "no other member knows that it is gone")
			assert.Len(t, live, 2)
			survivor := m.LeaderOf(lab.NB)
			m.Tick("an ovn-northd that stays is active", func() bool { return survivor.Workload().Status == "active" })
			m.Finds(survivor, finding.StaleMember, "nb sb "+u.Name())
			assert.Contains(t, m.NextCommands(survivor), "juju run "+survivor.Name()+" kick unit="+u.Name()+" i-really-mean-it=true")
			m.Act(survivor, "kick", "unit="+u.Name(), "i-really-mean-it=true")
		})
	}
}

// R1, R9: a server without its control socket still votes. With another member down, stopping it would leave a
// candidate for ever; so nothing is done until the server can be asked.
func TestStop_server_without_control_socket_is_not_dead(t *testing.T) {
	m := labtest.Deploy(t, 3)
	m.MakeOneLeader()
	off, u := m.Followers()[0], m.Followers()[1]
	survivor := m.LeaderOf(lab.NB)
	m.PowerOff(off)
	m.RequireDown(off)
	require.NoError(t, os.Rename(u.RunDir(), filepath.Join(filepath.Dir(u.RunDir()), "run.gone")))
	said := m.RefuseRemoval(u)
	assert.Contains(t, said, filepath.Base(u.Ctl(lab.NB)))
	assert.Contains(t, said, "juju ssh "+u.Name()+" sudo systemctl restart "+lab.NB.Service())
	assert.Contains(t, said, "juju resolved --no-retry "+u.Name())
	for _, db := range lab.Databases {
		assert.True(t, m.HasLeader(survivor, db), "%s: it continues to vote", db)
	}
	m.Refuse(u, "restart-services", "services=ovn-ovsdb-server-nb") // a restart removes the vote, too
	m.RequireWritable()
}

// R1, R9: of two members the other could commit nothing any more, not even the removal. The printed command starts
// the servers, and the unit then leaves.
func TestStop_down_member_stays_until_spare(t *testing.T) {
	m := labtest.DeployWith(t, 2, lab.Options{JujuVersion: lab.Juju4})
	u := m.Followers()[0]
	require.NoError(t, u.Kill(lab.SB))
	said := m.RefuseRemoval(u)
	// The other member counts as up until it notices that it can't be elected.
	assert.True(t, slices.ContainsFunc([]int{0, 1}, func(up int) bool {
		return strings.Contains(said, "sb: "+labtest.Reason(finding.ServerNeeded, finding.Args{After: finding.Tally{Up: up, Members: 2}}))
	}), said)
	assert.Contains(t, said, "juju resolved --no-retry "+u.Name())
	command := labtest.LineWith(t, said, "next: ")
	require.Equal(t, "juju run "+u.Name()+" resume", command)
	assert.Equal(t, "completed", m.Type(command).Status)
	_, err := m.RetryUntil(t.Context(), u)
	require.NoError(t, err)
	m.RequireMembers(m.Remaining()...)
	m.RequireWritable()
}

// R5: the holder is gone for good; another unit takes over the lock after its deadline.
func TestLock_of_killed_holder_is_taken_over(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	m.MakeOneLeader()
	holder, next := m.Followers()[0], m.Followers()[1]
	require.NoError(t, m.BeginRemoval(t.Context(), holder))
	// The lock is held, and nothing is done under it.
	m.KillHook(holder, "stop", func(call string) bool { return strings.Contains(call, "cluster/leave") })
	require.NoError(t, holder.PowerOff())
	m.RequireDown(holder)
	start := time.Now()
	m.Remove(next)
	assert.Greater(t, time.Since(start), 10*time.Second, "the holder's time is respected")
	assert.Len(t, m.MemberIDs(m.LeaderOf(lab.NB), lab.NB), 3)
	m.RequireWritable()
}
