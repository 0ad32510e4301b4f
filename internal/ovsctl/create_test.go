//go:build programs

package ovsctl_test

import (
	"os"
	"path/filepath"
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
)

const clusterTimer = 4 * time.Second

// stage makes the file of a new cluster, which no unit commits.
func (s *server) stage(t *testing.T) ovsctl.File {
	t.Helper()
	made, err := s.files().CreateCluster(t.Context(), s.Database, s.Address, clusterTimer)
	require.NoError(t, err)
	return made
}

// names are the files in the folder of the databases.
func (s *server) names(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(s.Paths.DB)
	require.NoError(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestNewClusterIsKnownBeforeAnyServerFindsIt(t *testing.T) {
	t.Parallel()
	for _, d := range ovndb.Databases() {
		t.Run(d.Short(), func(t *testing.T) {
			t.Parallel()
			s := &server{ovsdbtest.New(t, d, loopbacktest.Network(t)+".1")}
			made := s.stage(t)
			assert.NotEmpty(t, made.Cluster)
			assert.Equal(t, string(d), made.Name)
			assert.False(t, s.inspect(t).Exists)
			staged, err := s.files().Staged(t.Context(), d)
			require.NoError(t, err)
			assert.Equal(t, made, staged)

			require.NoError(t, s.files().Commit(d))
			assert.Equal(t, made.Cluster, s.inspect(t).Cluster)
			assert.Equal(t, []string{filepath.Base(s.Paths.File(d))}, s.names(t), "nothing else is left")

			s.Start(t).Reaches(t, func(status raft.Status) bool {
				return status.Role == raft.Leader && status.ElectionTimer == clusterTimer
			}, "the server does not lead the cluster that was made, or not with its election timer")
			status := s.Status(t)
			assert.Equal(t, made.Cluster, *status.Cluster)
			assert.Equal(t, made.Server, status.Server)
		})
	}
}

func TestClusterThatWasStagedIsKeptByTheNextTry(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	first := s.stage(t)
	assert.Equal(t, first, s.stage(t), "others may know its ID")
	s.Address = "tcp:127.0.0.2:6643"
	other := s.stage(t)
	assert.NotEqual(t, first.Cluster, other.Cluster, "nobody can join at an address that is gone")

	require.NoError(t, s.files().Discard(ovndb.NB))
	require.NoError(t, s.files().Discard(ovndb.NB), "there is nothing any more")
	assert.Empty(t, s.names(t))
	staged, err := s.files().Staged(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.False(t, staged.Exists)
	require.ErrorIs(t, s.files().Commit(ovndb.NB), os.ErrNotExist)
}

func TestStagedFileThatCannotBeReadIsNotThrownAway(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	require.NoError(t, os.WriteFile(s.Paths.File(ovndb.NB)+".new", []byte("what is this?"), 0o600))
	_, err := s.files().CreateCluster(t.Context(), ovndb.NB, s.Address, clusterTimer)
	require.ErrorContains(t, err, "cannot read "+s.Paths.File(ovndb.NB)+".new")
	assert.Equal(t, []string{"ovnnb_db.db.new"}, s.names(t))
}

func TestDatabaseFileIsNeverReplaced(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1")}
	staged := s.stage(t)
	path := s.Paths.File(ovndb.SB)
	require.NoError(t, os.WriteFile(path, []byte("the only copy"), 0o600))

	_, err := s.files().CreateCluster(t.Context(), ovndb.SB, s.Address, clusterTimer)
	require.ErrorIs(t, err, ovsctl.ErrFileExists)
	require.ErrorIs(t, s.files().Commit(ovndb.SB), ovsctl.ErrFileExists)
	require.ErrorIs(t, s.files().JoinCluster(t.Context(), ovndb.SB, staged.Cluster, s.Address, []string{"tcp:127.0.0.2:6644"}), ovsctl.ErrFileExists)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "the only copy", string(text))
	assert.Equal(t, []string{"ovnsb_db.db", "ovnsb_db.db.new"}, s.names(t))
}

func TestServerJoinsTheClusterOfTheIDThroughAnyRemote(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	first := &server{ovsdbtest.New(t, ovndb.NB, net+".1")}
	cid := first.stage(t).Cluster
	require.NoError(t, first.files().Commit(ovndb.NB))
	first.Start(t)

	second := &server{ovsdbtest.New(t, ovndb.NB, net+".2")}
	nobody := "tcp:" + net + ".9:6643"
	require.NoError(t, second.files().JoinCluster(t.Context(), ovndb.NB, cid, second.Address, []string{nobody, first.Address}))
	assert.Equal(t, []string{"ovnnb_db.db"}, second.names(t))
	assert.Equal(t, cid, second.inspect(t).Cluster, "it is known before the server runs")
	second.Start(t).Reaches(t, func(s raft.Status) bool { return s.State == raft.ClusterMember && len(s.Servers) == 2 }, "it does not join")
}

func TestServerDoesNotJoinAClusterOfAnotherID(t *testing.T) {
	t.Parallel()
	net := loopbacktest.Network(t)
	first := cluster(t, ovndb.NB, 1)[0]
	other := &server{ovsdbtest.New(t, ovndb.NB, net+".2")}
	wrong := raft.ID("01234567-89ab-4cde-8f01-23456789abcd")
	require.NoError(t, other.files().JoinCluster(t.Context(), ovndb.NB, wrong, other.Address, []string{first.Address}))
	other.Start(t)
	// What is not to happen is not awaited but provoked: the request was refused.
	require.Eventually(t, func() bool {
		log, err := os.ReadFile(first.Log())
		return err == nil && strings.Contains(string(log), "wrong cluster")
	}, patience, 20*time.Millisecond, "the cluster was not asked")
	assert.Equal(t, raft.JoiningCluster, other.Status(t).State)
	assert.Len(t, first.Status(t).Servers, 1)
}

func TestNobodyJoinsWithoutAnIDOrARemote(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1")}
	const id = "01234567-89ab-4cde-8f01-23456789abcd"
	require.ErrorContains(t, s.files().JoinCluster(t.Context(), ovndb.NB, "", s.Address, []string{"tcp:127.0.0.2:6643"}), "takes a cluster ID")
	require.ErrorContains(t, s.files().JoinCluster(t.Context(), ovndb.NB, "0123", s.Address, []string{"tcp:127.0.0.2:6643"}), "takes a cluster ID")
	require.ErrorContains(t, s.files().JoinCluster(t.Context(), ovndb.NB, id, s.Address, nil), "at least one remote")
	require.Error(t, s.files().JoinCluster(t.Context(), ovndb.NB, id, "nonsense", []string{"tcp:127.0.0.2:6643"}))
	assert.Empty(t, s.names(t))
}

func TestWhatWasInterruptedIsTakenUp(t *testing.T) {
	t.Parallel()
	tests := map[string]func(t *testing.T, s *server){
		"while the file was written": func(t *testing.T, s *server) {
			whole, err := os.ReadFile(s.stage(t).Path)
			require.NoError(t, err)
			require.NoError(t, s.files().Discard(ovndb.NB))
			require.NoError(t, os.WriteFile(s.Paths.File(ovndb.NB)+".making", whole[:len(whole)/2], 0o600))
			require.NoError(t, os.WriteFile(filepath.Join(s.Paths.DB, ".ovnnb_db.db.making.~lock~"), nil, 0o600))
		},
		"before it was staged": func(t *testing.T, s *server) {
			require.NoError(t, os.Rename(s.stage(t).Path, s.Paths.File(ovndb.NB)+".making"))
		},
		"before it was committed": func(t *testing.T, s *server) { s.stage(t) },
	}
	for name, interrupted := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1")}
			interrupted(t, s)
			made := s.stage(t)
			require.NoError(t, s.files().Commit(ovndb.NB))
			assert.Equal(t, []string{"ovnnb_db.db"}, s.names(t))
			assert.Equal(t, made.Cluster, *s.Start(t).Status(t).Cluster)
		})
	}
}

