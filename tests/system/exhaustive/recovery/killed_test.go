package recovery

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// A backup is killed at its calls: it leaves no backup or a complete one, and the same command makes one and cleans up.
func TestBackup_killed_leaves_none_and_same_command_makes_one(t *testing.T) {
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

// A unit whose files are damaged rejoins. The action, its hooks, and the hooks of the units that remove its members
// are killed at their calls. The same command continues, the other members always are a quorum, and nothing is done
// twice.
func TestRejoin_killed_anywhere_is_finished_by_same_command(t *testing.T) {
	m := labtest.Deploy(t, 3)
	u, others := m.Deployed[2], m.Deployed[:2]
	m.AddSwitch("kept", u)
	ids := map[lab.DB]string{}
	for _, db := range lab.Databases {
		ids[db] = m.ServerID(u, db)
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
				require.GreaterOrEqual(t, len(m.Raft(unit, db).Servers), 2, "no other member is removed")
			}
		}
		return killed
	})
	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))
	for db, writes := range m.Verify(w) {
		assert.Zero(t, writes.Unacknowledged, "%s: there was no quorum", db)
	}
	assert.Len(t, m.PutAway(u), 2, "nothing was done twice")
	assert.Len(t, m.InPlace(u), 2)
	for _, db := range lab.Databases {
		assert.NotEqual(t, ids[db], m.ServerID(u, db))
	}
	assert.Contains(t, m.Seen(u), "kept")
	shown := m.Act(u, "rejoin", "i-really-mean-it=true")
	for _, db := range lab.Databases {
		for _, unit := range m.Deployed {
			assert.Contains(t, shown["proof"], labtest.Proved(db, unit))
		}
	}
}

// killings are the ways in which a recovery is interrupted at its calls.
var killings = []struct {
	name string
	// units are as many as are deployed; all but left are lost.
	units, left int
	// stride is how many calls further each run is killed, if no more is explored.
	stride int
	// power means that the machine loses its power at that moment, too, and starts again.
	power bool
}{
	{"the action is killed", 2, 1, 12, false},
	{"its machine loses its power", 2, 1, 24, true},
	{"the action, and the hooks of it and of the unit that publishes, are killed", 4, 2, 24, false},
}

// The action is killed at its calls, one after another, and the same command continues each time, until it has ended.
func TestRecover_killed_anywhere_is_finished_by_same_command(t *testing.T) {
	t.Parallel()
	for _, k := range killings {
		t.Run(k.name, func(t *testing.T) {
			m := labtest.Deploy(t, k.units)
			left, lost := m.Deployed[:k.left], m.Deployed[k.left:]
			asked, leads := left[0], left[k.left-1]
			m.AddSwitch("kept", left...)
			old := m.Raft(asked, lab.NB)
			m.Lose(lost...)
			require.NoError(t, m.SetLeader(t.Context(), leads))
			m.RunUpdateStatus(left...)
			give := "give-up=" + labtest.Names(lost)
			ended := m.WatchServed()
			m.Hold(true)
			m.KillEverywhere(k.stride, labtest.AllMembers(m, left...), func(call int) bool {
				killed, err := m.RunActionKilledAt(t.Context(), asked, call, "recover", give, "i-really-mean-it=true")
				require.NoError(t, err)
				if killed.Killed && k.power {
					require.NoError(t, asked.PowerOff())
					require.NoError(t, asked.PowerOn(t.Context()))
				}
				for _, u := range left {
					if len(m.Pending(u)) > 0 && !k.power { // of what it hears from others
						killed.Killed = m.KillNext(u, call) || killed.Killed
					}
				}
				return killed.Killed
			})
			m.Hold(false)
			require.NoError(t, m.Settle(t.Context()))
			now := m.Raft(asked, lab.NB)
			assert.NotEqual(t, old.Cluster, now.Cluster)
			for _, u := range left {
				assert.Len(t, m.PutAway(u), 2, "nothing was done twice")
				assert.Len(t, m.InPlace(u), 2)
			}
			m.RequireProof(asked, left...)

			m.PowerOn(lost...)
			require.NoError(t, m.Settle(t.Context()))
			m.Tick("the units that return join", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
			ended()
			for _, u := range lost {
				assert.Contains(t, m.Seen(u), "kept")
			}
			m.RequireProof(asked, m.Deployed...)
		})
	}
}

// The lost unit is given up by its members' IDs. Once one database's new cluster has replaced the old one, it does not
// contain the lost member's ID: the command that names both continues with the other database.
func TestRestore_killed_between_databases_keeps_identities(t *testing.T) {
	m := labtest.DeployWith(t, 2, lab.Options{JujuVersion: lab.Juju4})
	u, lost := m.Deployed[0], m.Deployed[1]
	m.AddSwitch("kept", u)
	from := "from=" + m.Act(u, "backup")["backup"]
	give := "give-up=" + m.ServerID(lost, lab.NB)[:8] + "," + m.ServerID(lost, lab.SB)[:8]
	m.Lose(lost)
	require.NoError(t, m.SetLeader(t.Context(), u))
	m.RunUpdateStatus(u)
	ended := m.WatchServed()
	var once sync.Once
	u.OnCall(func(call string) {
		if strings.Contains(call, "systemctl start ovn-ovsdb-server-nb") {
			once.Do(func() { assert.NoError(t, u.SignalHook(syscall.SIGKILL)) })
		}
	})
	// The ID may be published by the action, and be there in the next hook only: then that one is killed.
	_, _ = m.RunAction(t.Context(), u, "restore", from, "database=nb", "give-up="+m.ServerID(lost, lab.NB)[:8], "i-really-mean-it=true")
	m.Eventually("the new Northbound cluster has a leader", func() bool {
		s, err := m.RaftStatus(u, lab.NB)
		return m.RunHook(t.Context(), u, "update-status") == nil && err == nil && s.HasLeader()
	})
	u.OnCall(nil)
	require.NoError(t, m.Settle(t.Context()))

	m.Act(u, "restore", from, give, "i-really-mean-it=true")
	require.NoError(t, m.Settle(t.Context())) // the ID of sb is there in the next hook only
	m.Eventually("a member of both", labtest.AllMembers(m, u))
	m.RequireProof(u, u)
	assert.Len(t, m.PutAway(u), 2, "nothing was done twice")
	assert.Len(t, m.InPlace(u), 2)
	require.NoError(t, lost.PowerOn(t.Context()))
	require.NoError(t, m.Settle(t.Context()))
	m.Tick("the unit that returns joins", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	ended()
	assert.Contains(t, m.Seen(lost), "kept")
}
