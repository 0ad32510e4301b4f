package deployment

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// Power fails in a whole room: no unit is left that another could ask, and all boot at
// the same time. (kube-ovn's pull request 3101: its start scripts waited for each other.)
func TestClusterThatLostAllItsPowerAtOnceComesBackWithEveryWrite(t *testing.T) {
	t.Parallel()
	c, units := deployed(t, 3, lab.Options{})
	before := map[string]map[string]string{}
	for _, u := range units {
		before[u.Name()] = serverIDs(t, u)
	}
	w := c.StartWriter(t.Context(), lab.WriterOptions{})
	c.tick(t, "writes", func() bool { return w.Acknowledged(lab.NB) > 10 && w.Acknowledged(lab.SB) > 10 })

	var all sync.WaitGroup
	for _, u := range units {
		all.Go(func() { assert.NoError(t, u.PowerOff()) })
	}
	all.Wait()
	for _, u := range units {
		for _, db := range lab.Databases {
			require.False(t, u.Running(db), "%s of %s", db, u.Name())
		}
	}
	for _, u := range units {
		all.Go(func() { assert.NoError(t, u.PowerOn(t.Context())) })
	}
	all.Wait()
	began := time.Now()
	require.NoError(t, c.Settle(t.Context()))
	c.tick(t, "three units that work", c.allActive)
	t.Logf("active %s after the last machine was on", time.Since(began))
	c.requireOneCluster(t, units...)
	for _, u := range units {
		require.Equal(t, before[u.Name()], serverIDs(t, u), "nothing was made anew")
	}
	lossless(t, w)
}
