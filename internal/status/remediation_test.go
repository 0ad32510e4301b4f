package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// Its services are masked, and its data are whole: neither systemctl nor a kick is what helps.
func TestUnitThatIsPausedIsResumedAndNotKicked(t *testing.T) {
	t.Parallel()
	s := observetest.Three(t)
	s.Goal["ovn-central/2"] = "dying"
	s.NB, s.SB = observetest.Up("aa00").Down("aa01"), observetest.Up("bb00").Down("bb01")
	s.NB.Rows, s.SB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa02"}), append(s.SB.Rows, observetest.Row{Identity: "bb02"})
	r := s.Report()
	r.Application.Peers = map[string]observe.Peer{"ovn-central/1": {State: relation.UnitState{Paused: true}}}
	view := r.Clusters[0].View
	plan := raft.PlanRestart(raft.Change{Database: ovndb.NB, View: view})
	require.NotNil(t, plan.Refusal)
	advice := status.Remediation(plan.Refusal, view, r.Application)
	require.Len(t, advice, 2)
	assert.Equal(t, "resume ovn-central/1, which is paused: juju run ovn-central/1 resume", advice[0])
	assert.Regexp(t, "^if the machine of ovn-central/1 is lost, kick aa01 .* first: juju run ovn-central/0 kick ", advice[1])

	waits := status.Summarize(r, false).String()
	assert.Contains(t, waits, "ovn-central/2 waits to leave: juju run ovn-central/1 resume (ovn-central/1 is paused)")
	assert.NotContains(t, waits, "kick")
}

// F7, P2: a member that is up, and whose unit is in the model, is not to be kicked: that unit has
// noted that it restarts it, or that its file lacks entries, and ends that by itself.
func TestMemberThatIsUpAndCountsAsDownIsWaitedForAndNotKicked(t *testing.T) {
	t.Parallel()
	for name, counts := range map[string]func(*raft.View, raft.ID){
		"its unit is about to restart it": func(v *raft.View, id raft.ID) { v.Down = []raft.ID{id} },
		"its file lacks entries":          func(v *raft.View, id raft.ID) { v.Lost = []raft.ID{id} },
	} {
		s := observetest.Three(t)
		s.Goal["ovn-central/2"] = "dying"
		r := s.Report()
		for i := range r.Clusters {
			counts(&r.Clusters[i].View, r.Application.Published["ovn-central/1"][r.Clusters[i].Database].Server)
		}
		view := r.Clusters[0].View
		plan := raft.PlanRestart(raft.Change{Database: ovndb.NB, View: view})
		require.NotNil(t, plan.Refusal, name)
		advice := status.Remediation(plan.Refusal, view, r.Application)
		require.Len(t, advice, 1, name)
		assert.Regexp(t, `^wait for the next hook of ovn-central/1, or see its status: aa01 \(ovn-central/1\) is up, but counts as down: it`, advice[0], name)

		waits := status.Summarize(r, false).String()
		assert.Contains(t, waits, "ovn-central/2 waits to leave: wait for the next hook of ovn-central/1, or see its status: aa01 (ovn-central/1) is up", name)
		assert.NotContains(t, waits, "kick", name)

		// Of a unit that is gone no hook ends it; as printed the command is not refused.
		delete(r.Application.Goal, "ovn-central/1")
		r.Application.History = r.Application.History.Publish(r.Application.Published)
		delete(r.Application.Published, "ovn-central/1")
		advice = status.Remediation(plan.Refusal, view, r.Application)
		require.Len(t, advice, 1, name)
		assert.Regexp(t, "^kick aa01 .* first: juju run ovn-central/[02] kick .*force=true", advice[0], name)
	}
}

// R4: a member that no unit has any more and that counts as down, as its file lacks entries, is
// up all the same: the command says force, or it would be refused.
func TestStaleMemberThatRunsAndHasLostEntriesIsKickedWithForce(t *testing.T) {
	t.Parallel()
	s := observetest.JoinedBy4(t)
	s.NB.Rows = append(s.NB.Rows, observetest.Row{Identity: "aa04"})
	s.NB.Lost = []string{"aa04"}
	r := s.Report()
	require.False(t, r.Clusters[0].Rows[3].Up, "the premise")
	next := status.Next(r)
	require.Equal(t, []string{"juju run ovn-central/0 kick nb-identity=" + string(observetest.Full("aa04")) + " force=true i-really-mean-it=true"}, next)
	change := raft.Change{Database: ovndb.NB, View: r.Clusters[0].View, Target: "aa04"}
	require.Equal(t, raft.LiveMember, raft.PlanKick(change).Refusal.Reason)
	change.Permit = raft.PermitForce
	require.Nil(t, raft.PlanKick(change).Refusal)
	assert.Contains(t, status.Summarize(r, false).String(), ", which is up)")
}
