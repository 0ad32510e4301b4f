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
)

// reschedule carries a rescheduling out as it was planned, with what happens in between.
func reschedule(ctx context.Context, s *gateway.Service, meanwhile ...func()) error {
	operation, err := s.Reschedule(ctx, gateway.Request{})
	if err != nil {
		return err
	}
	for _, do := range meanwhile {
		do()
	}
	return operation.Apply(ctx)
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
	require.EqualError(t, reschedule(t.Context(), s),
		"ovn-northd did not process the changes within 1s; check that it is running and what its log says, then run this again")
	assert.Len(t, c.candidates(ports[99]), 2)
	assert.Len(t, c.candidates(ports[100]), 1)

	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	s.NorthdTimeout = patience
	require.NoError(t, reschedule(t.Context(), s))
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
	require.EqualError(t, reschedule(ctx, s), "stopped after 100 gateways: timed out after 30m; run it again to continue")

	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	s.Progress = nil
	require.NoError(t, reschedule(t.Context(), s))
	c.complete(ports, 2)
}

// In a large cloud, on a busy machine, it may take minutes: an ovn-northd that was slow before is
// given more time than the bound, however large the batches are.
func TestOvnNorthdThatIsKnownToBeSlowIsWaitedFor(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	c.addNetwork("physnet1")
	ports := c.addGateways(120, "c1")
	c.nbctl("--wait=sb", "sync") // what the routers themselves cost it is not what is shown here
	s := c.service()
	s.NorthdTimeout = 10 * time.Second
	pause := func(d time.Duration) {
		assert.NoError(t, c.northd.Signal(syscall.SIGSTOP))
		time.AfterFunc(d, func() { _ = c.northd.Signal(syscall.SIGCONT) })
	}
	pause(2 * time.Second)
	require.NoError(t, s.SyncNorthd(t.Context()))

	longer := 12 * time.Second
	var begun time.Time
	s.Progress = func(context.Context, string) {
		if begun.IsZero() { // 100 of 120 are written
			begun = time.Now()
			pause(longer)
		}
	}
	require.NoError(t, reschedule(t.Context(), s))
	assert.GreaterOrEqual(t, time.Since(begun), longer)
	c.complete(ports, 2)
}
