package deployment

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// gap asks units which of them acts until longest is called. longest returns the least time for which no unit acted.
func gap(t *testing.T, units ...*lab.Unit) (longest func() time.Duration) {
	t.Helper()
	var most time.Duration
	var since time.Time
	end := labtest.Watch(t.Context(), 20*time.Millisecond, func() {
		asked := time.Now()
		switch acts := slices.ContainsFunc(units, func(u *lab.Unit) bool { return labtest.AgentOf(t, u).Acts }); {
		case acts:
			since = time.Time{}
		case since.IsZero():
			since = asked
		default:
			most = max(most, time.Since(since))
		}
	})
	return func() time.Duration {
		end()
		return most
	}
}

func agentRuns(t *testing.T, u *lab.Unit) bool {
	t.Helper()
	out, _, err := u.Systemctl(t.Context(), "is-active", labtest.AgentService)
	require.NoError(t, err)
	return strings.TrimSpace(out) == "active"
}

// 003: the agent is installed with the unit, gets the operator's options, is stopped by a pause, and is removed
// before the unit leaves.
func TestAgent_is_installed_and_removed_with_unit(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 3, lab.Options{})
	first := labtest.ActingUnit(t, units...)
	assert.Equal(t, "advise", labtest.AgentOf(t, first).Mode)
	assert.Len(t, labtest.AgentOf(t, first).Peers, 2)
	pid := func(u *lab.Unit) string {
		out, _, err := u.Systemctl(t.Context(), "show", "--property=MainPID", "--value", labtest.AgentService)
		require.NoError(t, err)
		return out
	}
	before := pid(first)

	c.RunUpdateStatus(units...)
	for _, u := range units {
		if c.Says(u, "active"); u == first {
			c.Says(u, "active", "gateways")
		} else {
			assert.NotContains(t, u.Workload().Message, "gateways")
		}
		assert.Contains(t, c.Act(u, "agent-status")["agent"], "lease: "+first.Name()+" ")
		assert.Regexp(t, "^"+first.Name()+" ", c.Act(u, "cluster-status", "format=json")["lease"])
	}
	require.NoError(t, c.Configure(t.Context(), map[string]string{"agent-mode": "on"}))
	require.Eventually(t, func() bool { return labtest.AgentOf(t, first).Mode == "on" }, labtest.Patience, 100*time.Millisecond)
	require.NoError(t, c.Configure(t.Context(), map[string]string{"agent-mode": "sometimes"}))
	c.Says(first, "blocked")
	assert.Contains(t, c.Finds(first, finding.OptionInvalid, "agent-mode").Message, "off, advise, on")
	assert.Equal(t, "on", labtest.AgentOf(t, first).Mode, "it keeps the last valid mode")
	require.NoError(t, c.Configure(t.Context(), map[string]string{"agent-mode": "advise", "leader-lease-ttl": "4"}))
	assert.Equal(t, before, pid(first), "no option needs another process")
	first = labtest.ActingUnit(t, units...)

	none := gap(t, units...)
	c.Act(first, "pause")
	assert.False(t, agentRuns(t, first))
	second := labtest.ActingUnit(t, labtest.Without(units, first)...)
	assert.LessOrEqual(t, none(), time.Second, "a pause hands over at once")
	c.Act(first, "resume")
	c.Tick("all are active", c.AllActive)
	assert.True(t, agentRuns(t, first))
	assert.Equal(t, second, labtest.ActingUnit(t, units...), "a unit that comes back takes nothing away")
	require.Eventually(t, func() bool {
		named := map[string]bool{}
		for _, m := range labtest.AgentOf(t, second).ClusterStatus.NB.Members {
			named[m.Unit] = true
		}
		return named[units[0].Name()] && named[units[1].Name()] && named[units[2].Name()]
	}, labtest.Patience, time.Second, "the API tells whose the members are")

	// The writes of a unit without an ovn-northd may have no effect.
	_, code, err := second.Systemctl(t.Context(), "stop", "ovn-northd")
	require.NoError(t, err)
	require.Zero(t, code)
	require.Eventually(t, func() bool { return labtest.ActingUnit(t, units...) != second }, labtest.Patience, time.Second, "another unit acts")
	assert.Contains(t, labtest.AgentOf(t, second).Northd, string(ovndb.NorthdDown))
	c.RunUpdateStatus(second)
	require.Eventually(t, func() bool { return labtest.AgentOf(t, second).Northd == "" }, labtest.Patience, time.Second, "the hook has started ovn-northd")
	second = labtest.ActingUnit(t, units...)

	none = gap(t, units...)
	require.NoError(t, c.RemoveUnit(t.Context(), second, lab.RemoveOptions{}))
	require.NoError(t, c.Settle(t.Context()))
	require.True(t, second.Removed())
	for _, file := range []string{"systemd/system/" + labtest.AgentService + ".service", "ovn/" + labtest.AgentService + ".json"} {
		assert.NoFileExists(t, filepath.Join(second.SysconfDir(), file))
	}
	assert.NoDirExists(t, filepath.Join(filepath.Dir(second.DBDir()), "ovn-central-operator"))
	labtest.ActingUnit(t, labtest.Without(units, second)...)
	assert.LessOrEqual(t, none(), time.Second, "a unit that is removed hands over before it leaves")
}

// A refresh puts another program into the charm's directory, and the agent runs that program.
func TestAgent_runs_program_of_refreshed_charm(t *testing.T) {
	t.Parallel()
	c, units := labtest.Settled(t, 1, lab.Options{})
	labtest.ActingUnit(t, units...)
	dispatch := filepath.Join(units[0].CharmDir(), "dispatch")
	text, err := os.ReadFile(dispatch)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dispatch+".new", append(text, "newer"...), 0o755))
	require.NoError(t, os.Rename(dispatch+".new", dispatch))
	c.RunUpdateStatus(units[0])
	labtest.ActingUnit(t, units...)
	running, err := os.ReadFile(filepath.Join(filepath.Dir(units[0].DBDir()), "ovn-central-operator", "ovn-central-operator"))
	require.NoError(t, err)
	assert.Len(t, running, len(text)+len("newer"))
}
