package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// The only hook of a unit that is being removed may be a `stop` that is refused until this member is gone: then another
// unit than the leader removes it.
func TestRejoin_removed_if_leader_is_dying(t *testing.T) {
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
		"a unit that does not lead is": {func(s *plan.State) {
			asks(s, 2)
			p := before()
			p.Dying, p.Servers = true, nil
			s.Peers = append(s.Peers, p)
		}, false},
		"none leads": {func(s *plan.State) {
			asks(s, 2)
			s.Peers[0].Dying = true
			edit(s, ovndb.SB, func(x *plan.Database) { x.Status.Leader = raft.UnknownRef })
		}, false},
		"asking_unit_is_dying": {func(s *plan.State) { asks(s, 2); s.Peers[0].Dying, s.Peers[1].Dying = true, true }, false},
	} {
		s := well()
		tt.change(&s)
		d := plan.Decide(s)
		if !tt.does {
			assert.False(t, d.Step != nil && d.Step.Kind == plan.RemoveDamaged, "%s: %v", name, d.Step)
			continue
		}
		require.NotNil(t, d.Step, name)
		assert.Equal(t, plan.Step{Kind: plan.RemoveDamaged, Database: ovndb.SB, Unit: "ovn-central/2", Server: serverOf(ovndb.SB, 2), Reason: "ovn-central/2 asks to join as a new member"}, *d.Step, name)
	}
}

// A server with different data runs, and may lead: it does not remove itself.
func TestRejoin_leaders_member_removed_by_first_other(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(s *plan.State)
		does   bool
	}{
		"it asks": {func(*plan.State) {}, true},
		"there is a unit before this one": {func(s *plan.State) {
			s.Unit = "ovn-central/9"
			s.Peers = append(s.Peers, before())
		}, false},
		"it has asked for the one before": {func(s *plan.State) {
			s.Peers[0].Rejoin[ovndb.SB] = "dddddddd-0000-4000-8000-000000000000"
			s.Peers[1].Rejoin = map[ovndb.Database]raft.ID{ovndb.SB: serverOf(ovndb.SB, 2)}
		}, false},
	} {
		s := well()
		s.Peers[0].Rejoin = map[ovndb.Database]raft.ID{ovndb.SB: serverOf(ovndb.SB, 1)}
		tt.change(&s)
		d := plan.Decide(s)
		if !tt.does {
			assert.False(t, d.Step != nil && d.Step.Kind == plan.RemoveDamaged, "%s: %v", name, d.Step)
			continue
		}
		require.NotNil(t, d.Step, name)
		assert.Equal(t, plan.Step{Kind: plan.RemoveDamaged, Database: ovndb.SB, Unit: "ovn-central/1", Server: serverOf(ovndb.SB, 1), Reason: "ovn-central/1 asks to join as a new member"}, *d.Step, name)
	}
}

// before is a unit that stays, precedes ovn-central/9, and is connected.
func before() plan.Peer {
	p := peer(1)
	p.Unit = "ovn-central/3"
	return p
}
