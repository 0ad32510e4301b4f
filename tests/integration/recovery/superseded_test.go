package recovery

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// S5: both databases name their own cluster as one that was given up. No unit says that another is to be removed, all
// servers start when all machines boot, and the command that the units print ends it.
func TestClusterThatNamesItselfAsGivenUp(t *testing.T) {
	m := labtest.Deploy(t, 3)
	for _, db := range lab.Databases {
		_, err := m.Deployed[0].Exec(t.Context(), "ovn-"+string(db)+"ctl", "--timeout=20", "--db="+m.Remotes(db), "set",
			strings.ToUpper(string(db))+"_Global", ".", `external_ids:"ovn-central:superseded"=`+m.ClusterID(m.Deployed[0], db))
		require.NoError(t, err)
	}
	m.RunUpdateStatus(m.Deployed...)
	m.RequireActive(m.Deployed...)
	for _, u := range m.Deployed {
		m.Says(u, "active", "its own cluster")
		assert.NotContains(t, u.Workload().Message, "remove-unit")
	}

	m.Hold(true)
	m.PowerOff(m.Deployed...)
	for _, err := range labtest.AtOnce(m.Deployed, func(u *lab.Unit) error { return u.Boot(t.Context()) }) {
		require.NoError(t, err)
	}
	m.Eventually("all servers are members without a hook", labtest.AllMembers(m, m.Deployed...))
	m.Hold(false)
	require.NoError(t, m.Settle(t.Context()))

	u := m.Deployed[0]
	commands := strings.Split(strings.TrimSpace(m.Act(u, "cluster-status")["next"]), "\n")
	require.Len(t, commands, 2, commands)
	for _, command := range commands {
		typed, is := strings.CutPrefix(command, "juju ssh "+u.Name()+" ")
		require.True(t, is, command)
		_, err := u.Exec(t.Context(), "sh", "-c", `sudo() { "$@"; }; eval `+typed)
		require.NoError(t, err)
	}
	m.RunUpdateStatus(u)
	assert.NotContains(t, u.Workload().Message, "its own cluster")
}
