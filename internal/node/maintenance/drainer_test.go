package maintenance_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// world simulates what a drain sees and does.
type world struct {
	now  time.Time
	seen maintenance.Sight
	// moved is what a move leaves; nil leaves all as it is, and moves nothing.
	moved                *maintenance.Progress
	moves, asked, synced int
	fails                error
}

func (w *world) Now() time.Time { return w.now }

func (w *world) Look(context.Context) (maintenance.Sight, error) { return w.seen, w.fails }

func (w *world) Move(context.Context) (maintenance.Sight, bool, error) {
	w.moves++
	if w.moved == nil {
		return w.seen, false, nil
	}
	w.seen.Progress = *w.moved
	return w.seen, true, nil
}

func (w *world) Ask(context.Context) error {
	w.asked++
	w.seen.Asked++
	return nil
}

func (w *world) Sync(context.Context) error {
	w.synced++
	return nil
}

// step makes a step of a drain at a time after its beginning.
func (w *world) step(t *testing.T, d *maintenance.Drainer, after time.Duration) (outcome maintenance.Outcome, line string) {
	t.Helper()
	w.now = at.Add(after)
	outcome, line, _, err := d.Step(t.Context(), w)
	assert.ErrorIs(t, err, w.fails)
	return outcome, line
}

func TestDrainer_command_moves_at_once_and_proves(t *testing.T) {
	t.Parallel()
	w := &world{seen: maintenance.Sight{Progress: moving, Claims: maintenance.Claims{Hosts: map[string]string{"a": "c2"}, Asked: 7, Followed: 7}}, moved: &settles}
	d := maintenance.Drainer{Limits: maintenance.Limits{Timeout: time.Hour, Grace: time.Minute}, Begun: at, Own: true}
	_, line := w.step(t, &d, 0)
	assert.Equal(t, "gateway 2", line)
	assert.Equal(t, 1, w.moves)
	w.seen.Progress = maintenance.Progress{}
	outcome, _ := w.step(t, &d, time.Second)
	assert.Equal(t, maintenance.GoOn, outcome)
	assert.Equal(t, 1, w.asked)
	assert.True(t, d.Progress.Unproved)
	w.seen.Hosts = map[string]string{"a": "c3"} // it may have been asked before it had claimed the gateway
	w.seen.Followed = w.seen.Asked
	w.step(t, &d, 2*time.Second)
	assert.Equal(t, 2, w.asked)
	w.seen.Followed = w.seen.Asked
	d.Cleared(at.Add(time.Second))
	outcome, _ = w.step(t, &d, 4*time.Second)
	assert.Equal(t, maintenance.Drained, outcome)
	assert.Equal(t, 2, w.asked)
	assert.Equal(t, 1, w.moves)

	w.seen.Progress = stuck // it came back before that was settled
	w.step(t, &d, 5*time.Second)
	w.seen.Progress = maintenance.Progress{}
	w.step(t, &d, 6*time.Second)
	assert.True(t, d.Progress.Unproved)
}

func TestDrainer_agent_leaves_time_to_command(t *testing.T) {
	t.Parallel()
	w := &world{seen: maintenance.Sight{Progress: moving}}
	var d maintenance.Drainer
	for second := range 25 {
		w.step(t, &d, time.Duration(second)*time.Second)
	}
	assert.Equal(t, 2, w.moves)
}

func TestDrainer_gateway_unbound_for_long_asks_and_moves(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		w := &world{seen: maintenance.Sight{Progress: maintenance.Progress{Unbound: []string{"lrp-1"}}}}
		d := maintenance.Drainer{Own: own}
		for second := range 25 {
			w.step(t, &d, time.Duration(second)*time.Second)
		}
		assert.Equal(t, 2, w.synced, "at 5 s and at 15 s")
		assert.Equal(t, 2, w.moves)
	}
}

func TestDrainer_error_ends_only_at_timeout(t *testing.T) {
	t.Parallel()
	w := &world{seen: maintenance.Sight{Progress: settles}}
	d := maintenance.Drainer{Limits: maintenance.Limits{Timeout: time.Hour, Grace: time.Minute}, Begun: at, Own: true}
	w.step(t, &d, 0)
	w.fails = errors.New("no connection")
	outcome, line := w.step(t, &d, 59*time.Minute)
	assert.Equal(t, maintenance.GoOn, outcome)
	assert.Empty(t, line)
	assert.True(t, d.Stalled(w.now))
	outcome, _ = w.step(t, &d, time.Hour)
	assert.Equal(t, maintenance.TimeOver, outcome)
	assert.Equal(t, settles, d.Progress)
}

func TestDrainer_force_waits_for_no_port(t *testing.T) {
	t.Parallel()
	w := &world{seen: maintenance.Sight{Progress: maintenance.Progress{Holds: []maintenance.Hold{{Name: maintenance.HoldCompute, Count: 2, Derived: true}}}}}
	d := maintenance.Drainer{Limits: maintenance.Limits{Timeout: time.Hour}, Begun: at, Own: true, Force: true}
	w.step(t, &d, 0)
	outcome, _ := w.step(t, &d, maintenance.SettledFor)
	assert.Equal(t, maintenance.Drained, outcome)
}
