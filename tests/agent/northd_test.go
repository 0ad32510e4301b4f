package agent

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// northd starts an ovn-northd on the first member.
func (p *plane) northd() {
	p.t.Helper()
	p.start(nil, "ovn-northd", "-vconsole:off", "--unixctl="+p.path("northd.ctl"), "--ovnnb-db="+p.servers[0].Endpoint(), "--ovnsb-db="+p.south.Endpoint())
	eventually(p.t, func() bool {
		out, err := exec.CommandContext(p.t.Context(), "ovn-appctl", "-t", p.path("northd.ctl"), "status").Output()
		return err == nil && strings.Contains(string(out), "active")
	}, patience, 50*time.Millisecond, "ovn-northd does not work")
}

// recomputed is how often ovn-northd has computed everything anew (inc-engine/show-stats of
// ovn-northd(8)). That it is asked has it do so once.
func (p *plane) recomputed() (times int) {
	p.t.Helper()
	out := p.run("ovn-appctl", "-t", p.path("northd.ctl"), "inc-engine/show-stats")
	_, rest, found := strings.Cut(out, "Node: northd\n- recompute:")
	require.True(p.t, found, out)
	_, err := fmt.Sscan(rest, &times)
	require.NoError(p.t, err)
	return times
}

// R17: what ovn-northd does in an interval is the same with three agents and without. Each of the
// intervals is asked about once, which costs the same.
func TestIdleAgentsHaveOVNNorthdComputeNothing(t *testing.T) {
	t.Parallel()
	p := newPlane(t, "--mode", "on", "--hold-down", "1s")
	p.nb("init")
	p.northd()
	for _, c := range []string{"c1", "c2", "c3"} {
		p.arrive(c)
	}
	p.gateways(3)
	holder := p.holder(p.agents...)
	p.complete(3)
	eventually(t, func() bool {
		s := p.status(holder).Gateways
		return len(s.HeldDown)+len(s.Advice) == 0
	}, patience, 100*time.Millisecond)
	interval := func(write ...string) int {
		before := p.recomputed()
		require.NoError(t, poll.Wait(t.Context(), time.Second))
		if write != nil {
			p.nb(write...)
		}
		require.NoError(t, poll.Wait(t.Context(), 6*ttl))
		return p.recomputed() - before
	}
	p.recomputed() // what has settled last
	with := interval()
	assert.True(t, p.status(holder).Acts)
	touched := interval("set", "NB_Global", ".", "external_ids:touched=1")
	for _, a := range p.agents {
		require.NoError(t, a.Signal(syscall.SIGSTOP))
	}
	without := interval()
	assert.Equal(t, without, with, "recomputations with agents that are idle, and with agents that stand still")
	assert.Greater(t, touched, with, "this test can fail: a write is seen")
}
