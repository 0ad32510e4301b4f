package functional

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// R0: a follower whose disk is full calls itself healthy, follows the leader, and
// answers on its client port. Only the leader sees that it stores nothing.
func TestFollowerWithAFullDiskCountsAsDown(t *testing.T) {
	m := deploy(t, 2)
	full, fill := m.addOnSmallDisk()
	m.makeLeader(m.units[0], lab.NB)
	m.makeLeader(m.units[0], lab.SB)
	leader := m.units[0]
	fill()
	_, err := leader.Exec(t.Context(), "ovn-nbctl", "--timeout=30", "--db="+leader.Client(lab.NB), "ls-add", "after")
	require.NoError(t, err)

	m.eventually("a leader that sees it lag", func() bool {
		return strings.Contains(m.act(leader, "cluster-status")["warnings"], full.Name()+", is down: ")
	})
	s, err := m.status(full, lab.NB)
	require.NoError(t, err)
	assert.Equal(t, raft.ClusterMember, s.State, "the premise: it says that all is well")
	said := m.refuseRemoval(leader)
	assert.Contains(t, said, "nb: of 3 members 2 are up; without "+m.short(leader, lab.NB))
	assert.Contains(t, said, "down: "+m.short(full, lab.NB))
	assert.Len(t, m.members(leader, lab.SB), 3, "nothing was touched in the other database either")

	// With its next vote, which it can't store, it gives the database up.
	require.NoError(t, leader.Kill(lab.NB))
	m.eventually("a server that has given up", func() bool {
		r, err := m.RunAction(context.WithoutCancel(t.Context()), full, "cluster-status")
		require.NoError(t, err)
		return strings.Contains(r.Results["ovnnb"], "has given up the database")
	})
	require.NoError(t, m.RunHook(t.Context(), full, "update-status"))
	assert.Equal(t, "blocked", full.Workload().Status)
	assert.Contains(t, full.Workload().Message, "nb: the server runs but has given up the database")
}

// addOnSmallDisk adds a unit whose databases are on a disk of their own, and
// returns what fills it.
func (m *model) addOnSmallDisk() (u *lab.Unit, fill func()) {
	m.t.Helper()
	if os.Getuid() != 0 {
		m.t.Skip("only root can mount the disk that is to be full")
	}
	u, err := m.AddUnitWith(m.t.Context(), lab.AddOptions{NoDatabases: true})
	require.NoError(m.t, err)
	require.NoError(m.t, syscall.Mount("tmpfs", u.DBDir(), "tmpfs", 0, "size=1m"))
	m.t.Cleanup(func() { assert.NoError(m.t, syscall.Unmount(u.DBDir(), syscall.MNT_DETACH)) })
	require.NoError(m.t, u.JoinDatabases(m.t.Context()))
	require.NoError(m.t, m.UpdateStatus(m.t.Context()))
	m.units = append(m.units, u)
	return u, func() {
		filler, err := os.Create(filepath.Join(u.DBDir(), "filler"))
		require.NoError(m.t, err)
		for err == nil {
			_, err = filler.Write(make([]byte, 512))
		}
		require.ErrorIs(m.t, err, syscall.ENOSPC)
		require.NoError(m.t, filler.Close())
	}
}
