package recovery

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// A backup is killed at its calls, one after another from another one on each time: what it leaves is no backup, or
// a whole one, and the same command makes one and takes the rest away.
func TestBackupThatWasKilledIsNoneAndTheSameCommandMakesOne(t *testing.T) {
	m := labtest.Deploy(t, 1)
	m.AddSwitch("kept")
	u, dir := m.Deployed[0], filepath.Join(t.TempDir(), "killed")
	seen := map[string]bool{}
	// whole requires of each backup that is new that it is whole, and counts them.
	whole := func() (n int) {
		t.Helper()
		all, err := filepath.Glob(filepath.Join(dir, "2*Z"))
		require.NoError(t, err)
		for _, path := range all {
			if seen[path] {
				continue
			}
			seen[path] = true
			n++
			require.Len(t, labtest.ReadManifest(t, path).Databases, 2)
			require.True(t, m.RefusedRecovery(u, "restore", "from="+path).Has(finding.Unconfirmed, ""), "it can be restored")
			require.Contains(t, m.Switches(path), "kept")
		}
		return n
	}
	killed := m.KillEverywhere(3, labtest.Always, func(call int) bool { // it makes some twelve
		ran, err := m.RunActionKilledAt(t.Context(), u, call, "backup", "path="+dir, "keep=100")
		require.NoError(t, err)
		made := whole()
		if !ran.Killed {
			require.Equal(t, 1, made)
			return false
		}
		require.LessOrEqual(t, made, 1)
		unfinished, err := filepath.Glob(filepath.Join(dir, ".making-*"))
		require.NoError(t, err)
		for _, path := range unfinished { // none counts as a backup
			m.Refuse(u, "restore", "from="+path, "dry-run=true")
		}
		m.Act(u, "backup", "path="+dir, "keep=100")
		require.Equal(t, 1, whole(), "killed at call %d", call)
		left, err := filepath.Glob(filepath.Join(dir, ".making-*"))
		require.NoError(t, err)
		require.Empty(t, left)
		return true
	})
	require.Greater(t, killed, 2, "the premise")
}

// A unit whose files are damaged rejoins, and the action, its own hooks and those of the units that remove its members
// are killed at their calls: the same command continues each time, the others are a quorum at all times, and nothing
// is done twice.
func TestRejoinIsFinishedByTheSameCommandWhereverItWasKilled(t *testing.T) {
	m := labtest.Deploy(t, 3)
	u, others := m.Deployed[2], m.Deployed[:2]
	m.AddSwitch("kept")
	m.Eventually("the switch is seen", func() bool { return strings.Contains(m.Seen(u), "kept") })
	ids := map[lab.DB]string{}
	for _, db := range lab.Databases {
		var err error
		ids[db], err = u.ServerID(t.Context(), db)
		require.NoError(t, err)
	}
	m.PowerOff(u)
	for _, db := range lab.Databases {
		file, err := os.OpenFile(u.DBFile(db), os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = file.WriteAt([]byte("#!"), 0)
		require.NoError(t, err)
		require.NoError(t, file.Close())
	}
	require.NoError(t, u.PowerOn(t.Context()))
	require.NoError(t, m.Settle(t.Context()))
	require.NoError(t, m.RunHook(t.Context(), u, "update-status"))
	m.Finds(u, finding.FileUnreadable, "nb")
	require.Contains(t, m.NextCommands(u)[0], "juju run "+u.Name()+" rejoin database=nb")

	w := m.StartWriter(t.Context(), 0)
	m.Hold(true)
	m.KillEverywhere(24, labtest.AllMembers(m, m.Deployed...), func(call int) bool {
		ran, err := m.RunActionKilledAt(t.Context(), u, call, "rejoin", "i-really-mean-it=true")
		require.NoError(t, err)
		killed := ran.Killed
		for _, unit := range m.Deployed {
			killed = m.KillNext(unit, call) || killed
		}
		for _, unit := range others {
			for _, db := range lab.Databases {
				s := m.Raft(unit, db)
				require.GreaterOrEqual(t, len(s.Servers), 2, "no other member is removed")
			}
		}
		return killed
	})
	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))
	for db, writes := range m.Verify(w) {
		assert.Zero(t, writes.Unacknowledged, "%s: there was no quorum", db)
	}
	put, live := m.PutAway(u), m.InPlace(u)
	assert.Len(t, put, 2, "nothing was done twice")
	assert.Len(t, live, 2)
	for _, db := range lab.Databases {
		id, err := u.ServerID(t.Context(), db)
		require.NoError(t, err)
		assert.NotEqual(t, ids[db], id)
	}
	assert.Contains(t, m.Seen(u), "kept")
	shown := m.Act(u, "rejoin", "i-really-mean-it=true")
	for _, db := range lab.Databases {
		for _, unit := range m.Deployed {
			assert.Contains(t, shown["proof"], string(db)+": "+unit.Name()+" is a member, and an acknowledged write was read back from its server")
		}
	}
}
