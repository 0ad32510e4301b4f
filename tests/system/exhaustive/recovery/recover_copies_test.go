package recovery

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// Three of five units are lost under load, and one of the other two has missed the newest changes. The new cluster
// has the rows that a majority of the two had and those that only the newest copy had, even after the lost units have
// returned.
func TestRecover_keeps_what_majority_of_copies_had(t *testing.T) {
	m := labtest.DeployWith(t, 5, lab.Options{ElectionTimer: 4 * time.Second, JujuVersion: lab.Juju4}) // no elections but those of the test
	newest, behind, left, lost := m.Deployed[0], m.Deployed[1], m.Deployed[:2], m.Deployed[2:]
	for _, db := range lab.Databases {
		m.MakeLeader(lost[0], db)
	}
	ended := m.WatchServed()
	w := m.StartWriter(t.Context(), time.Second)
	m.Eventually("writes that both have stored", func() bool {
		both := m.StoredByMost(left...)
		return len(both[lab.NB]) > 0 && len(both[lab.SB]) > 0
	})
	m.KillServers(behind) // a hung server has them in its sockets
	m.Eventually("writes that one of them has not stored", func() bool {
		both, one := m.StoredByMost(left...), m.StoredByMost(newest)
		return len(one[lab.NB]) > len(both[lab.NB]) && len(one[lab.SB]) > len(both[lab.SB])
	})
	m.PowerOff(lost...)
	for _, db := range lab.Databases {
		require.NoError(t, behind.Start(t.Context(), db))
	}
	m.Lose() // none more; those that are left find out
	m.RunUpdateStatus(left...)
	before := map[lab.DB]int{lab.NB: w.Acknowledged(lab.NB), lab.SB: w.Acknowledged(lab.SB)}
	most, stored := m.StoredByMost(left...), m.StoredByMost(newest)
	for _, db := range lab.Databases {
		require.NotEmpty(t, most[db])
		require.Greater(t, len(stored[db]), len(most[db]), "the premise: the copies differ")
		for row := range most[db] {
			require.True(t, stored[db][row], "the newest copy has what a majority has")
		}
	}

	give := "give-up=" + labtest.Names(lost)
	assert.True(t, m.RefusedRecovery(behind, "recover", give, "i-really-mean-it=true").Has(finding.RecoveryNewerData, newest.Name()))
	m.Act(newest, "recover", give, "i-really-mean-it=true")
	m.Tick("those that are left are members", labtest.AllMembers(m, left...), left...)
	m.PowerOn(lost...)
	m.Tick("all are members", labtest.AllMembers(m, m.Deployed...), m.Deployed...)
	ended()
	m.RequireKept(w, stored, before)
	m.RequireProof(newest, m.Deployed...)
}

// The facts that a unit has published about its copy outlive its machine. force gives the copy up, by name, and
// reports what is lost.
func TestRecover_lost_unit_with_newest_copy_needs_force(t *testing.T) {
	m := labtest.DeployWith(t, 4, lab.Options{JujuVersion: lab.Juju4})
	left, newest, lost := m.LoseAllButOneThatIsBehind()
	forced := []string{"give-up=" + labtest.Names(append(lost, newest)), "force=true"}
	ahead := func(args ...string) string {
		found, is := m.RefusedRecovery(left, "recover", append(args, "i-really-mean-it=true")...).Find(finding.RecoveryNewerData, newest.Name())
		require.True(t, is)
		return found.Remedies[len(found.Remedies)-1].Condition
	}
	assert.Empty(t, ahead(forced...))
	m.PowerOff(newest)
	assert.Equal(t, string(finding.IfOff), ahead(forced[0]))
	assert.Equal(t, string(finding.IfOff), ahead("give-up="+labtest.Names(lost), "force=true"))

	shown := m.Act(left, "recover", append(forced, "dry-run=true")...)
	remarks := regexp.QuoteMeta(string(finding.AddLastReported + finding.AddGivenUp))
	assert.Regexp(t, "nb: "+labtest.Stated(finding.CopyEnds, newest.Name())+`.*\d`+remarks, shown["plan"])
	assert.Contains(t, shown["plan"], "nb: "+labtest.Stated(finding.GivenUpWithMore, newest.Name()))
	m.Act(left, "recover", append(forced, "i-really-mean-it=true")...)
	m.Tick("a new cluster", labtest.AllMembers(m, left), left)
	assert.Contains(t, m.Seen(left), "early")
	assert.NotContains(t, m.Seen(left), "late")
	require.NoError(t, newest.PowerOn(t.Context()))
	m.Tick("what was lost joins if it returns", labtest.AllMembers(m, left, newest), left, newest)
	assert.NotContains(t, m.Seen(newest), "late")
}
