package functional

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
	// The last page of its file takes a few more.
	for n := range 20 {
		_, err := leader.Exec(t.Context(), "ovn-nbctl", "--timeout=30", "--db="+leader.Client(lab.NB), "ls-add", fmt.Sprintf("after-%d", n))
		require.NoError(t, err)
	}

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

	// With a vote that it can't store it gives the database up. One or two more may
	// find room in that page.
	require.NoError(t, leader.Kill(lab.NB))
	candidate := m.units[1]
	m.eventually("a server that has given up", func() bool {
		require.NoError(t, candidate.Kill(lab.NB))
		require.NoError(t, candidate.Start(t.Context(), lab.NB))
		m.wait(3 * time.Second)
		r, err := m.RunAction(context.WithoutCancel(t.Context()), full, "cluster-status")
		require.NoError(t, err)
		return strings.Contains(r.Results["ovnnb"], "has given up the database")
	})
	require.NoError(t, m.RunHook(t.Context(), full, "update-status"))
	assert.Equal(t, "blocked", full.Workload().Status)
	assert.Contains(t, full.Workload().Message, "no space left on the disk of "+full.DBDir())
}

// addOnSmallDisk adds a unit whose databases are on a disk of their own, and
// returns what fills it.
func (m *model) addOnSmallDisk() (u *lab.Unit, fill func()) {
	m.t.Helper()
	if os.Getuid() != 0 {
		m.t.Skip("only root can mount the disk that is to be full")
	}
	u = m.addSilent()
	require.NoError(m.t, syscall.Mount("tmpfs", u.DBDir(), "tmpfs", 0, "size=1m"))
	m.t.Cleanup(func() { assert.NoError(m.t, syscall.Unmount(u.DBDir(), syscall.MNT_DETACH)) })
	require.NoError(m.t, u.JoinDatabases(m.t.Context()))
	require.NoError(m.t, m.Settle(m.t.Context()))
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
