package dataplane

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/stretchr/testify/require"
)

type chassis struct {
	world *world
	name  string
	dir   string
	at    *namespace
	// database, vswitch and controller are the programs that run on the machine.
	database, vswitch, controller *daemon
}

// addChassis starts a machine. The port of its bridge in the hub is named after both.
func (w *world) addChassis() {
	w.t.Helper()
	number := len(w.chassis) + 1
	name := fmt.Sprintf("ch%d", number)
	c := &chassis{world: w, name: name, dir: filepath.Join(w.dir, name), at: w.newNamespace()}
	w.chassis = append(w.chassis, c)
	require.NoError(w.t, os.Mkdir(c.dir, 0o755))
	w.connect(c.port(controlBridge), controlBridge, c.at, "mgmt")
	w.connect(c.port(dataBridge), dataBridge, c.at, "nic")
	w.ip(c.at, fmt.Sprintf("address add %s.%d/24 dev mgmt", controlNetwork, number))

	database := filepath.Join(c.dir, "conf.db")
	w.run("ovsdb-tool", "create", database, "/usr/share/openvswitch/vswitch.ovsschema")
	c.database = w.start(c.at, c.dir, "ovsdb-server", "--remote=p"+c.socket(), database)
	c.vsctl("--no-wait", "init")
	c.vswitch = w.start(c.at, c.dir, "ovs-vswitchd", c.socket())
	address := fmt.Sprintf("%s.%d", tunnelNetwork, number)
	c.vsctl("set", "Open_vSwitch", ".", "external_ids:system-id="+name, "external_ids:hostname="+name+".example",
		"external_ids:ovn-remote=tcp:"+centralAddress+":6642", "external_ids:ovn-encap-type=geneve", "external_ids:ovn-encap-ip="+address,
		"external_ids:ovn-bridge-datapath-type=netdev", "external_ids:ovn-bridge-mappings=physnet1:br-ex",
		"external_ids:ovn-cms-options=enable-chassis-as-gw",
		"--", "add-br", "br-ex", "--", "set", "Bridge", "br-ex", "datapath_type=netdev", "--", "add-port", "br-ex", "nic",
		"--", "add-br", "br-int", "--", "set", "Bridge", "br-int", "datapath_type=netdev", "fail-mode=secure")
	// Tunnels go through the bridge: the userspace datapath finds the route by this address.
	w.ip(c.at, "address add "+address+"/24 dev br-ex", "link set br-ex up")
	c.startController()
}

func (c *chassis) port(bridge string) string { return c.name + "-" + bridge }

func (c *chassis) socket() string { return "unix:" + filepath.Join(c.dir, "db.sock") }

func (c *chassis) vsctl(args ...string) {
	c.world.t.Helper()
	c.world.run("ovs-vsctl", append([]string{"--db=" + c.socket()}, args...)...)
}

func (c *chassis) startController() {
	c.world.t.Helper()
	c.controller = c.world.start(c.at, c.dir, "ovn-controller", c.socket())
	c.world.eventually("the chassis registers", func() string {
		if c.world.sbctl("--bare", "--columns=name", "find", "Chassis", "name="+c.name) != c.name {
			return "no row of " + c.name
		}
		return ""
	})
}

func (c *chassis) plug(state string, bridges ...string) {
	c.world.t.Helper()
	for _, bridge := range bridges {
		c.world.ip(c.world.hub, "link set "+c.port(bridge)+" "+state)
	}
}

// lose cuts the power of the machine.
func (c *chassis) lose() {
	c.world.t.Helper()
	c.plug("down", controlBridge, dataBridge)
	for _, d := range []*daemon{c.controller, c.vswitch, c.database} {
		d.kill()
	}
}

// remove stops ovn-controller in an orderly way, so that it removes its chassis.
func (c *chassis) remove() {
	c.world.t.Helper()
	c.controller.exit()
	require.Empty(c.world.t, c.world.sbctl("--bare", "--columns=name", "find", "Chassis", "name="+c.name))
}

func (w *world) named(name string) *chassis {
	w.t.Helper()
	at := slices.IndexFunc(w.chassis, func(c *chassis) bool { return c.name == name })
	require.GreaterOrEqual(w.t, at, 0, name)
	return w.chassis[at]
}

func (w *world) but(one string) (names []string) {
	for _, c := range w.chassis {
		if c.name != one {
			names = append(names, c.name)
		}
	}
	return names
}
