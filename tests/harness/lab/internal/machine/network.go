package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// HubDir is the directory of the machine to which all others are connected, and on which clients run.
const HubDir = "hub"

// The interfaces. A machine's interface is eth0; its other end, and the bridge, are in the hub.
const (
	inside = "eth0"
	bridge = "lan"
)

// bootTimeout bounds a boot: 30 ms, or 8 s if start guards wait for machines that are off, without load.
const bootTimeout = 3 * time.Minute

// ErrOff is wrapped by errors of operations that require the machine to be on.
var ErrOff = errors.New("the machine is off")

// Boot turns the machine on: a new network namespace, whose init is started, a cable to the hub, the addresses, and the
// services that are enabled. It does nothing if the machine is on.
func (m *Machine) Boot(ctx context.Context, program string) error {
	if m.On() {
		return nil
	}
	if err := m.boot(ctx, program); err != nil {
		return errors.Join(fmt.Errorf("cannot boot the machine %s: %w", filepath.Base(m.Dir), err), m.KillAll())
	}
	return nil
}

func (m *Machine) boot(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	// /run is empty after a boot. Its files about processes would no longer be true.
	if err := errors.Join(os.RemoveAll(m.RunDir()), os.Mkdir(m.RunDir(), 0o755)); err != nil {
		return err
	}
	out, err := os.OpenFile(filepath.Join(m.LogDir(), "init.out"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command(program, m.Dir)
	cmd.Args[0] = initName
	cmd.Env = append(m.Environment(), "PATH="+m.SystemPath(), "LANG=C.UTF-8")
	cmd.Dir, cmd.Stdout, cmd.Stderr = m.Dir, out, out
	// The process begins when the network exists.
	ready, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNET}
	if err := m.start(cmd); err != nil {
		if errors.Is(err, syscall.EPERM) {
			return fmt.Errorf("%w: network namespaces need root: run it as root, or below `unshare --user --map-root-user --net`", err)
		}
		return err
	}
	go func() { _ = cmd.Wait() }()
	_, started, _ := stat(cmd.Process.Pid)
	if err := writeJSON(m.initFile(), Process{cmd.Process.Pid, started}); err != nil {
		return err
	}
	if err := m.connect(ctx, cmd.Process.Pid); err != nil {
		return err
	}
	if err := ready.Close(); err != nil {
		return err
	}
	_, err = m.ask(ctx, []string{"is-system-running", "--wait"})
	return err
}

// start starts a process in its own network namespace. A machine's namespace is made from the hub's, which is set so
// that each gets its own table of connections ([ownTable]): a read of /proc/net/tcp scans the whole table, and the
// shared one has a place for every 100 KiB of memory.
func (m *Machine) start(cmd *exec.Cmd) error {
	hub, err := m.hub()
	if m.Port == 0 || err != nil {
		return cmd.Start()
	}
	here, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		return err
	}
	defer here.Close()
	there, err := os.Open(hub)
	if err != nil {
		return err
	}
	defer there.Close()
	done := make(chan error)
	go func() {
		// A thread that can't return to its namespace ends with its goroutine.
		runtime.LockOSThread()
		err := unix.Setns(int(there.Fd()), unix.CLONE_NEWNET)
		if err == nil {
			err = cmd.Start()
			if unix.Setns(int(here.Fd()), unix.CLONE_NEWNET) == nil {
				runtime.UnlockOSThread()
			}
		}
		done <- err
	}()
	return <-done
}

// ownTable gives each network namespace made from this one its own connection table (ip-sysctl.rst, Linux 6.1).
const ownTable = "[ ! -e /proc/sys/net/ipv4/tcp_child_ehash_entries ] || echo 1024 >/proc/sys/net/ipv4/tcp_child_ehash_entries"

