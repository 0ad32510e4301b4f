package dataplane

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// moreThanASwap is how much longer a moved gateway may be silent than a gateway of which only priorities change.
const moreThanASwap = time.Second

// Every chassis in turn is drained, loses its processes, comes back and is undrained, while each gateway is pinged. A
// move silences a gateway for no longer than its bound, a reboot does not, and in the end all is as before.
func TestTraffic_every_chassis_drained_rebooted_and_undrained(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	for i := range 6 {
		names := []string{"ch1", "ch2", "ch3"}
		w.addGateway(names[i%3], names[(i+1)%3], names[(i+2)%3])
	}
	before := w.candidates()
	w.settles(best(before))
	swap := max(w.gap("priorities swapped", func() { w.swap(before, 9) }), w.gap("priorities swapped back",
		func() { w.swap(before, 2) }))
	require.Equal(t, before, w.candidates())
	w.settles(best(before))
	for _, name := range w.but("") {
		gap := w.gap("drain of "+name, func() {
			out := w.operated("nodes", "drain", name, "--yes", "--timeout", "80s", "--grace-period", "60s")
			assert.Contains(t, out, name+".example")
		})
		assert.LessOrEqual(t, gap, swap+moreThanASwap, "drain of %s", name)
		placed := w.bound()
		assert.Empty(t, placed.on(name))
		assert.LessOrEqual(t, placed.spread(w.but(name)...), 1)
		assert.Zero(t, w.gap("reboot of "+name, w.named(name).reboot))
		assert.True(t, maps.Equal(placed, w.bound()), "nothing has moved")
		gap = w.gap("undrain of "+name, func() {
			assert.Contains(t, w.operated("nodes", "undrain", name, "--yes"), name+".example")
		})
		assert.LessOrEqual(t, gap, swap+moreThanASwap, "undrain of %s", name)
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
