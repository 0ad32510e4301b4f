package agent

import (
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
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

// recomputed is how often ovn-northd has computed everything from scratch (inc-engine/show-stats of
// ovn-northd(8)). Asking it causes one such computation.
func (p *plane) recomputed() (times int) {
	p.t.Helper()
	out := p.run("ovn-appctl", "-t", p.path("northd.ctl"), "inc-engine/show-stats")
	_, rest, found := strings.Cut(out, "Node: northd\n- recompute:")
	require.True(p.t, found, out)
	_, err := fmt.Sscan(rest, &times)
	require.NoError(p.t, err)
	return times
}
