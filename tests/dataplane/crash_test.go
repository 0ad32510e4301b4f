package dataplane

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// nodeService returns the service that the program uses; told receives the lines of the action's log.
func (w *world) nodeService(told func(line string)) *node.Service {
	g := &gateway.Service{
		Dialer: new(ovsdb.Dialer), NB: []string{w.endpoint("nb")}, SB: []string{w.endpoint("sb")}, By: "a test", Now: time.Now,
		NorthdTimeout: patience, Progress: func(_ context.Context, line string) { told(line) },
	}
	w.t.Cleanup(g.Close)
	return &node.Service{Gateways: g, Command: func(c command.Command) string { return c.Action + " " + c.Params[0].Value }}
}

var crashes = map[string]func(*chassis){
	"machine":        (*chassis).crash,
	"ovn-controller": func(c *chassis) { c.controller.kill() },
}

// fourWith returns a world of four chassis with 4·times gateways, half of them on ch1.
func fourWith(t *testing.T, times int) (w *world, candidates map[string][]string) {
	t.Helper()
	w = newWorld(t, 4)
	for range times {
		w.addGateway("ch1", "ch2", "ch3", "ch4")
		w.addGateway("ch1", "ch3", "ch2", "ch4")
		w.addGateway("ch3", "ch1", "ch2", "ch4")
		w.addGateway("ch4", "ch2", "ch1", "ch3")
	}
	candidates = w.candidates()
	w.settles(best(candidates))
	return w, candidates
}

// At each step of a drain of ch1 a chassis crashes: ch1, or a target. Either the whole machine crashes, or only its
// ovn-controller; the other chassis would wait for that one for ever, since they hear its tunnels. The drain ends,
// every gateway works elsewhere, and once all are back the ranks are as before.
func TestDrain_chassis_crashes_at_each_step(t *testing.T) {
	t.Parallel()
	for name, crash := range crashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, before := fourWith(t, 2)
			for _, step := range []string{` 8 \w.* 4 move`, `8 of 8 `, regexp.QuoteMeta(maintenance.Progress{}.Text())} {
				for _, dies := range []string{"ch1", "ch2"} {
					w.crashDuringDrain(step, w.named(dies), crash)
					require.Equal(t, before, w.candidates())
					w.settles(best(before))
				}
			}
		})
	}
}

// crashDuringDrain drains ch1 and undrains it. The chassis dies right after the drain has logged the step.
func (w *world) crashDuringDrain(step string, dies *chassis, crash func(*chassis)) {
	w.t.Helper()
	begun := time.Now()
	log := w.crashAt(step, dies, crash, answer.Success, func(s *node.Service) answer.Status {
		return s.Drain(w.t.Context(),
			node.Request{Node: "ch1", Confirmed: true, Limits: maintenance.Limits{Timeout: patience}})
	})
	w.t.Logf("%s dies after %q: drained in %s", dies.name, step, time.Since(begun).Round(time.Second))
	w.answers()
	assert.Empty(w.t, w.bound().on("ch1"), "%s dies after %q\n%s", dies.name, step, log)
	dies.reboot()
	w.undrained("ch1")
}

// crash kills ovn-controller and ovs-vswitchd.
func (c *chassis) crash() {
	c.controller.kill()
	c.vswitch.kill()
}

// The same at the step of an undrain of ch1 that restores the ranks, and at the step of clear-labels that deletes
// them. An undrain fails if its node dies. The other chassis take over from a dead machine; a dead ovn-controller
// needs the drain that is printed.
func TestUndrain_chassis_crashes_halfway(t *testing.T) {
	t.Parallel()
	for name, crash := range crashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, before := fourWith(t, 1)
			for _, dies := range []string{"ch1", "ch2"} {
				w.drained("ch1")
				want := answer.Success
				if dies == "ch1" {
					want = answer.DrainNodeError
				}
				log := w.crashAt(ranksWritten, w.named(dies), crash, want, func(s *node.Service) answer.Status {
					return s.Undrain(t.Context(), node.Request{Node: "ch1", Confirmed: true, Wait: 20 * time.Second})
				})
				if dies == "ch1" {
					require.Contains(t, log, "next: drain ch1")
					w.drained("ch1")
				}
				w.answers()
				w.named(dies).reboot()
				if dies == "ch1" {
					w.undrained("ch1")
				}
				require.Equal(t, before, w.candidates())
				w.settles(best(before))
			}

			w.drained("ch1")
			w.crashAt(ranksWritten, w.named("ch2"), crash, answer.Success, func(s *node.Service) answer.Status {
				return s.ClearLabels(t.Context(), node.Request{Node: "ch1", Clear: patience})
			})
			w.answers()
			w.named("ch1").crash() // it is no longer a candidate of any gateway
			w.answers()
			for gateway, ranks := range w.candidates() {
				require.NotContains(t, ranks, "ch1", gateway)
			}
		})
	}
}

func (w *world) drained(name string) {
	w.t.Helper()
	said := w.nodeService(func(line string) { w.t.Log(line) }).Drain(w.t.Context(),
		node.Request{Node: name, Confirmed: true, Limits: maintenance.Limits{Timeout: patience}})
	require.Equal(w.t, answer.Success, said.Reason, document.Answer(said))
	assert.Empty(w.t, w.bound().on(name))
}

func (w *world) undrained(name string) {
	w.t.Helper()
	said := w.nodeService(func(line string) { w.t.Log(line) }).Undrain(w.t.Context(),
		node.Request{Node: name, Confirmed: true, Wait: patience})
	require.Equal(w.t, answer.Success, said.Reason, document.Answer(said))
}

// ranksWritten is the step of an undrain, and of clear-labels, after which the database has other candidates.
const ranksWritten = " written"

// crashAt runs do, which must end with the given reason. The chassis dies right after do has logged the step. crashAt
// returns the log and the answer.
func (w *world) crashAt(
	step string, dies *chassis, crash func(*chassis), want answer.Reason, do func(*node.Service) answer.Status,
) (log string) {
	w.t.Helper()
	dead := false
	said := do(w.nodeService(func(line string) {
		log += line + "\n"
		if !dead && regexp.MustCompile(step).MatchString(line) {
			dead = true
			crash(dies)
		}
	}))
	log += document.Answer(said)
	require.True(w.t, dead, log)
	require.Equal(w.t, want, said.Reason, log)
	return log
}

func (w *world) answers() {
	w.t.Helper()
	w.lasts("every gateway works", hold, func() string {
		if silent := w.silent(w.gateways...); len(silent) > 0 {
			return "no answer from " + strings.Join(silent, ", ")
		}
		return ""
	})
}
