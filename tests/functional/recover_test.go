package functional

import (
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// switches that clients see, through any unit that serves the Northbound database.
func (m *model) seen(u *lab.Unit) string {
	m.t.Helper()
	out, err := u.Exec(m.t.Context(), "ovn-nbctl", "--timeout=20", "--no-leader-only", "--db=unix:"+filepath.Join(u.RunDir(), "ovnnb_db.sock"), "ls-list")
	require.NoError(m.t, err)
	return out
}

func (m *model) addSwitch(name string) {
	m.t.Helper()
	_, err := m.rest()[0].Exec(m.t.Context(), "ovn-nbctl", "--timeout=30", "--db="+m.Remotes(lab.NB), "ls-add", name)
	require.NoError(m.t, err)
}

// lose powers units off, and waits until the rest knows that it has no quorum.
func (m *model) lose(units ...*lab.Unit) (left []*lab.Unit) {
	m.t.Helper()
	m.powerOff(units...)
	for _, u := range m.rest() {
		if !u.Running(lab.NB) {
			continue
		}
		left = append(left, u)
		for _, db := range lab.Databases {
			m.eventually("no quorum", func() bool {
				s, err := m.status(u, db)
				return err == nil && !s.HasLeader()
			})
		}
	}
	return left
}

// tick runs update-status on units until the condition holds.
func (m *model) tick(what string, condition func() bool, units ...*lab.Unit) {
	m.t.Helper()
	m.eventually(what, func() bool {
		if condition() {
			return true
		}
		for _, u := range units {
			require.NoError(m.t, m.RunHook(context.WithoutCancel(m.t.Context()), u, "update-status"))
		}
		require.NoError(m.t, m.Settle(m.t.Context()))
		return condition()
	})
}

func allMembers(m *model, units ...*lab.Unit) func() bool {
	return func() bool {
		clusters := map[string]bool{}
		for _, u := range units {
			for _, db := range lab.Databases {
				s, err := m.status(u, db)
				if err != nil || !s.HasLeader() || len(s.Servers) != len(units) {
					return false
				}
				clusters[string(db)+string(*s.Cluster)] = true
			}
		}
		return len(clusters) == 2
	}
}

func names(units []*lab.Unit) string {
	var all []string
	for _, u := range units {
		all = append(all, u.Name())
	}
	return strings.Join(all, ",")
}

func TestSurvivorOfALostQuorumIsMadeANewClusterOfThatAllUnitsJoin(t *testing.T) {
	m := deploy(t, 3)
	m.addSwitch("kept")
	before := m.units[0]
	old, err := m.status(before, lab.NB)
	require.NoError(t, err)
	left := m.lose(m.units[1], m.units[2])
	require.Len(t, left, 1)

	r, err := m.RunAction(t.Context(), before, "recover", "i-really-mean-it=true")
	require.NoError(t, err)
	require.Equal(t, "failed", r.Status)
	assert.Contains(t, r.Message, m.units[1].Name())
	assert.True(t, before.Running(lab.NB), "nothing was done")

	lost := "give-up=" + names(m.units[1:])
	shown := m.act(before, "recover", lost, "dry-run=true")
	t.Log(shown["plan"])
	assert.Contains(t, shown["plan"], "a new cluster is made of the file of "+before.Name())
	assert.Contains(t, shown["plan"], "changes that only the 2 of 3 members")
	assert.True(t, before.Running(lab.NB), "nothing was done")

	said := m.refusedRecovery(before, "recover", lost)
	assert.Contains(t, said, "what is given up can't be brought back; to confirm, add i-really-mean-it=true; to see the plan, add dry-run=true")

	shown = m.act(before, "recover", lost, "i-really-mean-it=true")
	t.Log(shown["status"], shown["next"])
	m.requireClientsAreTold(shown)
	m.tick("a new cluster", allMembers(m, before), before)
	shown = m.act(before, "recover", lost, "i-really-mean-it=true")
	m.requireProof(shown, before)
	assert.Contains(t, shown["next"], "it is proved: every other unit serves the new cluster; remove those that were given up: juju remove-unit --force "+
		strings.ReplaceAll(names(m.units[1:]), ",", " ")+"; add units until there are three again\n")
	assert.Contains(t, shown["proof"], "nb: "+m.units[2].Name()+" was given up, and is no member")
	now, err := m.status(before, lab.NB)
	require.NoError(t, err)
	assert.NotEqual(t, *old.Cluster, *now.Cluster)
	assert.Contains(t, m.seen(before), "kept")
	assert.Equal(t, "active", before.Workload().Status, before.Workload().Message)
	assert.Contains(t, before.Workload().Message, "not in the new cluster yet; if lost: juju remove-unit --force "+strings.ReplaceAll(names(m.units[1:]), ",", " "))

	// The old majority boots where it can't reach the new cluster, and elects a leader before
	// any of its hooks has run. These stop its servers, and both units join the new cluster.
	m.Hold(true)
	require.NoError(t, before.Cut(true))
	for _, u := range m.units[1:] {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	m.eventually("the premise: the old cluster has a leader", func() bool {
		s, err := m.status(m.units[1], lab.NB)
		return err == nil && s.HasLeader() && *s.Cluster == *old.Cluster
	})
	require.NoError(t, before.Cut(false))
	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))
	m.tick("all are members of the new cluster", allMembers(m, m.units...), m.units...)
	for _, u := range m.units {
		assert.Contains(t, m.seen(u), "kept")
		left, _ := leftFiles(t, u)
		assert.Len(t, left, 2, "what was there is kept")
	}
	m.requireProof(m.act(before, "recover", lost, "i-really-mean-it=true"), m.units...)
	m.requireWritable()
}

