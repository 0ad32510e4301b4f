package deployment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/harness/labtest"
)

// orders is the default number of orders of events, each with a new seed.
const orders = 6

// Certificates, peers, leaders and options may reach three units in any order: they make one cluster, once.
func TestBootstrap_every_order_of_events_makes_one_cluster(t *testing.T) {
	t.Parallel()
	base := rand.Uint64()
	for n := range uint64(orders * exploretest.Factor(t)) {
		t.Run(fmt.Sprintf("seed %d", base+n), func(t *testing.T) {
			t.Parallel()
			playOrder(t, rand.New(rand.NewPCG(base+n, 0)))
		})
	}
}

func playOrder(t *testing.T, random *rand.Rand) {
	c := labtest.Empty(t, lab.Options{JujuVersion: lab.Juju3})
	c.Hold(true)
	var units []*lab.Unit
	for range 3 {
		units = append(units, c.AddEmpty())
	}
	timer, probe := 1+random.IntN(8), 30+random.IntN(60)
	created := ""
	c.PlayOrder(random, events(c, random, units, timer, probe), func(u *lab.Unit) { c.DeliverAny(random, u) }, func() {
		ids := c.LeaderSettings()["nb_cid"] + c.LeaderSettings()["sb_cid"]
		require.True(t, created == "" || ids == created, "the clusters were made twice: first %s, then %s", created, ids)
		created = ids
	})
	c.Hold(false)
	c.Tick("all units are active", c.AllActive)
	c.RequireOneCluster(units...)
	c.RequireConfigured(timer, probe)
}

// events happen once, besides their consequences. The vault answers late, like a sealed one.
func events(c *labtest.Model, random *rand.Rand, units []*lab.Unit, timer, probe int) []func() {
	configure := func(option string, value int) {
		c.T.Logf("option %s becomes %d", option, value)
		require.NoError(c.T, c.Configure(c.T.Context(), map[string]string{option: strconv.Itoa(value)}))
	}
	events := []func(){
		func() {
			c.T.Log("vault is related")
			c.RelateSealedVault()
		},
		func() { c.T.Log("vault issues certificates"); c.VaultAnswers() },
		func() { configure("ovsdb-server-election-timer", timer) },
		func() { configure("ovsdb-server-inactivity-probe", probe) },
	}
	for range 1 + random.IntN(4) {
		u := units[random.IntN(len(units))]
		events = append(events, func() {
			c.T.Logf("%s becomes the leader", u.Name())
			require.NoError(c.T, c.SetLeader(c.T.Context(), u))
		})
	}
	return events
}

// The life of an application on the lab under a writer: each cluster has exactly the units, leavers vacate machines.
func TestLifeOfAnApplication(t *testing.T) {
	t.Parallel()
	for _, version := range []string{lab.Juju3, lab.Juju4} {
		t.Run(version, func(t *testing.T) { live(t, version) })
	}
}

func live(t *testing.T, juju string) {
	t.Helper()
	c := labtest.Empty(t, lab.Options{JujuVersion: juju})
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
