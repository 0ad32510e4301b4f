//go:build programs

package ovsctl_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// faulty are two members and a third, on whose disk a long write fails and a short
// one does not.
func faulty(t *testing.T) (leader, third *server) {
	t.Helper()
	members := all(ovsdbtest.Several(t, ovndb.NB, 3))
	leader, third = members[0], members[2]
	require.NoError(t, syscall.Mount("tmpfs", third.Paths.DB, "tmpfs", 0, "size=700k"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(third.Paths.DB, syscall.MNT_DETACH)) })
	ovsdbtest.Form(t, leader.Server, members[1].Server, third.Server)
	return leader, third
}

// pollEvery is how often a wait looks.
const pollEvery = 20 * time.Millisecond

func write(t *testing.T, s *server, bytes int) {
	t.Helper()
	text := filepath.Join(t.TempDir(), "transaction")
	require.NoError(t, os.WriteFile(text, fmt.Appendf(nil,
		`["OVN_Northbound",{"op":"insert","table":"DNS","row":{"external_ids":["map",[["long","%s"]]]}}]`, strings.Repeat("x", bytes)), 0o600))
	_, err := run.Exec{}.Run(t.Context(), run.Command{Name: "sh", Args: []string{
		"-c",
		`ovsdb-client --timeout=10 transact "$0" "$(cat "$1")"`, "unix:" + s.Paths.Socket(ovndb.NB), text,
	}})
	require.NoError(t, err)
}

// damagedRecord matches the number of the record that is invalid, in the output of
// ovsdb-tool check-cluster.
var damagedRecord = regexp.MustCompile(`: record (\d+) `)

func stored(t *testing.T, m *server) (raftfile.Log, uint64) {
	t.Helper()
	end := m.Status(t).Log.End
	log, err := raftfile.ReadLog(t.Context(), m.Paths, ovndb.NB)
	require.NoError(t, err)
	return log, end
}

func TestEntriesThatAFailedWriteHasLostAreFoundAndACompactionBringsThemBack(t *testing.T) {
	t.Parallel()
	leader, third := faulty(t)
	log, end := stored(t, third)
	require.Equal(t, raftfile.Log{End: end}, log)

	// Too long for the disk, and nothing comes after it: there is space again.
	for range 10 { // each of 100 KiB, so that no argument is too long
		write(t, leader, 100<<10)
	}
	third.Reaches(t, func(s raft.Status) bool { return s.Log.End >= leader.Status(t).Log.End }, "it does not follow")
	log, end = stored(t, third)
	assert.Less(t, log.End, end, "the server believes to have stored them")

	// What is short enough is written behind the gap.
	write(t, leader, 10)
	third.Reaches(t, func(s raft.Status) bool { return s.Committed() == leader.Status(t).Committed() }, "it does not follow")
	log, _ = stored(t, third)
	reason, err := third.files().Damaged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	require.Equal(t, damagedRecord.FindStringSubmatch(reason)[1], strings.Fields(log.Damage)[1], "%q, %q", reason, log.Damage)

	// With the disk full nothing is rewritten, and nothing gets worse.
	if err := third.control().Compact(t.Context(), ovndb.NB); err != nil { // else a later turn writes
		full := new(ovsctl.ServerError)
		require.ErrorAs(t, err, &full)
		assert.Contains(t, full.Text, "No space left on device")
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
		_ = third.control().Compact(t.Context(), ovndb.NB) // the second time there may be nothing to do
		log, end = stored(t, third)
		return log == raftfile.Log{End: end}
	}, patience, pollEvery)
	reason, err = third.files().Damaged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Empty(t, reason)

	// It can be started again, with all that was written.
	third.Kill(t)
	third.Start(t)
	third.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "it does not come back")
	assert.Len(t, rows(t, third), 11)
}

// rows are the lines of the table that write writes to.
func rows(t *testing.T, s *server) []string {
	t.Helper()
	out, err := run.Exec{}.Run(t.Context(), run.Command{Name: "ovsdb-client", Args: []string{
		"--timeout=10", "--no-headings", "--format=csv", "dump", "unix:" + s.Paths.Socket(ovndb.NB), "OVN_Northbound", "DNS", "_uuid",
	}})
	require.NoError(t, err)
	all := strings.Split(strings.TrimSpace(string(out)), "\n")
	return slices.DeleteFunc(all, func(line string) bool { return strings.HasPrefix(line, "DNS") })
}

// A leader that could not write shows a status as if it still led. It is none for
// any client that asks.
func TestLeaderThatCouldNotWriteHasGivenUpTheDatabase(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	leader := &server{ovsdbtest.New(t, ovndb.NB, net+".1")}
	require.NoError(t, syscall.Mount("tmpfs", leader.Paths.DB, "tmpfs", 0, "size=200k"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(leader.Paths.DB, syscall.MNT_DETACH)) })
	leader.Create(t).Start(t)
	leader.Reaches(t, func(s raft.Status) bool { return s.State == raft.ClusterMember && s.HasLeader() }, "it does not lead")
	end := leader.Status(t).Log.End
	transact := `["OVN_Northbound",{"op":"insert","table":"DNS","row":{"external_ids":["map",[["long","` + strings.Repeat("x", 100<<10) + `"]]]}}]`
	failed := new(ovsctl.FailedError)
	require.Eventually(t, func() bool {
		_, _ = run.Exec{}.Run(t.Context(), run.Command{Name: "ovsdb-client", Args: []string{"--timeout=1", "transact", "unix:" + leader.Paths.Socket(ovndb.NB), transact}})
		_, err := leader.control().Status(t.Context(), ovndb.NB)
		return errors.As(err, &failed)
	}, patience, pollEvery)
	require.ErrorIs(t, failed, ovsctl.ErrUnknownCluster)
	assert.Equal(t, raft.Leader, failed.Status.Role)
	log, err := raftfile.ReadLog(t.Context(), leader.Paths, ovndb.NB)
	require.NoError(t, err)
	assert.Greater(t, log.End, end)
	assert.Equal(t, failed.Status.Log.End, log.End+1, "what it could not write is in its memory, and nothing else")

	// Space doesn't help it, a start does.
	require.NoError(t, syscall.Mount("", leader.Paths.DB, "", syscall.MS_REMOUNT, "size=8m"))
	require.ErrorContains(t, leader.control().Leave(t.Context(), ovndb.NB), "can't leave after failure")
	require.NoError(t, leader.control().Exit(t.Context(), ovndb.NB))
	_ = leader.Wait(t)
	leader.Start(t)
	leader.Reaches(t, func(s raft.Status) bool { return s.State == raft.ClusterMember && s.HasLeader() }, "it does not come back")
	write(t, leader, 10)
}
