package plan_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// bootstrapping is a world of n units with certificates, in which nothing fails
// and the first unit's hook has staged both clusters.
func bootstrapping(t *testing.T, n int) *world {
	t.Helper()
	w := newWorld(1, n)
	w.calm, w.leader = true, w.units[0]
	for _, u := range w.units {
		w.issue(u)
	}
	u := w.units[0]
	for w.begin(u); u.staged[ovndb.SB] == nil; {
		require.NotNil(t, u.hook)
		w.advance(u)
	}
	return w
}

func TestJuju4_replaced_leader_discards(t *testing.T) {
	t.Parallel()
	w := bootstrapping(t, 2)
	old, next := w.units[0], w.units[1]
	w.lead(next)
	w.advance(old) // its claim is refused
	require.Nil(t, old.hook)
	require.Empty(t, w.claims)
	w.run(old)
	assert.Nil(t, old.staged[ovndb.NB])
	assert.Nil(t, old.staged[ovndb.SB])
	for range rounds {
		w.settle()
	}
	w.checkSettled()
	require.Empty(t, w.broken)
	assert.Equal(t, next.name, w.settings.CreatedBy)
}

// The leader dies between its claim and its first server: when it returns it commits what it has claimed, whichever
// unit leads then.
func TestJuju4_claim_outlives_leadership(t *testing.T) {
	t.Parallel()
	w := bootstrapping(t, 3)
	creator := w.units[0]
	w.advance(creator)
	require.Len(t, w.claims, 1)
	creator.hook = nil
	w.lead(w.units[1])
	deliver(w.units[1], creator)
	w.run(w.units[1])
	d := plan.Decide(w.state(w.units[1], w.ask(w.units[1])))
	require.Len(t, d.Findings, 2)
	for i, db := range ovndb.Databases() {
		assert.Equal(t, finding.ClusterAwaited, d.Findings[i].Code)
		assert.Equal(t, creator.name, d.Findings[i].Args.Unit)
		assert.Equal(t, w.settings.IDs[db].Short(), d.Findings[i].Args.Cluster)
	}
	for range rounds {
		w.settle()
	}
	w.checkSettled()
	require.Empty(t, w.broken)
	assert.Equal(t, creator.name, w.settings.CreatedBy)
}

// One hook outlasts its leadership, another unit leads meanwhile, and then the first leads again: Juju lets it
// overwrite the other's claim. No unit can detect that in advance, so a hook must claim soon after it was found to
// lead. If it happens, every unit reports it.
func TestJuju4_overwritten_claim_is_reported(t *testing.T) {
	t.Parallel()
	w := bootstrapping(t, 3)
	slow, other := w.units[0], w.units[1]
	w.lead(other)
	w.run(other)
	w.run(w.units[2])
	require.Len(t, w.claims, 1)
	w.leader, slow.deposed = slow, false
	for slow.hook != nil {
		w.advance(slow)
	}
	require.Equal(t, "clusters were claimed 2 times", w.broken)
	for _, u := range w.units {
		for _, from := range w.units {
			deliver(u, from)
		}
		d := plan.Decide(w.state(u, w.ask(u)))
		for i, db := range ovndb.Databases() {
			require.Greater(t, len(d.Findings), i)
			assert.Equal(t, finding.TwoClusters, d.Findings[i].Code)
			for _, claim := range w.claims {
				assert.Contains(t, d.Findings[i].Args.Detail, claim.IDs[db].Brief())
			}
		}
	}
}
