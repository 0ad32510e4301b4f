//go:build programs

package ovsctl_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/loopbacktest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// A server that compacts a large database answers nothing for longer than one of a
// small database may: it is asked with more patience, and is not taken for one that
// hangs.
func TestServerOfALargeDatabaseIsGivenMoreTimeToAnswer(t *testing.T) {
	t.Parallel()
	s := &server{ovsdbtest.New(t, ovndb.NB, loopbacktest.Network(t)+".1").Create(t).Start(t)}
	require.NoError(t, s.Signal(syscall.SIGSTOP))
	begun := time.Now()
	_, err := s.control().Status(t.Context(), ovndb.NB)
	require.ErrorIs(t, err, ovsctl.ErrHung)
	require.ErrorContains(t, err, "within 5s")
	require.Less(t, time.Since(begun), patience)

	// The file has a large size; the server has read it already.
	require.NoError(t, os.Truncate(s.Paths.File(ovndb.NB), 160<<20))
	resumed := time.AfterFunc(8*time.Second, func() { _ = s.Signal(syscall.SIGCONT) })
	defer resumed.Stop()
	begun = time.Now()
	_, err = s.control().Status(t.Context(), ovndb.NB)
	require.NoError(t, err)
	require.Greater(t, time.Since(begun), 5*time.Second, "it was not asked while it was silent")
}
