package machines

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// The networks of the machines, whose host part is the machine's number. They exist in namespaces only.
var (
	network4 = netip.MustParsePrefix("10.99.0.0/24")
	network6 = netip.MustParsePrefix("fd99::/64")
)

// buildHub makes the switch between the machines: a bridge in an isolated network namespace.
func buildHub(ctx context.Context) error {
	return ip(ctx, [][]string{
		{"netns", "add", prefix},
		{"-n", prefix, "link", "set", "lo", "up"},
		{"-n", prefix, "link", "add", "switch", "type", "bridge"},
		{"-n", prefix, "link", "set", "switch", "up"},
	})
}

// plug gives machine n a new network namespace with eth0 and a cable to the hub, without any firewall.
func plug(ctx context.Context, n int) error {
	machine, port := machineName(n), portName(n)
	return ip(ctx, [][]string{
		{"netns", "add", machine},
		{"-n", machine, "link", "set", "lo", "up"},
		{"-n", prefix, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", machine},
		{"-n", prefix, "link", "set", port, "master", "switch", "up"},
		{"-n", machine, "link", "set", "eth0", "up"},
		{"-n", machine, "addr", "add", cidr(network6, n), "dev", "eth0", "nodad"},
		{"-n", machine, "addr", "add", cidr(network4, n), "dev", "eth0"},
	})
}

// unplug removes a machine's card: nothing that it sends later is heard, not even the end of a connection.
func unplug(ctx context.Context, n int) error {
	return ip(ctx, [][]string{{"-n", prefix, "link", "del", portName(n)}, {"netns", "del", machineName(n)}})
}

func ip(ctx context.Context, steps [][]string) error {
	for _, step := range steps {
		if _, err := run(ctx, "ip", step...); err != nil {
			return err
		}
	}
	return nil
}

// machineName returns the name of machine n's container, namespace and control group.
func machineName(n int) string { return prefix + "-" + strconv.Itoa(n) }

func portName(n int) string { return "m" + strconv.Itoa(n) }

func host(network netip.Prefix, n int) netip.Addr {
	bytes := network.Addr().AsSlice()
	bytes[len(bytes)-1] = byte(n)
	addr, _ := netip.AddrFromSlice(bytes)
	return addr
}

func cidr(network netip.Prefix, n int) string {
	return fmt.Sprintf("%v/%d", host(network, n), network.Bits())
}

// Kill pulls the machine's power: no process gets a signal, and no other machine hears of it.
func (m *Machine) Kill(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return nil
	}
	// The cable first: a kernel that ends processes ends their connections, which a machine without power doesn't.
	errs := []error{unplug(ctx, m.Number)}
	if m.on() {
		errs = append(errs, endProcesses(ctx, m.fleet.groups(machineName(m.Number))))
	}
	return errors.Join(append(errs, m.off(ctx))...)
}

// Shutdown shuts the machine down in order, as its power button does.
func (m *Machine) Shutdown(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.on() {
		return fmt.Errorf("cannot shut %s down: it is off", m.Name())
	}
	// systemd-nspawn(1), --kill-signal=: it asks the machine's systemd to halt.
	if err := m.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("cannot shut %s down: %w", m.Name(), err)
	}
	select {
	case <-m.done:
	case <-ctx.Done():
		return fmt.Errorf("cannot shut %s down: %w; its console: %s", m.Name(), ctx.Err(), m.console())
	}
	return errors.Join(unplug(ctx, m.Number), m.off(ctx))
}

// Reboot shuts the machine down in order and starts it again.
func (m *Machine) Reboot(ctx context.Context) error {
	if err := m.Shutdown(ctx); err != nil {
		return err
	}
	return m.Start(ctx)
}

// Cut pulls the machine's network cable, or puts it back. The machine itself continues, and keeps its addresses.
func (m *Machine) Cut(ctx context.Context, out bool) error {
	state := "up"
	if out {
		state = "down"
	}
	_, err := run(ctx, "ip", "-n", prefix, "link", "set", portName(m.Number), state)
	return err
}

// off waits until the machine is gone and removes it.
func (m *Machine) off(ctx context.Context) error {
	select {
	case <-m.done:
	case <-ctx.Done():
		return fmt.Errorf("cannot end %s: %w", m.Name(), ctx.Err())
	}
	m.cmd, m.init = nil, 0
	var errs []error
	for _, group := range m.fleet.groups(machineName(m.Number)) {
		errs = append(errs, poll.Until(ctx, 20*time.Millisecond, func() error { return removeGroup(group) }))
	}
	return errors.Join(errs...)
}

// consoleLimit is how many bytes of a machine's console an error shows.
const consoleLimit = 1 << 10

func (m *Machine) console() string {
	text, err := os.ReadFile(filepath.Join(m.dir, "console.log"))
	if err != nil {
		return err.Error()
	}
	return tail(strings.TrimSpace(string(text)), consoleLimit)
}
