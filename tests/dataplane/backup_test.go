package dataplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Gateways of a chassis that is dead work on their first backups: chassis that came before these
// would take them over.
func TestReschedulingMovesNoGatewayThatWorksOnABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	next := map[string]string{"ch1": "ch2", "ch2": "ch3", "ch3": "ch4", "ch4": "ch1"}
	for _, name := range w.but("") {
		w.addGateway(name, next[name], next[next[name]])
		w.addGateway(name, next[name], next[next[name]])
	}
	candidates := w.candidates()
	w.settles(best(candidates))
	w.named("ch1").lose()
	w.settles(without("ch1", candidates))
	before := w.bound()
	out := w.proved("reschedule", "--wait", "60s")
	assert.Contains(t, out, "; interrupts nothing\n")
	assert.Contains(t, out, "every gateway is bound as expected\n")
	assert.Equal(t, before, w.bound())
	w.settles(before)
	for port, list := range w.candidates() {
		assert.Equal(t, candidates[port][0], list[0], port)
		if list[0] == "ch1" {
			assert.Equal(t, candidates[port][1], list[1], port)
			assert.Len(t, list, 4, port)
		}
	}
}

// The candidates of a router wait for its master for as long as they hear it, though its
// ovn-controller is dead and never hosts it.
func TestReschedulingWakesAGatewayThatWaitsForADeadController(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.addGateway("ch1", "ch2", "ch3", "ch4")
	w.addGateway("ch2", "ch3", "ch4", "ch1")
	w.addGateway("ch3", "ch2", "ch1", "ch4")
	w.settles(best(w.candidates()))
	w.named("ch4").silence()
	w.addGateway("ch4", "ch2", "ch3", "ch1") // as Neutron would schedule it
	assert.Contains(t, w.operated("status"), "lrp-4 is not bound to any chassis; expected ch4 (its ovn-controller is not responding)\n")
	w.proved("reschedule", "--wait", "60s")
	masters := best(w.candidates())
	assert.NotEqual(t, "ch4", masters["lrp-4"])
	w.settles(masters)
}
