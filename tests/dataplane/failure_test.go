package dataplane

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// G4: with a schedule the load stays even after a chassis fails, and OVN moves gateways as the schedule says.
func TestTraffic_dead_chassis_load_spreads_over_backups(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	for _, name := range w.but("") {
		w.addGateway(name)
		w.addGateway(name)
	}
	masters := best(w.candidates())
	w.settles(masters)
	w.proved("reschedule", "--wait", "60s")
	candidates := w.candidates()
	require.Equal(t, masters, best(candidates), "rescheduling moves no gateway")
	w.settles(masters)
	for _, failed := range w.but("") {
		assert.LessOrEqual(t, without(failed, candidates).spread(w.but(failed)...), 1, "if %s fails: %v", failed, candidates)
	}

	w.named("ch2").lose()
	w.settles(without("ch2", candidates))
	assert.LessOrEqual(t, w.bound().spread(w.but("ch2")...), 1)
}

// listed counts the gateways that have the chassis as a candidate.
func listed(candidates map[string][]string, chassis string) (n int) {
	for _, list := range candidates {
		if slices.Contains(list, chassis) {
			n++
		}
	}
	return n
}

// There are six chassis, and a list has five: a chassis that comes back takes the places of others.
func TestTraffic_removed_chassis_regains_its_share(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 6)
	for _, name := range w.but("") {
		w.addGateway(name)
		w.addGateway(name)
	}
	w.proved("reschedule", "--wait", "60s")
	before := w.candidates()
	w.settles(best(before))

	w.named("ch2").remove()
	w.proved("reschedule", "--wait", "60s")
	without := w.candidates()
	require.Zero(t, listed(without, "ch2"))
	for port, list := range without {
		assert.Len(t, list, 5, port)
		if before[port][0] != "ch2" {
			assert.Equal(t, before[port][0], list[0], "%s: its host still hosts it", port)
		}
	}
	w.settles(best(without))

	w.named("ch2").startController()
	w.proved("reschedule", "--wait", "60s")
	back := w.candidates()
	assert.Equal(t, best(without), best(back), "no gateway moves")
	assert.Equal(t, 10, listed(back, "ch2"), "12 lists of 5 for 6 chassis")
	w.settles(best(back))
	w.changesNothing("gateways", "reschedule")
}

// A gateway that moves to a chassis with a dead ovn-controller would be hosted nowhere: its other candidates hear
// that chassis and wait. So the program requests a sign of life first.
func TestReschedule_notices_dead_controller_before_moving(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	for range 3 {
		w.addGateway("ch1", "ch4", "ch2", "ch3")
		w.addGateway("ch1", "ch4", "ch3", "ch2")
	}
	w.settles(best(w.candidates()))
	w.named("ch4").controller.kill()
	w.proved("rebalance", "--yes", "--wait", "60s")
	masters := best(w.candidates())
	assert.Empty(t, masters.on("ch4"), "the others share evenly")
	assert.Equal(t, 0, masters.spread(w.but("ch4")...))
	w.settles(masters)
	for line := range strings.Lines(w.operated("gateways", "status")) {
		assert.Equal(t, strings.Contains(line, "ch4.example"), strings.Contains(line, "unschedulable"), line)
	}

	w.addGateway("ch4", "ch2", "ch3", "ch1") // as Neutron would schedule it
	assert.Contains(t, w.problems(), "GATEWAY_UNBOUND")
	assert.Regexp(t, `(?m)^ +lrp-7 .* ch2 .* ch4 `, w.operated("gateways", "status"))
	w.proved("reschedule", "--wait", "60s")
	masters = best(w.candidates())
	assert.NotEqual(t, "ch4", masters["lrp-7"])
	w.settles(masters)

	// When it is back, it gets its share.
	w.named("ch4").startController()
	w.settles(best(w.candidates()))
	w.proved("rebalance", "--yes", "--wait", "60s")
	masters = best(w.candidates())
	assert.LessOrEqual(t, masters.spread(w.but("")...), 1)
	assert.NotEmpty(t, masters.on("ch4"))
	w.settles(masters)
}

// The dead ovn-controller's flows stay, so that it answers until the switch in between learns the new chassis. In
// most runs nothing is lost. If an answer of the old chassis is under way at that moment, the switch learns the old
// chassis again, which drops the packets until the new one announces the address again, 2 or 4 s later.
func TestDrain_chassis_with_dead_controller(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	for range 3 {
		w.addGateway("ch1", "ch2", "ch3", "ch4")
		w.addGateway("ch1", "ch4", "ch3", "ch2")
	}
	w.settles(best(w.candidates()))
	w.named("ch1").controller.kill()
	w.nbctl("--wait=sb", "sync") // a request to which it can't respond

	gap := w.gap("rebalance", func() { w.proved("rebalance", "--yes", "--wait", "60s") })
	assert.Less(t, gap, 5*time.Second)
	masters := best(w.candidates())
	assert.LessOrEqual(t, masters.spread(w.but("")...), 1)
	assert.Equal(t, masters, w.bound())
	assert.Empty(t, w.silent(w.gateways...))
}
