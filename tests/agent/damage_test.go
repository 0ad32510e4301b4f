package agent

import (
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// R0: a member whose file lacks entries, since a write to its disk has failed, is down for every
// unit before its own unit runs a hook; and it is written once (R17).
func TestMemberWhoseFileLacksEntriesIsToldOfBetweenHooks(t *testing.T) {
	t.Parallel()
	p := newPlaneOnMachines(t, tested(t))
	p.nb("init")
	p.holder(p.agents...)
	n := (p.leader() + 1) % hub
	paths := ovndb.Paths{Run: p.runDir(n), DB: p.runDir(n)}
	require.NoError(t, os.Symlink(p.servers[n].Paths.Socket(ovndb.NB), paths.Socket(ovndb.NB)))
	require.NoError(t, os.Symlink(p.servers[n].File(), paths.File(ovndb.NB)))

	logEnd := func() uint64 {
		return p.servers[n].Status(t).Log.End
	}
	end := logEnd()
	found, err := os.Stat(paths.File(ovndb.NB))
	require.NoError(t, err)
	full := unix.Rlimit{Cur: uint64(found.Size()), Max: math.MaxUint64}
	require.NoError(t, unix.Prlimit(p.servers[n].Pid, unix.RLIMIT_FSIZE, &full, nil))
	p.nb("set", "NB_Global", ".", "external_ids:lost=1")
	eventually(t, func() bool { return logEnd() > end }, patience, 50*time.Millisecond, "the premise: it has that in memory")
	after, err := os.Stat(paths.File(ovndb.NB))
	require.NoError(t, err)
	require.Equal(t, found.Size(), after.Size(), "the premise: its file has not")
	room := unix.Rlimit{Cur: math.MaxUint64, Max: math.MaxUint64}
	require.NoError(t, unix.Prlimit(p.servers[n].Pid, unix.RLIMIT_FSIZE, &room, nil))
	p.nb("set", "NB_Global", ".", "external_ids:acknowledged=1")

	told := func() int {
		return strings.Count(p.nb("get", "NB_Global", ".", "external_ids"), "ovn-central:unhealthy/")
	}
	eventually(t, func() bool { return told() > 0 }, patience, time.Second)
	assert.Equal(t, 1, told())
	assert.Contains(t, p.agents[n].Output(), "all units count it as down until a hook has the file rewritten")

	p.run("ovs-appctl", "-t", p.servers[n].Control(), "ovsdb-server/compact", "OVN_Northbound")
	eventually(t, func() bool { return told() == 0 }, patience, time.Second, "there is no charm whose hook would take it back")
}