func (m *Machine) connect(ctx context.Context, pid int) error {
	if m.Port == 0 {
		cmd := exec.CommandContext(ctx, "nsenter", "--net="+namespaceOf(pid), "sh", "-c", ownTable)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		lines := []string{"link set lo up", "link add " + bridge + " type bridge mcast_snooping 0", "link set " + bridge + " up"}
		return ip(ctx, namespaceOf(pid), append(lines, m.addressLines(bridge)...))
	}
	hub, err := m.hub()
	if err != nil {
		return err
	}
	err = ip(ctx, hub, []string{
		fmt.Sprintf("link add %s type veth peer name %s address %s netns %d", m.cable(), inside, m.mac(), pid),
		fmt.Sprintf("link set %s master %s up", m.cable(), bridge),
	})
	if err != nil {
		return err
	}
	return ip(ctx, namespaceOf(pid), append([]string{"link set lo up", "link set " + inside + " up"}, m.addressLines(inside)...))
}

func (m *Machine) cable() string { return fmt.Sprintf("unit%d", m.Port) }

// mac returns a locally administered address that survives a boot: neighbours remember it.
func (m *Machine) mac() string {
	return net.HardwareAddr{0x02, 0, 0x0a, 0x63, byte(m.Port >> 8), byte(m.Port)}.String()
}

func (m *Machine) addressLines(device string) (lines []string) {
	for _, address := range append([]string{m.Address}, m.Others...) {
		lines = append(lines, "addr replace "+prefixed(address)+" dev "+device)
	}
	return lines
}

// prefixed returns an address of one of the lab's networks as ip(8) takes it. IPv6 addresses are there at once: no
// other machine has them, and looking for duplicates takes a second.
func prefixed(address string) string {
	if a, err := netip.ParseAddr(address); err == nil && a.Is6() {
		return address + "/64 nodad"
	}
	if strings.Contains(address, "/") {
		return address
	}
	return address + "/24"
}

// AddAddress gives the machine one more address, of the lab's networks.
func (m *Machine) AddAddress(ctx context.Context, address string) error {
	namespace, err := m.Namespace()
	if err == nil {
		err = ip(ctx, namespace, []string{"addr replace " + prefixed(address) + " dev " + inside})
	}
	if err != nil {
		return fmt.Errorf("cannot add %s to %s: %w", address, filepath.Base(m.Dir), err)
	}
	m.Others = append(m.Others, address)
	return m.save()
}

// DropAddress takes an address from the machine, until it boots if it is its first one.
func (m *Machine) DropAddress(ctx context.Context, address string) error {
	namespace, err := m.Namespace()
	if err == nil {
		err = ip(ctx, namespace, []string{"addr del " + prefixed(address) + " dev " + inside})
	}
	if err != nil {
		return fmt.Errorf("cannot take %s from %s: %w", address, filepath.Base(m.Dir), err)
	}
	m.Others = slices.DeleteFunc(m.Others, func(other string) bool { return other == address })
	return m.save()
}

// Cut disconnects the machine from the network, or connects it again. Meanwhile nothing that it sends or should
// receive arrives.
func (m *Machine) Cut(ctx context.Context, off bool) error {
	state := "up"
	if off {
		state = "down"
	}
	hub, err := m.hub()
	if err == nil {
		err = ip(ctx, hub, []string{"link set " + m.cable() + " " + state})
	}
	if err != nil {
		return fmt.Errorf("cannot set the link of %s %s: %w", filepath.Base(m.Dir), state, err)
	}
	return nil
}

// unplug removes both ends of the cable, if there is one.
func (m *Machine) unplug() {
	if hub, err := m.hub(); err == nil && m.Port != 0 {
		_ = ip(context.Background(), hub, []string{"link del " + m.cable()})
	}
}

func (m *Machine) hub() (string, error) {
	return (&Machine{Dir: filepath.Join(m.Lab, HubDir), Lab: m.Lab}).Namespace()
}

func ip(ctx context.Context, namespace string, lines []string) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+namespace, "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", lines[0], err, bytes.TrimSpace(out))
	}
	return nil
}
