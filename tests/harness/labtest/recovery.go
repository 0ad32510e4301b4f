package labtest

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Seen returns the switches that clients see, through any unit that serves the Northbound database.
func (m *Model) Seen(u *lab.Unit) string {
	m.T.Helper()
	return Tool(m.T, u, "ovn-nbctl", lab.NB, "ls-list")
}

// AddSwitch adds a logical switch, and waits until the servers of these units have it.
func (m *Model) AddSwitch(name string, seenBy ...*lab.Unit) {
	m.T.Helper()
	m.Client(lab.NB, "ls-add", name)
	for _, u := range seenBy {
		m.Eventually("the switch is seen", func() bool { return strings.Contains(m.Seen(u), name) })
	}
}

// Lose powers units off, and waits until the other units know that they have no quorum.
func (m *Model) Lose(units ...*lab.Unit) (left []*lab.Unit) {
	m.T.Helper()
	m.PowerOff(units...)
	for _, u := range m.Remaining() {
		if !u.Running(lab.NB) {
			continue
		}
		left = append(left, u)
		for _, db := range lab.Databases {
			m.Eventually("no quorum", func() bool {
				s, err := m.RaftStatus(u, db)
				return err == nil && !s.HasLeader()
			})
		}
	}
	return left
}

// Tick runs update-status until the condition holds: on these units, or on all on which Juju would run it.
func (m *Model) Tick(what string, condition func() bool, units ...*lab.Unit) {
	m.T.Helper()
	ctx := context.WithoutCancel(m.T.Context())
	ended := m.Within(Patience, func() bool {
		if condition() {
			return true
		}
		if len(units) == 0 {
			require.NoError(m.T, m.UpdateStatus(ctx))
			return condition()
		}
		for _, u := range units {
			require.NoError(m.T, m.RunHook(ctx, u, "update-status"))
		}
		require.NoError(m.T, m.Settle(m.T.Context()))
		return condition()
	})
	require.True(m.T, ended, "%s\n%s", what, m.Statuses())
}

// AllMembers returns a condition: the units are the members of one cluster of each database.
func AllMembers(m *Model, units ...*lab.Unit) func() bool {
	return func() bool {
		return m.disagreement(lab.NB, "", units) == "" && m.disagreement(lab.SB, "", units) == ""
	}
}

// Without returns the other units.
func Without(units []*lab.Unit, u *lab.Unit) []*lab.Unit {
	return slices.DeleteFunc(slices.Clone(units), func(other *lab.Unit) bool { return other == u })
}

// Names joins the names of units with commas.
func Names(units []*lab.Unit) string {
	var all []string
	for _, u := range units {
		all = append(all, u.Name())
	}
	return strings.Join(all, ",")
}

// RequireProof requires that recovery-status on a unit shows that an acknowledged write was read back from both
// servers of each unit, and that no trace of the write is left. It returns the results.
func (m *Model) RequireProof(on *lab.Unit, units ...*lab.Unit) map[string]string {
	m.T.Helper()
	shown := m.Act(on, "recovery-status", "format=json")
	found, err := cluster.ReadFindings(shown["findings"])
	require.NoError(m.T, err)
	assert.True(m.T, found.Has(finding.RecoveryProved, ""), "%v", shown)
	for _, db := range lab.Databases {
		for _, u := range units {
			assert.Contains(m.T, shown["proof"], Proved(db, u))
		}
	}
	assert.NotContains(m.T, m.Client(lab.NB, "list", "NB_Global"), "recovery-proof")
	assert.NotContains(m.T, m.Client(lab.SB, "list", "SB_Global"), "recovery-proof")
	m.RequireClientsAreTold(shown)
	return shown
}

// Proved returns how a proof names a unit whose server has given an acknowledged write back.
func Proved(db lab.DB, u *lab.Unit) string {
	return string(db) + ": " + Stated(finding.ProvedMember, u.Name())
}

