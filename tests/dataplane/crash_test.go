package dataplane

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// nodeService is what the program uses; it tells each line, as the action's log has it.
func (w *world) nodeService(told func(line string)) *node.Service {
	g := &gateway.Service{
		Dialer: new(ovsdb.Dialer), NB: []string{w.endpoint("nb")}, SB: []string{w.endpoint("sb")}, By: "a test", Now: time.Now,
		NorthdTimeout: patience, Progress: func(_ context.Context, line string) { told(line) },
	}
	w.t.Cleanup(g.Close)
	return &node.Service{Gateways: g, Command: func(operation, name string, _ ...string) string { return operation + " " + name }}
}

// At each step of a drain of ch1 a chassis crashes: ch1, or one that gets its gateways; the whole
// machine, or its ovn-controller alone, for which the others would wait for ever, as they hear its
// tunnels. The drain ends by itself, every gateway works where the dead one is not, and once
// all are back the ranks are as before.
func TestChassisCrashesAtEachStepOfADrain(t *testing.T) {
	t.Parallel()
	for name, crash := range map[string]func(*chassis){
		"machine":        (*chassis).crash,
		"ovn-controller": func(c *chassis) { c.controller.kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 4)
			for range 2 {
				w.addGateway("ch1", "ch2", "ch3", "ch4")
				w.addGateway("ch1", "ch3", "ch2", "ch4")
				w.addGateway("ch3", "ch1", "ch2", "ch4")
				w.addGateway("ch4", "ch2", "ch1", "ch3")
			}
			before := w.candidates()
			w.settles(best(before))
			for _, step := range []string{"cordoned; 4 gateways to move", "8 of 8 gateways written", "nothing is left"} {
				for _, dies := range []string{"ch1", "ch2"} {
					w.crashDuringDrain(step, w.named(dies), crash)
					require.Equal(t, before, w.candidates())
					w.settles(best(before))
				}
			}
		})
	}
}

// crashDuringDrain drains ch1 and puts it back; the chassis dies right after the drain has said
// something.
func (w *world) crashDuringDrain(step string, dies *chassis, crash func(*chassis)) {
	w.t.Helper()
	var lines []string
	dead := false
	s := w.nodeService(func(line string) {
		lines = append(lines, line)
		if !dead && strings.Contains(line, step) {
			dead = true
			crash(dies)
		}
	})
	begun := time.Now()
	said := s.Drain(w.t.Context(), node.DrainRequest{Node: "ch1", Limits: maintenance.Limits{Timeout: patience}})
	log := strings.Join(lines, "\n")
	w.t.Logf("%s dies after %q: drained in %s", dies.name, step, time.Since(begun).Round(time.Second))
	require.True(w.t, dead, log)
	require.Equal(w.t, maintenance.Success, said.Reason, "%s\n%s", said.Text(), log)
	w.lasts("every gateway works", hold, func() string {
		if silent := w.silent(w.gateways...); len(silent) > 0 {
			return "no answer from " + strings.Join(silent, ", ")
		}
		return ""
	})
	assert.Empty(w.t, w.bound().on("ch1"), "%s dies after %q\n%s", dies.name, step, log)

	dies.reboot()
	back := s.Undrain(w.t.Context(), "ch1", patience, false)
	require.Equal(w.t, maintenance.Success, back.Reason, "%s\n%s", back.Text(), strings.Join(lines, "\n"))
}

// crash ends what controls the chassis and what moves its packets.
func (c *chassis) crash() {
	c.controller.kill()
	c.vswitch.kill()
}
