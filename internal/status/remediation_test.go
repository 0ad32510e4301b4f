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
