package systemd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// pidFile returns the pid file of a service's process; empty if the service has none.
func pidFile(p ovndb.Paths, service ovndb.Service) string {
	if service == ovndb.Northd {
		return p.NorthdPID()
	}
	for _, d := range ovndb.Databases() {
		if ovndb.ServiceOf(d) == service {
			return p.PID(d)
		}
	}
	return ""
}

// ForeignPID describes the process of another program that a service's pid file names: the service's own process was
// killed, and the kernel gave its number to another. It is empty if the pid file is right.
//
// A daemon of Open vSwitch holds a lock on its pid file for as long as it runs (make_pidfile() in lib/daemon-unix.c).
func ForeignPID(p ovndb.Paths, service ovndb.Service) (string, error) {
	path := pidFile(p, service)
	if path == "" {
		return "", nil
	}
	pid, err := pidOf(path)
	if err != nil || pid <= 0 || serves(pid, path) {
		return "", err
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "", nil //nolint:nilerr // no process has the number: ovn-ctl checks that itself
	}
	if held, err := locked(path); held || err != nil {
		return "", err
	}
	return fmt.Sprintf("%s is of %s %d", filepath.Base(path), strings.TrimSpace(string(name)), pid), nil
}

// dropForeignPIDs removes pid files that name another program's process, before systemd runs
// ovn-ctl. To start a server, ovn-ctl does nothing if the number belongs to any ovsdb-server; to
// stop one, it kills the process of that number.
func (s Services) dropForeignPIDs(services []ovndb.Service) error {
	if s.Paths.Run == "" {
		return nil
	}
	for _, service := range services {
		foreign, err := ForeignPID(s.Paths, service)
		if err == nil && foreign != "" {
			err = os.Remove(pidFile(s.Paths, service))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove a pid file that names another process: %w", err)
		}
	}
	return nil
}

// locked reports whether a process holds a lock on the file.
func locked(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("cannot look at a lock: %w", err)
	}
	defer file.Close()
	asked := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: 0, Start: 0, Len: 0}
	if err := syscall.FcntlFlock(file.Fd(), syscall.F_GETLK, &asked); err != nil {
		return false, fmt.Errorf("cannot look at a lock: %w", err)
	}
	return asked.Type != syscall.F_UNLCK, nil
}
