package plan_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// orders is the number of orders of events that are tried with fixed seeds, and again with new ones; EXPLORE
// multiplies it.
const orders = 120

// rounds is how often each unit runs a hook after the last fault. The election timer alone takes 6, from 1 s to 60 s.
const rounds = 12

// Certificates, peers, leaders, options, units and faults may come in any order, and hooks may be killed at any step:
// no rule is ever broken, and in the end all units are members of the same clusters.
func TestModel_every_order_leads_to_one_cluster(t *testing.T) {
	t.Parallel()
	orders := orders * uint64(exploretest.Factor(t))
	for _, base := range []uint64{0, rand.Uint64()} {
		t.Run(fmt.Sprintf("from seed %d", base), func(t *testing.T) {
			t.Parallel()
			applied := map[string]bool{}
			for seed := base; seed < base+orders; seed++ {
				w := play(seed, false)
				if w.broken != "" {
					require.Failf(t, w.broken, "seed %d:\n%s", seed, strings.Join(play(seed, true).log, "\n"))
				}
				maps.Copy(applied, w.rules)
			}
			if base == 0 {
				_, steps := plan.Rules()
				missing := slices.DeleteFunc(steps, func(name string) bool { return applied[name] })
				assert.Equal(t, outsideModel, missing, "rules with steps that no order of events leads to")
			}
		})
	}
}

// outsideModel lists the rules for events that the model lacks: damaged files, recoveries, adopted clusters, claims
// that Juju writes late, and CAs without a certificate.
var outsideModel = []string{
	"running server's file lacks entries", "recovery has a step", "it is of a cluster that was given up in a recovery",
	"the CA's own certificates have changed", "leader publishes a served claim", "the clusters exist already",
	"its server has left another unit's cluster", "the server was removed and can't be started on this file",
	"file is too new for the packages", "the leader has stopped adding this server", "recovery is over",
	"replaced clusters are not noted", "a unit asks to join again",
}

// sizes are the initial numbers of units, one for each order.
var sizes = []int{3, 1, 3, 2, 3, 5}

// play runs events in the order of a seed.
func play(seed uint64, tell bool) *world {
	w := newWorld(seed, sizes[seed%uint64(len(sizes))])
	w.tell = tell
	if w.chance(50) { // half of the runs begin with an application that works
		for range rounds {
			w.settle()
		}
		w.calm = false
	}
	for n := 50 + w.rand.IntN(250); n > 0 && w.broken == ""; n-- {
		w.happen()
	}
	for n := rounds; n > 0 && w.broken == ""; n-- {
		w.settle()
	}
	w.checkSettled()
	return w
}

// settle runs a round without faults: every unit gets what it waits for and runs a hook.
func (w *world) settle() {
	if !w.calm {
		w.calm, w.config.bad, w.config.held = true, false, false
		w.say("from now on all is well")
		for _, u := range w.units {
			u.hook, u.paused, u.deposed = nil, false, false
			if u.issued == nil || !u.issued.Problem.IsZero() || u.issued.Issuer != w.caName() {
				w.issue(u)
			}
		}
	}
	w.kickStale()
	w.progressAll()
	w.leave()
	for _, i := range w.rand.Perm(len(w.units)) {
		u := w.units[i]
		for _, from := range w.units {
			deliver(u, from)
		}
		w.run(u)
		w.progressAll()
	}
}

// leave starts the servers of leaving units, and makes Juju retry their `stop`.
func (w *world) leave() {
	for _, u := range slices.Clone(w.units) {
		if !u.dying {
			continue
		}
		for _, db := range ovndb.Databases() {
			if s := u.files[db]; s != nil && !s.works() && !s.left && !s.outside {
				w.start(s)
			}
		}
		w.remove(u)
	}
}

// run runs a hook from begin to end, and counts its steps.
func (w *world) run(u *unit) (steps int) {
	for w.begin(u); u.hook != nil && w.broken == ""; {
		w.advance(u)
		steps++
	}
	return steps - 1
}

// kickStale plays an operator who kicks members without a unit.
func (w *world) kickStale() {
	for _, id := range w.ids() {
		for _, s := range w.clusters[id].members {
			if s.machine.unit == nil || s.machine.files[s.cluster.db] != s {
				w.kick(s)
			}
		}
	}
}

// checkSettled fails unless the application is complete and has no next step.
func (w *world) checkSettled() {
	if w.broken != "" {
		return
	}
	for _, u := range w.units {
		d := plan.Decide(w.state(u, w.ask(u)))
		switch {
		case d.Step != nil || !d.Ready || len(d.Findings) > 0:
			w.fail("in the end %s is not well: ready %v, step %v, %v", u.name, d.Ready, d.Step, d.Findings)
		case w.run(u) != 0:
			w.fail("a hook of %s that is run again does something", u.name)
		case !slices.Equal(u.used.Trusts, []string{w.caName()}) || u.used.Fingerprint != u.issued.Fingerprint:
			w.fail("in the end %s uses %+v", u.name, *u.used)
		}
	}
	for _, db := range ovndb.Databases() {
		c := w.clusters[w.settings.IDs[db]]
		switch {
		case c == nil:
			w.fail("in the end there is no cluster")
		case len(c.members) != len(w.units):
			w.fail("in the end %s has %d members, of %d units", db.Short(), len(c.members), len(w.units))
		case c.timer != w.config.timer || c.probe != w.config.probe || c.schema != w.config.source:
			w.fail("in the end %s has %s, %s, %s", db.Short(), c.timer, c.probe, c.schema)
		}
	}
}
