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

// moreThanASwap is how much longer a moved gateway may be silent than one of which only priorities change.
const moreThanASwap = time.Second

// nodes runs a command on nodes, which must succeed.
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

// Every chassis in turn is drained, loses its processes, comes back and is undrained, while each gateway is pinged. A
// move costs clients no more than its bound, a reboot nothing, and in the end all is as before.
func TestTraffic_every_chassis_drained_rebooted_and_undrained(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for i := range 6 {
		names := []string{"ch1", "ch2", "ch3"}
		w.addGateway(names[i%3], names[(i+1)%3], names[(i+2)%3])
	}
	before := w.candidates()
	w.settles(best(before))
	// gap has every gateway pinged meanwhile, and returns the longest silence of any.
	gap := func(what string, meanwhile func()) time.Duration {
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
		return longest
	}
	gaps := func(what string, most time.Duration, meanwhile func()) {
		t.Helper()
		assert.LessOrEqual(t, gap(what, meanwhile), most, what)
	}
	swap := max(gap("priorities swapped", func() { w.swap(before, 9) }), gap("priorities swapped back", func() { w.swap(before, 2) }))
	require.Equal(t, before, w.candidates())
	w.settles(best(before))
	for _, name := range w.but("") {
		gaps("drain of "+name, swap+moreThanASwap, func() {
			assert.Contains(t, w.nodes("drain", name, "--yes", "--timeout", "80s", "--grace-period", "60s"), name+".example is drained: it is empty")
		})
		placed := w.bound()
		assert.Empty(t, placed.on(name))
		assert.LessOrEqual(t, placed.spread(w.but(name)...), 1)
		gaps("reboot of "+name, 0, func() { w.named(name).reboot() })
		assert.True(t, maps.Equal(placed, w.bound()), "nothing has moved")
		gaps("undrain of "+name, swap+moreThanASwap, func() {
			assert.Contains(t, w.nodes("undrain", name, "--yes"), name+".example is in use again")
		})
		require.Equal(t, before, w.candidates())
		w.settles(best(before))
	}
}

// swap changes the priority of the first backups of some gateways, which moves these gateways there or back.
func (w *world) swap(before map[string][]string, priority int) {
	w.t.Helper()
	var args []string
	for _, g := range w.gateways {
		if g.group == "" {
			row := w.nbctl("--bare", "--columns=_uuid", "find", "Gateway_Chassis", "name="+g.port+"_"+before[g.port][1])
			args = append(args, "--", "set", "Gateway_Chassis", row, fmt.Sprintf("priority=%d", priority))
		}
	}
	w.nbctl(args[1:]...)
	w.settles(best(w.candidates()))
}

// reboot kills ovn-controller and ovs-vswitchd, and starts them again.
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