// requireProof requires of a recover's results that an acknowledged write was read back from
// both servers of each unit, and that nothing of it is left.
func (m *model) requireProof(shown map[string]string, units ...*lab.Unit) {
	m.t.Helper()
	for _, db := range []string{"nb", "sb"} {
		for _, u := range units {
			assert.Contains(m.t, shown["proof"], db+": "+u.Name()+" is a member, and an acknowledged write was read back from its server")
		}
	}
	for _, command := range []string{"ovn-nbctl", "ovn-sbctl"} {
		db := map[string]lab.DB{"ovn-nbctl": lab.NB, "ovn-sbctl": lab.SB}[command]
		out, err := units[0].Exec(m.t.Context(), command, "--timeout=20", "--db="+m.Remotes(db), "--bare", "--columns=external_ids", "list", strings.ToUpper(command[4:6])+"_Global")
		require.NoError(m.t, err)
		assert.NotContains(m.t, out, "recovery-proof")
	}
	assert.Contains(m.t, shown["next"], "it is proved: ")
	m.requireClientsAreTold(shown)
}

// requireClientsAreTold requires of an action's results that they say what clients must do:
// they take the new cluster for one with old data.
func (m *model) requireClientsAreTold(shown map[string]string) {
	m.t.Helper()
	assert.Contains(m.t, shown["next"], "on every chassis: ovn-appctl -t ovn-controller sb-cluster-state-reset\n")
	assert.Contains(m.t, shown["next"], "with OpenStack: restart neutron-server and the metadata agents, then run neutron-ovn-db-sync-util\n")
}