// Stated returns a statement up to its second argument. The first one is filled in.
func Stated(line finding.Line, first string) string {
	before, rest, _ := strings.Cut(string(line), "{")
	_, rest, _ = strings.Cut(rest, "}")
	after, _, _ := strings.Cut(rest, "{")
	return before + first + after
}

// RequireClientsAreTold requires that results contain what clients must do, for which the new cluster has old data.
func (m *Model) RequireClientsAreTold(shown map[string]string) {
	m.T.Helper()
	assert.Contains(m.T, shown["next"], string(finding.ResetChassis)+"\n")
	assert.Contains(m.T, shown["next"], string(finding.SyncNeutron)+"\n")
}

// RequireDoneBefore requires that an action had nothing left to do.
func (m *Model) RequireDoneBefore(shown map[string]string) {
	m.T.Helper()
	found, err := cluster.ReadFindings(shown["findings"])
	require.NoError(m.T, err)
	assert.True(m.T, found.Has(finding.RecoveryDone, ""), "%v", shown)
}

// LoseAllButOneThatIsBehind powers two of four units off. Of the others, behind leads the application and lacks the
// switch "late", which newest has. Both have published how far their databases are.
func (m *Model) LoseAllButOneThatIsBehind() (behind, newest *lab.Unit, lost []*lab.Unit) {
	m.T.Helper()
	behind = m.Leader() // it publishes the new cluster's ID, while another unit recovers
	others := Without(m.Deployed, behind)
	newest, lost = others[0], others[1:]
	m.AddSwitch("early")
	m.KillServers(behind)
	m.Eventually("a change that the unit which is behind has missed", func() bool {
		_, nb := newest.Exec(m.T.Context(), "ovn-nbctl", "--timeout=10", "--db="+m.Remotes(lab.NB), "--may-exist", "ls-add", "late")
		_, sb := newest.Exec(m.T.Context(), "ovn-sbctl", "--timeout=10", "--db="+m.Remotes(lab.SB), "create", "Address_Set", "name=late"+strconv.FormatInt(time.Now().UnixNano(), 10))
		return nb == nil && sb == nil
	})
	m.Eventually("the change has arrived", func() bool { return strings.Contains(m.Seen(newest), "late") })
	m.Lose(lost...)
	for _, db := range lab.Databases { // the guard of its start asks units that are off, and may be out of its time
		m.Eventually("it starts", func() bool { return behind.Start(m.T.Context(), db) == nil })
	}
	for _, u := range []*lab.Unit{newest, behind} {
		require.NoError(m.T, m.RunHook(m.T.Context(), u, "update-status"))
	}
	require.NoError(m.T, m.Settle(m.T.Context()))
	return behind, newest, lost
}

// AtOnce does the same for all units at the same time.
func AtOnce(units []*lab.Unit, do func(*lab.Unit) error) []error {
	errs := make([]error, len(units))
	var wg sync.WaitGroup
	for i, u := range units {
		wg.Go(func() { errs[i] = do(u) })
	}
	wg.Wait()
	return errs
}

// RefusedRecovery requires that an action is refused, and that no server was stopped on any unit. It returns the reasons.
func (m *Model) RefusedRecovery(u *lab.Unit, action string, args ...string) cluster.Findings {
	m.T.Helper()
	on := slices.DeleteFunc(m.Remaining(), func(u *lab.Unit) bool { return !u.Running(lab.NB) })
	require.NotEmpty(m.T, on)
	running := func() map[string]int {
		all := map[string]int{}
		for _, unit := range on {
			for _, db := range lab.Databases {
				all[unit.Name()+" "+string(db)], _ = unit.ServerPID(db) // 0 if it does not run
			}
		}
		return all
	}
	before := running()
	r, err := m.RunAction(m.T.Context(), u, action, append(slices.Clone(args), "format=json")...)
	require.NoError(m.T, err)
	require.Equal(m.T, "failed", r.Status, "%v", r.Results)
	refused, err := cluster.ReadFindings(r.Results["findings"])
	require.NoError(m.T, err)
	m.RunUpdateStatus(on...)
	assert.Equal(m.T, before, running(), "a server was stopped, or started anew")
	return refused
}
