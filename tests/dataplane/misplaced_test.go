package dataplane

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A chassis that has lost its tunnels, but not its way to the databases, looks alive to
// every request for a sign of life, and hosts nothing.
func TestGatewaysThatAreNotWhereTheirPrioritiesSayAreNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.addGateway("ch1", "ch2", "ch3")
	w.addGateway("ch1", "ch3", "ch2")
	for range 2 {
		w.addGateway("ch2", "ch1", "ch3", "ch4")
		w.addGateway("ch2", "ch1", "ch4", "ch3")
		w.addGateway("ch3", "ch1", "ch4", "ch2")
	}
	candidates := w.candidates()
	w.settles(best(candidates))
	w.named("ch1").plug("down", dataBridge)
	w.settles(without("ch1", candidates))

	text := w.operated("status")
	assert.Contains(t, text, "  lrp-1 is bound to ch2; expected ch1\n")
	assert.Contains(t, text, "  lrp-2 is bound to ch3; expected ch1\n")
	assert.Equal(t, []string{"GATEWAY_MISPLACED", "GATEWAY_MISPLACED"}, w.problems())

	// Their lists grow, but that they are where they should be can't be proved.
	assert.Equal(t, []string{"lrp-1", "lrp-2"}, w.unproved("ch1", "reschedule", "--wait", "10s"))

	w.named("ch1").plug("up", dataBridge)
	w.settles(best(w.candidates()))
	assert.Empty(t, w.problems())
	masters := best(w.candidates())
	assert.Contains(t, w.proved("reschedule", "--wait", "60s"), "interrupts nothing\n", "what was left alone as long as gateways worked on backups")
	assert.Equal(t, masters, best(w.candidates()))
	assert.Contains(t, w.operated("reschedule"), "reschedule: nothing to do")
}

// unproved runs the program, which must report of all gateways that were to be on a chassis,
// and of no others, where they are instead: on their first backups.
func (w *world) unproved(chassis string, args ...string) []string {
	w.t.Helper()
	code, out, stderr := w.operate(args...)
	assert.Equal(w.t, 1, code)
	candidates := w.candidates()
	missing := best(candidates).on(chassis)
	var said []string
	for line := range strings.Lines(out) {
		if strings.Contains(line, " is bound to ") && !strings.HasPrefix(line, "waiting for ") {
			said = append(said, line)
		}
	}
	var want []string
	for _, port := range missing {
		want = append(want, fmt.Sprintf("%s is bound to %s; expected %s\n", port, candidates[port][1], chassis))
	}
	assert.Equal(w.t, want, said)
	assert.Regexp(w.t, fmt.Sprintf("%d ports? (is|are) not bound as expected after 10s; run: ovn-central-operator gateways status --nb \\S+ --sb \\S+\n", len(missing)), stderr)
	return missing
}