// The newest copy is on a unit that does not lead the application, and that is what is
// taken, wherever it is asked for, and on however many units.
func TestNewestCopyIsTakenWhereverTheRecoveryIsAskedFor(t *testing.T) {
	m := deploy(t, 4)
	behind, newest, lost := m.loseAllButOneThatIsBehind()
	give := "give-up=" + names(lost)

	r, err := m.RunAction(t.Context(), behind, "recover", give, "i-really-mean-it=true")
	require.NoError(t, err)
	require.Equal(t, "failed", r.Status, r.Results)
	assert.Contains(t, r.Message, "nb: "+newest.Name()+" has newer data")
	assert.True(t, behind.Running(lab.NB), "nothing was done")

	m.act(newest, "recover", give, "i-really-mean-it=true")
	m.tick("both are members of a new cluster", allMembers(m, behind, newest), newest, behind)
	for _, u := range []*lab.Unit{behind, newest} {
		assert.Contains(t, m.seen(u), "early")
		assert.Contains(t, m.seen(u), "late")
	}
	// All that was given up comes back: a majority of the old cluster.
	for _, u := range lost {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	m.tick("all join", allMembers(m, m.units...), m.units...)
	m.requireWritable()
}

// loseAllButOneThatIsBehind are, of four units, that which leads the application and lacks
// switch "late", one that has it, and those that are off. What both have is published.
func (m *model) loseAllButOneThatIsBehind() (behind, newest *lab.Unit, lost []*lab.Unit) {
	m.t.Helper()
	behind = m.Leader() // another unit than the one that is asked publishes the new cluster's ID
	others := slices.DeleteFunc(slices.Clone(m.units), func(u *lab.Unit) bool { return u == behind })
	newest, lost = others[0], others[1:]
	m.addSwitch("early")
	m.killServers(behind)
	m.eventually("a change that the unit which is behind has missed", func() bool {
		_, nb := newest.Exec(m.t.Context(), "ovn-nbctl", "--timeout=10", "--db="+m.Remotes(lab.NB), "--may-exist", "ls-add", "late")
		_, sb := newest.Exec(m.t.Context(), "ovn-sbctl", "--timeout=10", "--db="+m.Remotes(lab.SB), "create", "Address_Set", "name=late"+strconv.FormatInt(time.Now().UnixNano(), 10))
		return nb == nil && sb == nil
	})
	m.eventually("the change has arrived", func() bool { return strings.Contains(m.seen(newest), "late") })
	m.lose(lost...)
	for _, db := range lab.Databases { // the guard of its start asks units that are off, and may be out of its time
		m.eventually("it starts", func() bool { return behind.Start(m.t.Context(), db) == nil })
	}
	for _, u := range []*lab.Unit{newest, behind} {
		require.NoError(m.t, m.RunHook(m.t.Context(), u, "update-status"))
	}
	require.NoError(m.t, m.Settle(m.t.Context()))
	return behind, newest, lost
}

// What a unit has published of its copy outlives its machine: force gives it up, by name, and
// says what is lost.
func TestUnitThatHadTheNewestCopyAndIsLostTooIsGivenUpByForce(t *testing.T) {
	m := deploy(t, 4)
	left, newest, lost := m.loseAllButOneThatIsBehind()
	forced := []string{"give-up=" + names(append(lost, newest)), "force=true"}
	assert.Contains(t, m.refusedRecovery(left, "recover", append(forced, "i-really-mean-it=true")...), newest.Name()+" has newer data")
	m.powerOff(newest)
	assert.Contains(t, m.refusedRecovery(left, "recover", forced[0], "i-really-mean-it=true"), "power it off, and add force=true: what it has beyond term")
	assert.Contains(t, m.refusedRecovery(left, "recover", "give-up="+names(lost), "force=true", "i-really-mean-it=true"), newest.Name()+" has newer data")

	shown := m.act(left, "recover", append(forced, "dry-run=true")...)
	assert.Regexp(t, "nb: copy of "+newest.Name()+`: term \d+, index \d+, the newest, as last reported; its server does not answer; given up`, shown["plan"])
	assert.Contains(t, shown["plan"], "nb: what "+newest.Name()+" has beyond term ")
	m.act(left, "recover", append(forced, "i-really-mean-it=true")...)
	m.tick("a new cluster", allMembers(m, left), left)
	assert.Contains(t, m.seen(left), "early")
	assert.NotContains(t, m.seen(left), "late")
	require.NoError(t, newest.PowerOn(t.Context()))
	m.tick("what was lost joins if it returns", allMembers(m, left, newest), left, newest)
	assert.NotContains(t, m.seen(newest), "late")
}

// A backup takes the place of a database that is served, on all units.
func TestRestoredBackupIsServedByAllUnits(t *testing.T) {
	m := deploy(t, 3)
	m.addSwitch("before")
	u := m.units[1]
	m.eventually("the switch is seen", func() bool { return strings.Contains(m.seen(u), "before") })
	dir := m.act(u, "backup")["backup"]
	m.addSwitch("after")
	for _, damage := range []string{"ovnnb_db.db.gz", "manifest.json"} {
		spoiled := filepath.Join(t.TempDir(), "spoiled")
		_, err := m.Exec(t.Context(), "cp", "-r", dir, spoiled)
		require.NoError(t, err)
		_, err = m.Exec(t.Context(), "truncate", "--size=-20", filepath.Join(spoiled, damage))
		require.NoError(t, err)
		r, err := m.RunAction(t.Context(), u, "restore", "from="+spoiled, "i-really-mean-it=true")
		require.NoError(t, err)
		assert.Equal(t, "failed", r.Status)
		assert.Contains(t, r.Message, filepath.Base(spoiled))
	}
	assert.Contains(t, m.refusedRecovery(u, "restore", "from="+dir), "every change since the backup was taken is lost; to confirm, add i-really-mean-it=true; to see the plan, add dry-run=true")
	for _, db := range []string{"nb", "sb"} {
		assert.Contains(t, m.act(u, "restore", "from="+dir, "dry-run=true")["plan"], db+": every change since the backup was taken is lost\n")
	}
	assert.Contains(t, m.seen(u), "after", "nothing was done")

	shown := m.act(u, "restore", "from="+dir, "i-really-mean-it=true")
	assert.Regexp(t, "the backup was taken on "+u.Name()+" at 20.+Z, .+s ago\n", shown["plan"])
	m.requireClientsAreTold(shown)
	m.tick("all serve the backup", func() bool {
		return allMembers(m, m.units...)() && !strings.Contains(m.seen(m.units[0]), "after")
	}, m.units...)
	for _, u := range m.units {
		assert.Contains(t, m.seen(u), "before")
		assert.NotContains(t, m.seen(u), "after")
	}

	// Another unit's restore follows before that one was proved: it is the one that is served, and proved.
	m.addSwitch("since")
	other := m.units[len(m.units)-1]
	later := "from=" + m.act(other, "backup")["backup"]
	m.act(other, "restore", later, "i-really-mean-it=true")
	m.tick("all serve the later one", allMembers(m, m.units...), m.units...)
	now, err := m.status(u, lab.NB)
	require.NoError(t, err)
	for _, last := range []string{"dry-run=true", "i-really-mean-it=true"} {
		r, err := m.RunAction(t.Context(), u, "restore", "from="+dir, last)
		require.NoError(t, err)
		assert.Equal(t, "failed", r.Status, last)
		assert.Contains(t, r.Message, "nb: another recovery or restore went first, so this backup's cluster is not the one that is served; to restore this backup, run the same command again", last)
		assert.Empty(t, r.Results["proof"], last)
	}
	m.requireProof(m.act(other, "restore", later, "i-really-mean-it=true"), m.units...)
	still, err := m.status(u, lab.NB)
	require.NoError(t, err)
	assert.Equal(t, *now.Cluster, *still.Cluster, "the same command has proved it, and restored nothing again")
	assert.Contains(t, m.seen(u), "since")
	m.requireWritable()
}
