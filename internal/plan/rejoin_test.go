package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// The leader removes members for their units. The only hook of a unit that is being removed may be a `stop` that is
// refused until this member is gone: if the leader is such a unit, or asks itself, since its server may run with
// different data, the first unit that stays removes it.
func TestRejoin_removed_by_first_unit_that_stays(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		asks   int
		change func(s *plan.State)
		does   bool
	}{
		"other leads":               {2, func(*plan.State) {}, false},
		"leader dying":              {2, func(s *plan.State) { s.Peers[0].Dying = true }, true},
		"leader dying, unit before": {2, func(s *plan.State) { s.Peers[0].Dying = true; preceded(s, before()) }, false},
		"follower dying": {2, func(s *plan.State) {
			p := before()
			p.Dying, p.Servers = true, nil
			s.Peers = append(s.Peers, p)
		}, false},
		"no leader": {2, func(s *plan.State) {
			s.Peers[0].Dying = true
			edit(s, ovndb.SB, func(x *plan.Database) { x.Status.Leader = raft.UnknownRef })
		}, false},
		"asker dying": {
			2, func(s *plan.State) { s.Peers[0].Dying, s.Peers[1].Dying = true, true }, false,
		},
		"leader asks":              {1, func(*plan.State) {}, true},
		"leader asks, unit before": {1, func(s *plan.State) { preceded(s, before()) }, false},
		"asked for former server": {1, func(s *plan.State) {
			s.Peers[0].Rejoin[ovndb.SB] = "dddddddd-0000-4000-8000-000000000000"
			s.Peers[1].Rejoin = map[ovndb.Database]raft.ID{ovndb.SB: serverOf(ovndb.SB, 2)}
		}, false},
	} {
		s := well()
		asking, id := s.Peers[tt.asks-1].Unit, serverOf(ovndb.SB, tt.asks)
		s.Peers[tt.asks-1].Rejoin = map[ovndb.Database]raft.ID{ovndb.SB: id}
		tt.change(&s)
		d := plan.Decide(s)
		if !tt.does {
			assert.False(t, d.Step != nil && d.Step.Kind == plan.RemoveDamaged, "%s: %v", name, d.Step)
			continue
		}
		require.NotNil(t, d.Step, name)
		want := plan.Step{
			Kind: plan.RemoveDamaged, Database: ovndb.SB, Unit: asking, Server: id,
			Reason: asking + " asks to join as a new member",
		}
		assert.Equal(t, want, *d.Step, name)
	}
}

func preceded(s *plan.State, p plan.Peer) { s.Unit, s.Peers = "ovn-central/9", append(s.Peers, p) }

// before is a unit that stays, precedes ovn-central/9, and is connected.
func before() plan.Peer {
	p := peer(1)
	p.Unit = "ovn-central/3"
	return p
}
