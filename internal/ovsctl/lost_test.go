//go:build programs

package ovsctl_test

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// faulty starts two members, and a third on whose disk only long writes fail.
func faulty(t *testing.T) (leader, third *server) {
	t.Helper()
	members := all(ovsdbtest.Several(t, ovndb.NB, 3))
	leader, third = members[0], members[2]
	require.NoError(t, syscall.Mount("tmpfs", third.Paths.DB, "tmpfs", 0, "size=700k"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(third.Paths.DB, syscall.MNT_DETACH)) })
	ovsdbtest.Form(t, leader.Server, members[1].Server, third.Server)
	return leader, third
}

// pollEvery is the interval of checks.
const pollEvery = 20 * time.Millisecond

// dns returns an operation that inserts a row with that many bytes.
func dns(bytes int) object {
	ids := []any{"map", []any{[]any{"long", strings.Repeat("x", bytes)}}}
	return object{"op": "insert", "table": "DNS", "row": object{"external_ids": ids}}
}

func write(t *testing.T, s *server, bytes int) {
	t.Helper()
	require.NoError(t, s.Transact(10*time.Second, dns(bytes)))
}

// follow waits until a member has committed everything that the leader has committed.
func follow(t *testing.T, s, leader *server) {
	t.Helper()
	s.Reaches(t, func(s raft.Status) bool { return s.Committed() == leader.Status(t).Committed() }, "it does not follow")
}

// damagedRecord matches the number of the invalid record in the output of ovsdb-tool check-cluster.
var damagedRecord = regexp.MustCompile(`: record (\d+) `)

func stored(t *testing.T, m *server) (raftfile.Log, uint64) {
	t.Helper()
	end := m.Status(t).Log.End
	log, err := raftfile.ReadLog(t.Context(), m.Paths, ovndb.NB)
	require.NoError(t, err)
	return log, end
}

// holds reports whether the log is intact, and has this end.
func holds(log raftfile.Log, end uint64) bool {
	return log.End == end && log.Damage == "" && !log.Outside
}

func TestCompact_restores_lost_entries(t *testing.T) {
	t.Parallel()
	leader, third := faulty(t)
	log, end := stored(t, third)
	require.True(t, holds(log, end))

	// These entries are too long for the disk; afterwards there is space again.
	for range 10 {
		write(t, leader, 100<<10)
	}
	third.Reaches(t, func(s raft.Status) bool { return s.Log.End >= leader.Status(t).Log.End }, "it does not follow")
	log, end = stored(t, third)
	assert.Less(t, log.End, end, "the server acknowledges them")

	// A short entry is written after the gap.
	write(t, leader, 10)
	follow(t, third, leader)
	log, _ = stored(t, third)
	reason, err := third.files().Damaged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	require.Equal(t, damagedRecord.FindStringSubmatch(reason)[1], strings.Fields(log.Damage)[1])

	// With a full disk nothing can be rewritten.
	if err := third.control().Compact(t.Context(), ovndb.NB); err != nil { // or a later iteration writes
		full := new(ovsctl.ServerError)
		require.ErrorAs(t, err, &full)
		assert.Contains(t, full.Text, "No space left")
	}
	require.Eventually(t, func() bool {
		_, err := os.Stat(third.Paths.File(ovndb.NB) + ".tmp")
		return os.IsNotExist(err)
	}, patience, pollEvery)
	assert.Equal(t, raft.ClusterMember, third.Status(t).State)
	again, _ := stored(t, third)
	assert.Equal(t, log.Damage, again.Damage)

	require.NoError(t, syscall.Mount("", third.Paths.DB, "", syscall.MS_REMOUNT, "size=8m"))
	require.Eventually(t, func() bool {
		_ = third.control().Compact(t.Context(), ovndb.NB) // refused if there is nothing to do
		log, end = stored(t, third)
		return holds(log, end)
	}, patience, pollEvery)
	reason, err = third.files().Damaged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Empty(t, reason)

	// The server can be started again, with everything that was written.
	third.Kill(t)
	third.Start(t)
	third.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "it does not come back")
	assert.Len(t, rows(t, third), 11)
}

// rows returns the rows that write inserted.
func rows(t *testing.T, s *server) []string {
	t.Helper()
	out, err := s.program(t.Context(), "ovsdb-client", "--timeout=10", "--no-headings", "--format=csv",
		"dump", s.Endpoint(), "OVN_Northbound", "DNS", "_uuid")
	require.NoError(t, err)
	all := strings.Split(strings.TrimSpace(out), "\n")
	return slices.DeleteFunc(all, func(line string) bool { return strings.HasPrefix(line, "DNS") })
}

// A leader that could not write still shows itself as the leader, but serves no client.
func TestStatus_failed_leader(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	leader := newServer(t, ovndb.NB, net+".1")
	require.NoError(t, syscall.Mount("tmpfs", leader.Paths.DB, "tmpfs", 0, "size=200k"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(leader.Paths.DB, syscall.MNT_DETACH)) })
	leader.Create(t).Start(t).Reaches(t, isMember, "it does not lead")
	end := leader.Status(t).Log.End
	failed := new(ovsctl.FailedError)
	require.Eventually(t, func() bool {
		_ = leader.Transact(time.Second, dns(100<<10))
		_, err := leader.control().Status(t.Context(), ovndb.NB)
		return errors.As(err, &failed)
	}, patience, pollEvery)
	require.ErrorIs(t, failed, ovsctl.ErrUnknownCluster)
	assert.Equal(t, raft.Leader, failed.Status.Role)
	log, err := raftfile.ReadLog(t.Context(), leader.Paths, ovndb.NB)
	require.NoError(t, err)
	assert.Greater(t, log.End, end)
	assert.Equal(t, failed.Status.Log.End, log.End+1, "only the failed entry is in memory")

	// Space doesn't help, a restart does.
	require.NoError(t, syscall.Mount("", leader.Paths.DB, "", syscall.MS_REMOUNT, "size=8m"))
	require.ErrorContains(t, leader.control().Leave(t.Context(), ovndb.NB), "can't leave after failure")
	require.NoError(t, leader.control().Exit(t.Context(), ovndb.NB))
	_ = leader.Wait(t)
	leader.Start(t).Reaches(t, isMember, "it does not come back")
	write(t, leader, 10)
}
