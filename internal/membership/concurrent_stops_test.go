//go:build programs

package membership

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Two of four, one of them the leader, leave at once. Both may: the second waits
// for the election that the first one causes. And each has its record, though the
// member through which the first writes its own may be the second, as it goes.
func TestTwoUnitsThatLeaveAtOnceBothLeave(t *testing.T) {
	t.Parallel()
	units := realCluster(t, 4, ovndb.NB, ovndb.SB)
	going := []*realUnit{units[0], units[3]}
	ids := map[ovndb.Database][]raft.ID{}
	for _, d := range ovndb.Databases() {
		ids[d] = []raft.ID{units[0].id(d), units[3].id(d)}
	}
	failures := make([]error, len(going))
	var wg sync.WaitGroup
	for i, u := range going {
		m := model(u, units...)
		for _, g := range going {
			m.Goal[g.Env.Unit] = juju.UnitGoal{Status: "dying"}
		}
		wg.Go(func() { _, failures[i] = u.Stop(t.Context(), m, observe.Cache{}) })
	}
	wg.Wait()
	for _, err := range failures {
		assert.NoError(t, err)
	}
	for _, d := range ovndb.Databases() {
		// A follower reads what has come to it so far.
		assert.EventuallyWithT(t, func(c *assert.CollectT) {
			records, err := units[1].observer.ReadRemovals(t.Context(), d, "unix:"+units[1].Control.Paths.Socket(d))
			require.NoError(c, err)
			for _, id := range ids[d] {
				assert.Contains(c, records, id, d)
			}
		}, 5*time.Second, 20*time.Millisecond)
	}
}
