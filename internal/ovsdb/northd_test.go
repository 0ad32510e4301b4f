//go:build programs

package ovsdb_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdbtest"
)

// northd runs an ovn-northd on the leaders of two clusters, and returns a function that asks it for its status.
func northd(t *testing.T, nb, sb *server) (p *ovsdbtest.Process, is func(state string) bool) {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "ctl")
	p = ovsdbtest.Run(t, nil, "ovn-northd", "-vconsole:off", "--unixctl="+socket, "--ovnnb-db="+nb.Endpoint(),
		"--ovnsb-db="+sb.Endpoint())
	return p, func(state string) bool {
		out, err := exec.CommandContext(t.Context(), "ovs-appctl", "-T", "5", "-t", socket, "status").Output()
		return err == nil && strings.TrimSpace(string(out)) == "Status: "+state
	}
}

// The question disturbs no ovn-northd: neither the active one, nor one that waits, nor one that starts meanwhile.
func TestNorthdLockFree(t *testing.T) {
	t.Parallel()
	nb, sb := cluster(t, ovndb.NB, 1)[0], cluster(t, ovndb.SB, 2)
	d := new(ovsdb.Dialer)
	free := func() bool {
		free, err := d.NorthdLockFree(within(t, patience), endpointsOf(sb[0])...)
		require.NoError(t, err)
		return free
	}
	eventually := func(done func() bool) {
		t.Helper()
		require.Eventually(t, done, patience, 10*time.Millisecond)
	}
	assert.True(t, free())
	assert.True(t, free(), "the question has released the lock")

	first, firstIs := northd(t, nb, sb[0])
	eventually(func() bool { return !free() }) // it asks while ovn-northd starts
	eventually(func() bool { return firstIs("active") })
	second, secondIs := northd(t, nb, sb[0])
	eventually(func() bool { return secondIs("standby") })
	for range 20 {
		assert.False(t, free())
	}
	assert.True(t, firstIs("active"))
	assert.True(t, secondIs("standby"))

	require.NoError(t, first.Signal(syscall.SIGKILL))
	eventually(func() bool { return secondIs("active") })
	assert.False(t, free())
	require.NoError(t, second.Signal(syscall.SIGKILL))
	eventually(free)

	_, err := d.NorthdLockFree(within(t, patience), endpointsOf(sb[1])...)
	require.Error(t, err, "a follower's locks are others")
}
