package deployment

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// The life of an application on the lab, while a client writes: wherever all are well, each
// database has one cluster of exactly the units, and a unit that leaves vacates its machine.
func TestLifeOfAnApplication(t *testing.T) {
	t.Parallel()
	c := newCloud(t, lab.Options{})
	app, end := lab.Live(t.Context(), c.Lab)
	t.Cleanup(end)
	var w *lab.Writer
	s := &cluster.Story{
		App: app, Runner: cluster.Lab, CA: "vault", Options: map[string]string{"ovsdb-server-election-timer": "1"},
		Limit: 10 * time.Minute, Every: 500 * time.Millisecond, Out: t.Output(),
		Served: func(context.Context) error {
			if w == nil {
				w = c.StartWriter(t.Context(), 0)
			}
			return nil
		},
		Settled: func(context.Context) error {
			c.RequireOneCluster(c.Units()...)
			return nil
		},
		Leaving: func(_ context.Context, unit string) (func() error, error) {
			u, err := c.Unit(unit)
			return func() error {
				c.RequireVacated(u)
				assert.Len(t, c.PutAway(u), 2, unit)
				assert.Empty(t, c.InPlace(u), unit)
				return nil
			}, err
		},
	}
	judged := s.Begin(t.Context())
	for _, step := range cluster.On(cluster.Lab, cluster.Life) {
		if step.Name == cluster.Destroyed.Name {
			c.Verify(w)
		}
		require.NoError(t, s.Take(t.Context(), step))
		if units := c.Units(); step.Name == cluster.Reused.Name {
			assert.Len(t, c.PutAway(units[len(units)-1]), 2, "what was there is still there")
		}
	}
	wrong, err := judged()
	require.NoError(t, err)
	assert.Empty(t, wrong)
}
