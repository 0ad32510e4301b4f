package dataplane

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRebalance_traffic_follows_plan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	for range 4 {
		w.addGateway("ch1", "ch2", "ch3", "ch4")
		w.addGateway("ch1", "ch4", "ch3", "ch2")
	}
	w.settles(best(w.candidates()))
	plan := w.planned("rebalance")
	require.Equal(t, 6, plan.Moves())

	w.proved("rebalance", "--yes", "--wait", "60s")
	placed := w.bound()
	for _, change := range plan.Changes {
		for _, port := range change.Ports {
			assert.Equal(t, change.To(), placed[port.Name], "%s has moved at once", port.Name)
		}
	}
	assert.Equal(t, best(w.candidates()), placed)
	assert.Equal(t, 0, placed.spread(w.but("")...))
	w.settles(placed)
	assert.Empty(t, w.problems())
}

// The gateways of a dead chassis work on their first backups. A chassis that is listed before these would take them
// over.
func TestReschedule_working_backup_keeps_its_gateway(t *testing.T) {
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
	assert.Zero(t, w.planned("reschedule").Moves())
	w.proved("reschedule", "--wait", "60s")
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

// A chassis without tunnels that reaches the databases looks alive to every request, and hosts nothing.
func TestStatus_names_gateways_off_their_first_chassis(t *testing.T) {
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

	text := w.operated("gateways", "status")
	assert.Regexp(t, `(?m)^  lrp-1 .* ch2; .* ch1$`, text)
	assert.Regexp(t, `(?m)^  lrp-2 .* ch3; .* ch1$`, text)
	assert.Equal(t, []string{"GATEWAY_MISPLACED", "GATEWAY_MISPLACED"}, w.problems())

	// Their lists grow, but the program can't prove that they are where they should be.
	code, out, stderr := w.operate("gateways", "reschedule", "--wait", "10s")
	assert.Equal(t, 1, code)
	unproved := regexp.MustCompile(`(?m)^lrp-\d .*$`).FindAllString(out, -1)
	require.Len(t, unproved, 2)
	assert.Regexp(t, `^lrp-1 .* ch2; .* ch1$`, unproved[0])
	assert.Regexp(t, `^lrp-2 .* ch3; .* ch1$`, unproved[1])
	assert.Regexp(t, `run: ovn-central-operator gateways status --nb \S+ --sb \S+\n`, stderr)

	w.named("ch1").plug("up", dataBridge)
	w.settles(best(w.candidates()))
	assert.Empty(t, w.problems())
	masters := best(w.candidates())
	assert.Zero(t, w.planned("reschedule").Moves(), "what was left alone as long as gateways worked on backups")
	w.proved("reschedule", "--wait", "60s")
	assert.Equal(t, masters, best(w.candidates()))
	w.changesNothing("gateways", "reschedule")
}
