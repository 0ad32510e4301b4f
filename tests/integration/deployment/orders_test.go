package deployment

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// orders is how many orders of events are tried out, each with a new seed, where no more is
// explored.
const orders = 6

// maxDeliveries bounds the hooks of one order; it takes about 80.
const maxDeliveries = 400

// Certificates, peers, leaders and options may reach three units in any order:
// they come to the same cluster, made once.
func TestEveryOrderOfEventsMakesOneCluster(t *testing.T) {
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
	c := newCloud(t, lab.Options{JujuVersion: lab.Juju3})
	c.Hold(true)
	var units []*lab.Unit
	for range 3 {
		u, err := c.AddUnitWith(t.Context(), lab.AddOptions{Fresh: true, NoHooks: true})
		require.NoError(t, err)
		units = append(units, u)
	}
	timer, probe := 1+random.IntN(8), 30+random.IntN(60)
	events := c.events(t, random, units, timer, probe)
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	created := ""
	for step := 0; ; step++ {
		require.Less(t, step, maxDeliveries, "the units don't come to rest\n%s", c.statuses())
		var choices []func()
		for _, u := range units {
			for range c.Pending(u) {
				choices = append(choices, func() { c.deliverAny(t, random, u) })
			}
		}
		if len(events) > 0 {
			choices = append(choices, func() { events[0](); events = events[1:] })
		}
		if len(choices) == 0 {
			break
		}
		choices[random.IntN(len(choices))]()
		ids := c.LeaderSettings()["nb_cid"] + c.LeaderSettings()["sb_cid"]
		require.True(t, created == "" || ids == created, "the clusters were made twice: first %s, then %s", created, ids)
		created = ids
	}
	c.Hold(false)
	c.tick(t, "all units are active", c.allActive)
	c.requireOneCluster(t, units...)
	c.requireConfigured(t, timer, probe)
}

// deliverAny runs one of the hooks that are pending now: agents enter relations as
// they are asked what they would do, so that the list of a moment ago is no more.
func (c *cloud) deliverAny(t *testing.T, random *rand.Rand, u *lab.Unit) {
	t.Helper()
	if hooks := c.Pending(u); len(hooks) > 0 {
		require.NoError(t, c.DeliverHook(t.Context(), u, hooks[random.IntN(len(hooks))]))
	}
}

// events are what happens once in the life of the application, besides what
// follows from it by itself. The vault answers late, as one that is sealed.
func (c *cloud) events(t *testing.T, random *rand.Rand, units []*lab.Unit, timer, probe int) []func() {
	configure := func(option string, value int) {
		t.Logf("option %s becomes %d", option, value)
		require.NoError(t, c.Configure(t.Context(), map[string]string{option: strconv.Itoa(value)}))
	}
	events := []func(){
		func() {
			t.Log("vault is related")
			var err error
			c.certificates, err = c.Relate(t.Context(), "certificates", "vault", 1)
			require.NoError(t, err)
		},
		func() { t.Log("vault issues certificates"); c.vaultAnswers(t) },
		func() { configure("ovsdb-server-election-timer", timer) },
		func() { configure("ovsdb-server-inactivity-probe", probe) },
	}
	for range 1 + random.IntN(4) {
		u := units[random.IntN(len(units))]
		events = append(events, func() {
			t.Logf("%s becomes the leader", u.Name())
			require.NoError(t, c.SetLeader(t.Context(), u))
		})
	}
	return events
}

// requireConfigured requires that both databases have the election timer and, on
// all listeners, the inactivity probe; both in seconds.
func (c *cloud) requireConfigured(t *testing.T, timer, probe int) {
	t.Helper()
	for _, db := range lab.Databases {
		for _, u := range c.Units() {
			s, err := serverStatus(t.Context(), u, db)
			require.NoError(t, err)
			assert.Equal(t, int64(timer)*1000, s.ElectionTimer.Milliseconds(), "%s of %s", db, u.Name())
		}
		ms := strconv.Itoa(probe * 1000)
		assert.Equal(t, listeners(db, ms), c.connections(t, db))
	}
}

// listeners are the rows that the charm makes, with the probe in ms.
func listeners(db lab.DB, probe string) map[string]string {
	if db == lab.NB {
		return map[string]string{"pssl:6641": probe}
	}
	return map[string]string{"pssl:6642": probe + ",ovn-controller", "pssl:16642": probe}
}
