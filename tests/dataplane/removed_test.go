package dataplane

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// listed counts in how many lists a chassis is.
func listed(candidates map[string][]string, chassis string) (n int) {
	for _, list := range candidates {
		if slices.Contains(list, chassis) {
			n++
		}
	}
	return n
}

// Six chassis, of which five are in a list: one that comes back takes others' places.
func TestRemovedChassisIsReplacedAndGetsItsShareWhenItIsBack(t *testing.T) {
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
			assert.Equal(t, before[port][0], list[0], "%s: who hosted it still does", port)
		}
	}
	w.settles(best(without))

	w.named("ch2").startController()
	w.proved("reschedule", "--wait", "60s")
	back := w.candidates()
	assert.Equal(t, best(without), best(back), "nobody moves")
	assert.Equal(t, 10, listed(back, "ch2"), "12 lists of 5 for 6 chassis")
	w.settles(best(back))
	assert.Contains(t, w.operated("reschedule"), "reschedule: nothing to do")
}