func TestCommitThatWasInterruptedIsFinished(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1")}
	made := s.stage(t)
	require.NoError(t, os.Link(made.Path, s.Paths.File(ovndb.SB)))
	require.NoError(t, s.files().Commit(ovndb.SB))
	assert.Equal(t, []string{"ovnsb_db.db"}, s.names(t))
	require.NoError(t, s.files().Commit(ovndb.SB), "it is done")
	assert.Equal(t, made.Cluster, s.inspect(t).Cluster)
}

func TestFullDiskLeavesNothingHalfWritten(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can mount a small disk")
	}
	s := &server{ovsdbtest.New(t, ovndb.SB, "127.0.0.1")}
	s.Paths.DB = t.TempDir()
	require.NoError(t, syscall.Mount("tmpfs", s.Paths.DB, "tmpfs", 0, "size=12k"))
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(s.Paths.DB, syscall.MNT_DETACH)) })

	_, err := s.files().CreateCluster(t.Context(), ovndb.SB, s.Address, clusterTimer)
	require.ErrorContains(t, err, "cannot make the database file of OVN_Southbound")
	assert.Empty(t, s.names(t), "the schema alone is larger than the disk")

	require.NoError(t, syscall.Mount("tmpfs", s.Paths.DB, "tmpfs", syscall.MS_REMOUNT, "size=1m"))
	s.stage(t)
	require.NoError(t, s.files().Commit(ovndb.SB))
}
