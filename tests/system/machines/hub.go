package machines

import (
	"context"
	"fmt"
	"net/netip"
	"strconv"
)

// The networks of the machines, whose host part is the machine's number. They
// exist in namespaces only, so that any machine can have them.
var (
	network4 = netip.MustParsePrefix("10.99.0.0/24")
	network6 = netip.MustParsePrefix("fd99::/64")
)

// hub is the switch that the machines' network cables end in: a bridge in a
// network namespace that has no way out.
type hub struct {
	namespace string
	only6     bool
}

func (h hub) build(ctx context.Context) error {
	steps := [][]string{
		{"netns", "add", h.namespace},
		{"-n", h.namespace, "link", "set", "lo", "up"},
		{"-n", h.namespace, "link", "add", "switch", "type", "bridge"},
		{"-n", h.namespace, "link", "set", "switch", "up"},
	}
	return ip(ctx, steps)
}

// plug gives machine n a network namespace with a card eth0 and a cable to the
// hub. Both are new at each boot: a firewall that wasn't stored is gone.
func (h hub) plug(ctx context.Context, n int) error {
	machine, port := machineName(n), portName(n)
	steps := [][]string{
		{"netns", "add", machine},
		{"-n", machine, "link", "set", "lo", "up"},
		{"-n", h.namespace, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", machine},
		{"-n", h.namespace, "link", "set", port, "master", "switch", "up"},
		{"-n", machine, "link", "set", "eth0", "up"},
		{"-n", machine, "addr", "add", cidr(network6, n), "dev", "eth0", "nodad"},
	}
	if !h.only6 {
		steps = append(steps, []string{"-n", machine, "addr", "add", cidr(network4, n), "dev", "eth0"})
	}
	return ip(ctx, steps)
}

// unplug takes a machine's card away. Nothing that the machine says afterwards,
// also the end of a connection, is heard.
func (h hub) unplug(ctx context.Context, n int) error {
	if _, err := run(ctx, "ip", "-n", h.namespace, "link", "del", portName(n)); err != nil {
		return err
	}
	_, err := run(ctx, "ip", "netns", "del", machineName(n))
	return err
}

// cut pulls the cable out of the hub, or puts it back.
func (h hub) cut(ctx context.Context, n int, out bool) error {
	state := "up"
	if out {
		state = "down"
	}
	_, err := run(ctx, "ip", "-n", h.namespace, "link", "set", portName(n), state)
	return err
}

// address is the address by which machine n is known.
func (h hub) address(n int) netip.Addr {
	if h.only6 {
		return host(network6, n)
	}
	return host(network4, n)
}

func ip(ctx context.Context, steps [][]string) error {
	for _, step := range steps {
		if _, err := run(ctx, "ip", step...); err != nil {
			return err
		}
	}
	return nil
}

// machineName is the host's name for machine n, of its container, namespace and
// control group.
func machineName(n int) string { return prefix + "-" + strconv.Itoa(n) }

// portName is the name of the hub's end of the cable of machine n.
func portName(n int) string { return "m" + strconv.Itoa(n) }

// host is the address of machine n in a network.
func host(network netip.Prefix, n int) netip.Addr {
	bytes := network.Addr().AsSlice()
	bytes[len(bytes)-1] = byte(n)
	addr, _ := netip.AddrFromSlice(bytes)
	return addr
}

func cidr(network netip.Prefix, n int) string {
	return fmt.Sprintf("%v/%d", host(network, n), network.Bits())
}
