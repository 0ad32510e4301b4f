package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// A unit that is being removed may run no hook but a `stop` that is refused until the very member
// is gone: then it is not the one that leads that removes it.
func TestMemberThatIsToJoinAnewIsRemovedWhereTheUnitThatLeadsIsBeingRemoved(t *testing.T) {
	t.Parallel()
	asks := func(s *plan.State, n int) {
		s.Peers[n-1].Rejoin = map[ovndb.Database]raft.ID{ovndb.SB: serverOf(ovndb.SB, n)}
	}
	for name, tt := range map[string]struct {
		change func(s *plan.State)
		does   bool
	}{
		"another unit leads":        {func(s *plan.State) { asks(s, 2) }, false},
		"its unit is being removed": {func(s *plan.State) { asks(s, 2); s.Peers[0].Dying = true }, true},
		"a unit before this one stays": {func(s *plan.State) {
			asks(s, 2)
			s.Peers[0].Dying = true
			s.Unit = "ovn-central/9"
			s.Peers = append(s.Peers, before())
		}, false},
		"a unit that does not lead is": {func(s *plan.State) { asks(s, 1); s.Peers[1].Dying = true }, false},
		"none leads": {func(s *plan.State) {
			asks(s, 2)
			s.Peers[0].Dying = true
			edit(s, ovndb.SB, func(x *plan.Database) { x.Status.Leader = raft.UnknownRef })
		}, false},
		"the one that asks is being removed": {func(s *plan.State) { asks(s, 2); s.Peers[0].Dying, s.Peers[1].Dying = true, true }, false},
	} {
		s := well()
		tt.change(&s)
		d := plan.Decide(s)
		if !tt.does {
			assert.False(t, d.Step != nil && d.Step.Kind == plan.RemoveDamaged, "%s: %v", name, d.Step)
			continue
		}
		require.NotNil(t, d.Step, name)
		assert.Equal(t, plan.Step{Kind: plan.RemoveDamaged, Database: ovndb.SB, Unit: "ovn-central/2", Server: serverOf(ovndb.SB, 2), Reason: "ovn-central/2 is to join anew"}, *d.Step, name)
	}
}

// before is a unit that stays, comes before ovn-central/9, and is heard.
func before() plan.Peer {
	p := peer(1)
	p.Unit = "ovn-central/3"
	return p
}
