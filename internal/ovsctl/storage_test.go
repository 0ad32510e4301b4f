//go:build programs

package ovsctl_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
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

func storage(t *testing.T, s *server) raftfile.Storage {
	t.Helper()
	found, err := raftfile.ReadStorage(s.Paths, s.Database)
	require.NoError(t, err)
	stat, err := os.Stat(s.File())
	require.NoError(t, err)
	assert.Equal(t, stat.Size(), found.Size)
	return found
}

func TestFileOfARealServerGrowsUntilItIsCompacted(t *testing.T) {
	t.Parallel()
	began := time.Now().Add(-time.Second) // file systems count in ticks
	s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t).Start(t)}
	s.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "no leader")
	before := storage(t, s)
	write(t, s, 100_000)
	after := storage(t, s)
	assert.Equal(t, before.Compacted, after.Compacted)
	assert.GreaterOrEqual(t, after.Grown(), before.Grown()+100_000)
	assert.Equal(t, before.Written, after.Written, "it is the same file")
	require.False(t, after.Written.IsZero(), "the file system of this machine says when")
	assert.True(t, after.Written.After(began))

	require.NoError(t, s.control().TrimMemory(t.Context(), ovndb.NB), "a server takes it, whether or not it is on already")
	require.NoError(t, s.control().TrimMemory(t.Context(), ovndb.NB))
	require.NoError(t, s.control().Compact(t.Context(), ovndb.NB))
	require.Eventually(t, func() bool { return storage(t, s).Compacted > 100_000 }, patience, 20*time.Millisecond, "what was written is in the snapshot")
	compacted := storage(t, s)
	assert.Less(t, compacted.Grown(), int64(10_000))
	assert.False(t, compacted.Written.Before(after.Written))
}

func TestFileThatIsNoClustersHasNoStorage(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	_, err := raftfile.ReadStorage(s.Paths, ovndb.NB)
	require.ErrorIs(t, err, os.ErrNotExist)
	s.Standalone(t)
	_, err = raftfile.ReadStorage(s.Paths, ovndb.NB)
	require.ErrorContains(t, err, "invalid header")
}

// insert has the server store so many rows in one transaction, which is one turn of its
// main loop.
func insert(t *testing.T, s *server, rows int) {
	t.Helper()
	client, err := new(net.Dialer).DialContext(t.Context(), "unix", s.Paths.Socket(s.Database))
	require.NoError(t, err)
	defer client.Close()
	row := `,{"op":"insert","table":"DNS","row":{"external_ids":["map",[["a","b"],["c","d"]]]}}`
	_, err = fmt.Fprintf(client, `{"id":1,"method":"transact","params":["%s"%s]}`, s.Database, strings.Repeat(row, rows))
	require.NoError(t, err)
	require.NoError(t, client.SetReadDeadline(time.Now().Add(3*patience)))
	var answer struct{ Error any }
	require.NoError(t, json.NewDecoder(client).Decode(&answer))
	require.Nil(t, answer.Error)
}

func TestARealServerThatWasSilentSaysSoInItsLog(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t).Start(t)}
	s.Reaches(t, func(s raft.Status) bool { return s.HasLeader() }, "no leader")
	s.Paths.Logs = s.Paths.Run
	since := time.Now().Add(-time.Minute)
	for rows := 20_000; rows <= 640_000; rows *= 2 { // what takes a second depends on the machine
		began := time.Now()
		insert(t, s, rows)
		took := time.Since(began)
		found, err := ovsctl.ReadLongPolls(s.Paths, ovndb.NB, since)
		require.NoError(t, err)
		if found.Count > 0 {
			assert.GreaterOrEqual(t, found.Longest, time.Second)
			assert.LessOrEqual(t, found.Longest, took+time.Second)
			return
		}
	}
	require.Fail(t, "no turn took a second")
}
