package gateways

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// shown is a request to whoever has seen the plan.
var shown = gateway.Request{Show: func(schedule.Plan) error { return nil }}

// showThen is who sees a plan, and then does something.
func showThen(do func()) func(schedule.Plan) error {
	return func(schedule.Plan) error {
		do()
		return nil
	}
}

// What is written stays, and what isn't is left for later: there is no use in going on.
func TestNothingMoreIsWrittenWithoutOvnNorthd(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet1")
	ports := c.addGateways(120, "c1")
	s := c.service()
	s.NorthdTimeout = time.Second
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	require.EqualError(t, s.Reschedule(t.Context(), shown),
		"ovn-northd did not process the changes within 1s; check that it is running and what its log says, then run this again")
	assert.Len(t, c.candidates(ports[99]), 2)
	assert.Len(t, c.candidates(ports[100]), 1)

	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	s.NorthdTimeout = patience
	require.NoError(t, s.Reschedule(t.Context(), shown))
	c.complete(ports, 2)
}

// Of 10,000 gateways half an hour, which is all that a command has, writes 8,000.
func TestRunThatIsOutOfTimeSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet1")
	ports := c.addGateways(120, "c1")
	s := c.service()
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	s.Progress = func(context.Context, string) { cancel(errors.New("timed out after 30m")) }
	require.EqualError(t, s.Reschedule(ctx, shown), "stopped after 100 gateways: timed out after 30m; run it again to continue")

	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	s.Progress = nil
	require.NoError(t, s.Reschedule(t.Context(), shown))
	c.complete(ports, 2)
}

// In a large cloud, on a busy machine, it may take minutes: whoever was slow before is given
// more time.
func TestOvnNorthdThatIsKnownToBeSlowIsWaitedFor(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet1")
	ports := c.addGateways(250, "c1")
	s := c.service()
	s.NorthdTimeout = 10 * time.Second
	stops := []time.Duration{2 * time.Second, 12 * time.Second} // after 100, and after 200
	s.Progress = func(context.Context, string) {
		if len(stops) > 0 {
			assert.NoError(t, c.northd.Signal(syscall.SIGSTOP))
			time.AfterFunc(stops[0], func() { _ = c.northd.Signal(syscall.SIGCONT) })
			stops = stops[1:]
		}
	}
	begun := time.Now()
	require.NoError(t, s.Reschedule(t.Context(), shown))
	assert.Greater(t, time.Since(begun), 14*time.Second)
	c.complete(ports, 2)
}
