package machines

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// bootTimeout bounds a boot, which takes a second on an idle machine.
const bootTimeout = 2 * time.Minute

// shutdownTimeout bounds a shutdown. systemd kills a service that hasn't stopped after 90 s (DefaultTimeoutStopSec).
const shutdownTimeout = 3 * time.Minute

// Machine is one machine. Its disk keeps its contents while the machine is off.
type Machine struct {
	Number int

	fleet *Fleet
	dir   string

	mu   sync.Mutex
	cmd  *exec.Cmd     // systemd-nspawn; nil: off
	done chan struct{} // closed when it has ended
	init int           // the host's number of the machine's pid 1
}

func newMachine(f *Fleet, n int) *Machine {
	return &Machine{Number: n, fleet: f, dir: filepath.Join(f.runDir, fmt.Sprint(n))}
}

// Name returns the machine's host name.
func (m *Machine) Name() string { return fmt.Sprintf("m%d", m.Number) }

// Address returns the machine's IPv4 address.
func (m *Machine) Address() netip.Addr { return host(network4, m.Number) }

// Root returns the host's path of the machine's disk, without what the machine has mounted over it (/run, /tmp).
func (m *Machine) Root() string { return filepath.Join(m.dir, "root") }

// On reports whether the machine has power.
func (m *Machine) On() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.on()
}

func (m *Machine) on() bool {
	if m.cmd == nil {
		return false
	}
	select {
	case <-m.done:
		return false
	default:
		return true
	}
}

// Start gives power to a machine that is off, and returns when it has booted.
func (m *Machine) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	if err := m.start(ctx); err != nil {
		return fmt.Errorf("cannot start %s: %w; its console: %s", m.Name(), err, m.console())
	}
	return nil
}

func (m *Machine) start(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.on() {
		return errors.New("it is on")
	}
	if err := m.mount(); err != nil {
		return err
	}
	if err := plug(ctx, m.Number); err != nil {
		return err
	}
	if err := m.spawn(); err != nil {
		return err
	}
	state := ""
	poll.Await(ctx, bootTimeout, 100*time.Millisecond, nil, func() bool {
		if m.init = m.findInit(); m.init != 0 {
			state, _ = m.enter(ctx, "systemctl", "is-system-running")
		}
		state = strings.TrimSpace(state)
		return state == "running" || state == "degraded" || !m.on() // degraded: it has booted, and some service has failed
	})
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("it is %q: %w", state, ctx.Err())
	case !m.on():
		return errors.New("it ended while it booted")
	}
	return nil
}

// mount makes and mounts the machine's disk: an overlay over the suite's root, which no machine writes to.
func (m *Machine) mount() error {
	if _, err := os.Stat(filepath.Join(m.Root(), "etc")); err == nil {
		return nil
	}
	upper, work := filepath.Join(m.dir, "upper"), filepath.Join(m.dir, "work")
	for _, dir := range []string{upper, work, m.Root()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	layers := "lowerdir=" + m.fleet.root + ",upperdir=" + upper + ",workdir=" + work
	if err := syscall.Mount("overlay", m.Root(), "overlay", 0, layers); err != nil {
		return fmt.Errorf("cannot mount the disk: %w", err)
	}
	hosts := "127.0.0.1 localhost\n::1 localhost\n"
	for n := 1; n <= maxMachines; n++ {
		hosts += fmt.Sprintf("%v m%d.machines m%d\n", host(network4, n), n, n)
	}
	return errors.Join(
		os.WriteFile(filepath.Join(m.Root(), "etc/hostname"), []byte(m.Name()+"\n"), 0o644),
		os.WriteFile(filepath.Join(m.Root(), "etc/hosts"), []byte(hosts), 0o644))
}

// maxMachines is how many machines know each other's names.
const maxMachines = 20

// spawn runs systemd-nspawn in the machine's own control groups.
func (m *Machine) spawn() error {
	groups := m.fleet.groups(machineName(m.Number))
	for _, group := range groups {
		if err := os.MkdirAll(group, 0o755); err != nil {
			return err
		}
	}
	// systemd-nspawn replaces the shell and keeps its pid.
	enter := `until [ "$1" = -- ]; do echo $$ >"$1/cgroup.procs" || exit; shift; done; shift; exec "$@"`
	args := append([]string{"-c", enter, "sh"}, groups...)
	args = append(args, "--", "systemd-nspawn", "--quiet", "--register=no", "--keep-unit", "--boot",
		"--directory="+m.Root(), "--machine="+machineName(m.Number),
		"--network-namespace-path=/run/netns/"+machineName(m.Number), "--capability=CAP_NET_ADMIN",
		"--link-journal=no", "--resolv-conf=off", "--timezone=off", "--console=pipe")
	for _, share := range m.fleet.options.Shares {
		option := "--bind="
		if share.ReadOnly {
			option = "--bind-ro="
		}
		args = append(args, option+share.Host+":"+share.Machine)
	}
	console, err := os.OpenFile(filepath.Join(m.dir, "console.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	cmd := exec.Command("sh", args...)
	cmd.Stdout, cmd.Stderr = console, console
	// Recent releases of systemd boot only on version 2 of control groups.
	cmd.Env = append(os.Environ(), "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1")
	// A machine ends with the run, even if the run is killed: systemd-nspawn does the same for the machine's pid 1.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}

	started, done := make(chan error), make(chan struct{})
	go func() {
		// Pdeathsig depends on the thread that starts a process, not on the process.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		defer console.Close()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // the exit status of a machine means nothing: it may have been killed
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	m.cmd, m.done = cmd, done
	return nil
}
