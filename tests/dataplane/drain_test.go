package dataplane

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

// swapGap is how long a gateway may be silent that moves: a change of priorities takes a second
// (measured), and one second more.
const swapGap = 2 * time.Second

// nodes runs the program on nodes, and expects that it ends well.
func (w *world) nodes(args ...string) string {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 2*patience)
	defer cancel()
	var out, errs bytes.Buffer
	all := append([]string{"ovn-central-operator", "nodes"}, args...)
	code := cli.Main(ctx, append(all, "--nb", w.endpoint("nb"), "--sb", w.endpoint("sb")), os.Getenv, &out, &errs)
	require.Equal(w.t, 0, code, "%v: %s%s", args, &out, &errs)
	return out.String()
}

// Every chassis in turn is drained, loses its processes, comes back and is undrained, while each
// gateway is pinged all the time. Nobody misses more than what a move costs, at the reboot
// nothing is missed, and in the end all is as it was.
func TestTrafficWhileEveryChassisIsDrainedRebootedAndPutBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for i := range 6 {
		names := []string{"ch1", "ch2", "ch3"}
		w.addGateway(names[i%3], names[(i+1)%3], names[(i+2)%3])
	}
	before := w.candidates()
	w.settles(best(before))
	// gaps has every gateway pinged meanwhile, and returns the longest silence of any.
	gaps := func(what string, most time.Duration, meanwhile func()) {
		t.Helper()
		var streams []*stream
		for _, g := range w.gateways {
			streams = append(streams, w.stream(g))
		}
		meanwhile()
		longest := time.Duration(0)
		for _, s := range streams {
			longest = max(longest, s.longestGap())
		}
		t.Logf("%s: longest gap %s", what, longest)
		assert.LessOrEqual(t, longest, most, what)
	}
	for _, name := range w.but("") {
		gaps("drain of "+name, swapGap, func() {
			assert.Contains(t, w.nodes("drain", name, "--timeout", "80s", "--grace-period", "60s"), name+".example is drained: it is empty")
		})
		placed := w.bound()
		assert.Empty(t, placed.on(name))
		assert.LessOrEqual(t, placed.spread(w.but(name)...), 1)
		gaps("reboot of "+name, 0, func() { w.named(name).reboot() })
		assert.True(t, maps.Equal(placed, w.bound()), "nothing has moved")
		gaps("undrain of "+name, swapGap, func() {
			assert.Contains(t, w.nodes("undrain", name), name+".example is in use again")
		})
		require.Equal(t, before, w.candidates())
		w.settles(best(before))
	}
}

// reboot ends what moves packets on the chassis, and what controls it, and starts it again.
func (c *chassis) reboot() {
	c.world.t.Helper()
	c.crash()
	c.vswitch = c.world.start(c.at, c.dir, "ovs-vswitchd", c.socket())
	// The bridge is a new device.
	var number int
	_, err := fmt.Sscanf(c.name, "ch%d", &number)
	require.NoError(c.world.t, err)
	c.world.ip(c.at, fmt.Sprintf("address replace %s.%d/24 dev br-ex", tunnelNetwork, number), "link set br-ex up")
	c.startController()
}
