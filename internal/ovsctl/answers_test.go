//go:build programs

package ovsctl_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// counted runs programs and counts them.
type counted struct{ calls int }

// Run implements run.Runner.
func (c *counted) Run(ctx context.Context, command run.Command) ([]byte, error) {
	c.calls++
	return run.Exec{}.Run(ctx, command)
}

func TestStateCache_file_changes(t *testing.T) {
	t.Parallel()
	s, calls := newServer(t, ovndb.NB, loopbacktest.Network(t)+".1"), new(counted)
	files := s.files()
	files.Runner, files.Answers = calls, new(ovsctl.StateCache)
	made, err := files.CreateCluster(t.Context(), ovndb.NB, s.Address, time.Second)
	require.NoError(t, err)
	before := calls.calls

	require.NoError(t, files.Commit(ovndb.NB))
	file, err := files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, before+1, calls.calls, "whether its server has left")
	again, err := files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, file, again)
	assert.Equal(t, before+1, calls.calls)
	made.Path = file.Path
	assert.Equal(t, made, file)

	// A server writes to the file.
	s.Start(t)
	require.Eventually(t, func() bool { return s.Status(t).HasLeader() }, patience, 10*time.Millisecond)
	s.Kill(t)
	_, err = files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Greater(t, calls.calls, before)

	// Another file gets the same name.
	_, err = files.Archive(ovndb.NB, time.Now())
	require.NoError(t, err)
	_, err = files.CreateCluster(t.Context(), ovndb.NB, s.Address, time.Second)
	require.NoError(t, err)
	require.NoError(t, files.Commit(ovndb.NB))
	file, err = files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.NotEqual(t, made.Server, file.Server)
}

func TestStateCache_keeps_no_cut_off_answer(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, "127.0.0.1").Standalone(t)}
	files := s.files()
	files.Answers = new(ovsctl.StateCache)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := files.Inspect(over, ovndb.NB)
	require.Error(t, err)
	file, err := files.Inspect(t.Context(), ovndb.NB)
	require.NoError(t, err)
	assert.Equal(t, "OVN_Northbound", file.Name)
}
