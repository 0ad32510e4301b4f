package machines

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Kill pulls the machine's power: no process on it gets a signal, and no machine on
// the network hears of it. A machine that is off stays off.
func (m *Machine) Kill(ctx context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cmd == nil {
		return nil
	}
	// The cable first: a kernel that ends processes ends their connections, which a
	// machine without power doesn't.
	errs := []error{m.fleet.hub.unplug(ctx, m.Number)}
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
	return errors.Join(m.fleet.hub.unplug(ctx, m.Number), m.off(ctx))
}

// Reboot shuts the machine down in order and starts it again.
func (m *Machine) Reboot(ctx context.Context) error {
	if err := m.Shutdown(ctx); err != nil {
		return err
	}
	return m.Start(ctx)
}

// Cut pulls the machine's network cable, or puts it back. The machine itself goes
// on, and keeps its addresses.
func (m *Machine) Cut(ctx context.Context, out bool) error {
	return m.fleet.hub.cut(ctx, m.Number, out)
}

// off waits until the machine is gone and forgets it.
func (m *Machine) off(ctx context.Context) error {
	select {
	case <-m.done:
	case <-ctx.Done():
		return fmt.Errorf("cannot end %s: %w", m.Name(), ctx.Err())
	}
	m.cmd, m.init = nil, 0
	var errs []error
	for _, group := range m.fleet.groups(machineName(m.Number)) {
		err := poll(ctx, 20*time.Millisecond, func() bool { return !errors.Is(removeGroup(group), syscall.EBUSY) })
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// consoleLimit is how much of a machine's console an error shows, in bytes.
const consoleLimit = 1 << 10

func (m *Machine) console() string {
	text, err := os.ReadFile(filepath.Join(m.dir, "console.log"))
	if err != nil {
		return err.Error()
	}
	return tail(strings.TrimSpace(string(text)), consoleLimit)
}
