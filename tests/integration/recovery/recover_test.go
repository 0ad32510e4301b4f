package recovery

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// lastLine returns the command to type from a text.
func lastLine(text string) string {
	all := strings.Split(strings.TrimSpace(text), "\n")
	return all[len(all)-1]
}

func TestRecover_survivor_becomes_new_cluster(t *testing.T) {
	m := labtest.Deploy(t, 3)
	m.AddSwitch("kept")
	before := m.Deployed[0]
	old := m.Raft(before, lab.NB)
	left := m.Lose(m.Deployed[1], m.Deployed[2])
	require.Len(t, left, 1)

	refused := m.RefusedRecovery(before, "recover", "i-really-mean-it=true")
	require.Len(t, refused, 1)
	assert.Equal(t, string(finding.RecoveryNotReported), refused[0].Code)
	assert.Equal(t, []string{m.Deployed[1].Name(), m.Deployed[2].Name()}, refused[0].Units)

	lost := "give-up=" + labtest.Names(m.Deployed[1:])
	shown := m.Act(before, "recover", "dry-run=true")
	assert.Contains(t, shown["plan"], before.Name())
	assert.Equal(t, "juju run "+before.Name()+" recover "+lost+" dry-run=true", lastLine(shown["next"]))
	shown = m.Act(before, "recover", lost, "dry-run=true")
	assert.Equal(t, "juju run "+before.Name()+" recover "+lost+" i-really-mean-it=true --wait=30m", lastLine(shown["next"]))
	t.Log(shown["plan"])
	losses := finding.Statement{Line: finding.LosesGivenUp, Args: finding.Args{Count: 2, Total: 3}}
	assert.Contains(t, shown["plan"], losses.String())
	assert.True(t, before.Running(lab.NB), "nothing was done")

	unconfirmed, _ := m.RefusedRecovery(before, "recover", lost).Find(finding.Unconfirmed, "")
	assert.Equal(t, []string{"juju run " + before.Name() + " recover " + lost + " dry-run=true", "juju run " + before.Name() + " recover " + lost + " i-really-mean-it=true --wait=30m"},
		cluster.Commands(unconfirmed))

	shown = m.Act(before, "recover", lost, "i-really-mean-it=true")
	t.Log(shown["status"], shown["next"])
	m.RequireClientsAreTold(shown)
	m.Tick("a new cluster", labtest.AllMembers(m, before), before)
	made := m.Raft(before, lab.NB).Cluster
	m.RequireDoneBefore(m.Act(before, "recover", lost, "i-really-mean-it=true", "format=json"))
	assert.Equal(t, made, m.Raft(before, lab.NB).Cluster)
	shown = m.RequireProof(before, before)
	assert.Contains(t, shown["recovery"], before.Name())
	assert.Contains(t, shown["next"], "juju remove-unit --force "+strings.ReplaceAll(labtest.Names(m.Deployed[1:]),
		",", " ")+"\njuju add-unit ovn-central -n 2\n")
	assert.Contains(t, shown["proof"], "nb: "+labtest.Stated(finding.ProvedGivenUp, m.Deployed[2].Name()))
	now := m.Raft(before, lab.NB)
	assert.NotEqual(t, old.Cluster, now.Cluster)
	assert.Contains(t, m.Seen(before), "kept")
	assert.Equal(t, "active", before.Workload().Status, before.Workload().Message)
	for _, lost := range m.Deployed[1:] {
		assert.Equal(t, []string{"juju remove-unit --force " + lost.Name()}, cluster.Commands(m.Finds(before, finding.NotInNewCluster, lost.Name())))
	}

	for _, u := range m.Deployed[1:] {
		require.NoError(t, u.PowerOn(t.Context()))
	}
	m.Tick("all are members of the new cluster", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	for _, u := range m.Deployed {
		assert.Contains(t, m.Seen(u), "kept")
		left := m.PutAway(u)
		assert.Len(t, left, 2, "what was there is kept")
	}
	m.RequireProof(m.Deployed[2], m.Deployed...)
	m.RequireWritable()
}

// A backup replaces a database that is served, on all units.
func TestRestore_backup_is_served_by_all_units(t *testing.T) {
	m := labtest.DeployWith(t, 3, lab.Options{JujuVersion: lab.Juju4})
	m.AddSwitch("before")
	u := m.Deployed[1]
	m.Eventually("the switch is seen", func() bool { return strings.Contains(m.Seen(u), "before") })
	taken := m.Act(u, "backup")
	dir := taken["backup"]
	assert.Contains(t, taken["next"], u.Name()+" restore from="+dir+" dry-run=true")
	m.AddSwitch("after")
	for _, damage := range []string{"ovnnb_db.db.gz", "manifest.json"} {
		spoiled := filepath.Join(t.TempDir(), "spoiled")
		_, err := m.Exec(t.Context(), "cp", "-r", dir, spoiled)
		require.NoError(t, err)
		_, err = m.Exec(t.Context(), "truncate", "--size=-20", filepath.Join(spoiled, damage))
		require.NoError(t, err)
		assert.Contains(t, m.Refuse(u, "restore", "from="+spoiled, "i-really-mean-it=true"), filepath.Base(spoiled))
	}
	assert.True(t, m.RefusedRecovery(u, "restore", "from="+dir).Has(finding.Unconfirmed, ""))
	planned := m.Act(u, "restore", "from="+dir, "dry-run=true")["plan"]
	assert.Contains(t, planned, "nb: ")
	assert.Contains(t, planned, "sb: ")
	assert.Contains(t, m.Seen(u), "after", "nothing was done")

	shown := m.Act(u, "restore", "from="+dir, "i-really-mean-it=true")
	assert.Regexp(t, u.Name()+" at 20.+Z, .+s ago\n", shown["plan"])
	m.RequireClientsAreTold(shown)
	m.Tick("all serve the backup", func() bool {
		return labtest.AllMembers(m, m.Deployed...)() && !strings.Contains(m.Seen(m.Deployed[0]), "after")
	}, m.Deployed...)
	for _, u := range m.Deployed {
		assert.Contains(t, m.Seen(u), "before")
		assert.NotContains(t, m.Seen(u), "after")
	}

	// If the command is typed again, it destroys nothing.
	again := regexp.MustCompile(`again=\d{8}T\d{6}Z`)
	m.AddSwitch("since")
	made := m.Raft(u, lab.NB).Cluster
	for _, path := range []string{dir, dir + "/"} { // the second is the form that a shell completes
		shown = m.Act(u, "restore", "from="+path, "i-really-mean-it=true", "format=json")
		m.RequireDoneBefore(shown)
		assert.Regexp(t, again, shown["next"], path)
	}
	assert.Equal(t, made, m.Raft(u, lab.NB).Cluster)
	assert.Regexp(t, regexp.QuoteMeta(dir)+" .*"+u.Name(), m.RequireProof(u, m.Deployed...)["recovery"])
	assert.Equal(t, made, m.Raft(u, lab.NB).Cluster)

	// After another unit's restore, that restore is served and proved.
	other := m.Deployed[len(m.Deployed)-1]
	later := "from=" + m.Act(other, "backup")["backup"]
	m.Act(other, "restore", later, "i-really-mean-it=true")
	m.Tick("all serve the later one", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	now := m.Raft(u, lab.NB)
	var once string
	for _, last := range []string{"dry-run=true", "i-really-mean-it=true"} {
		once = again.FindString(m.Refuse(u, "restore", "from="+dir, last))
		require.NotEmpty(t, once, last)
	}
	m.RequireProof(other, m.Deployed...)
	still := m.Raft(u, lab.NB)
	assert.Equal(t, now.Cluster, still.Cluster, "nothing was restored again")
	assert.Contains(t, m.Seen(u), "since")
	m.Act(u, "restore", "from="+dir, once, "i-really-mean-it=true")
	m.Tick("all serve the first backup once more", func() bool {
		return labtest.AllMembers(m, m.Deployed...)() && !strings.Contains(m.Seen(other), "since")
	}, m.Deployed...)
	m.RequireDoneBefore(m.Act(u, "restore", "from="+dir, once, "i-really-mean-it=true", "format=json"))
	m.RequireWritable()
}
