package gateways

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/document"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// reschedule plans a reschedule, calls the functions, and then carries the plan out.
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

// Written changes stay, and the others are left for later. The run stops without ovn-northd, because it would be
// useless to continue, or when a command's time is over (of 10,000 gateways half an hour writes 8,000).
func TestReschedule_interrupted_reports_progress(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(220, "c1")
	s := c.service()
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	over := errors.New("over")
	s.Progress = func(context.Context, string) { cancel(over) }
	err := reschedule(ctx, s)
	require.ErrorIs(t, err, over)
	require.ErrorContains(t, err, "100 gateways")
	s.Progress, s.NorthdTimeout = nil, time.Second
	require.ErrorIs(t, reschedule(t.Context(), s), gateway.ErrBehind)
	for i, candidates := range map[int]int{99: 2, 199: 2, 200: 1} {
		assert.Len(t, c.candidates(ports[i]), candidates, i)
	}
	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	s.NorthdTimeout = patience
	require.NoError(t, reschedule(t.Context(), s))
	c.complete(ports, 2)
}

// In a large cloud, on a busy machine, ovn-northd may take minutes. If it was slow before, it gets more time than the
// bound, however large the batches are.
func TestNorthd_known_to_be_slow_is_awaited_longer(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(120, "c1")
	c.nbctl("--wait=sb", "sync") // the cost of the routers themselves is not tested here
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

// Without a row of NB_Global, ovn-northd can't be asked for a sign of life either. Commands that need the row say what
// makes it.
func TestReschedule_unused_NB_has_nothing_to_do(t *testing.T) {
	t.Parallel()
	c := newDatabases(t)
	for _, verb := range []string{"rebalance", "reschedule"} {
		c.changesNothing(verb, "--yes")
		c.changesNothing("plan", verb)
	}
	assert.Equal(t, finding.NodeUnknown, codeOf(c.answer("remove", "c1", "--yes")))
	c.addChassis("c1")
	c.operated("rebalance", "--yes")
	for _, command := range [][]string{{"cordon", "c1"}, {"drain", "c1"}, {"remove", "c1", "--yes"}} {
		assert.Contains(t, c.answer(command...).Message, ovsdb.ErrUninitialized.Error(), command)
	}
	c.nbctl("init")
	c.succeeds("cordon", "c1")
}

// A wait for ovn-northd is reported. A request that needs no ovn-northd does not wait.
func TestNorthd_wait_is_reported(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1")
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	assert.Equal(t, 404, c.answer("remove", "c9", "--yes").Code)

	s, now := c.nodeService(), time.Now()
	t.Cleanup(s.Close)
	s.Gateways.NorthdTimeout = time.Second
	s.Gateways.Now = func() time.Time { // each read is a second later
		now = now.Add(time.Second)
		return now
	}
	var lines []string
	s.Gateways.Progress = func(_ context.Context, line string) { lines = append(lines, line) }
	said := s.Remove(t.Context(), node.Request{Node: "c1", Confirmed: true})
	assert.Equal(t, finding.NodeNotRemoved, codeOf(said))
	require.NotEmpty(t, lines)
	assert.Contains(t, lines[0], "nb_cfg 0 of 1")
}

// 002-3: the timeout also bounds the wait for ovn-northd, for a drain that begins and for one that is joined. The drain
// is recorded, and nothing moves before it is known which chassis live.
func TestDrain_timeout_bounds_wait_for_northd(t *testing.T) {
	t.Parallel()
	c := newCloud(t, "c1", "c2")
	ports := c.addGateways(2, "c1", "c2")
	require.NoError(t, c.northd.Signal(syscall.SIGSTOP))
	for range 2 {
		said := c.answer("drain", "c1", "--timeout", "5s", "--grace-period", "0s")
		assert.Equal(t, answer.DrainNodeError, said.Reason, document.Answer(said))
		assert.Equal(t, finding.DrainUnfinished, codeOf(said))
		assert.Contains(t, said.Message, "5s")
		assert.Contains(t, detail(said, maintenance.OperationDrain), " drain c1.example ")
		require.NotNil(t, c.node("c1").Drain)
		assert.Equal(t, map[string]int{"c1": 2}, c.masters(ports...))
	}
	require.NoError(t, c.northd.Signal(syscall.SIGCONT))
	c.drained("c1")
	assert.Equal(t, map[string]int{"c2": 2}, c.masters(ports...))
}
