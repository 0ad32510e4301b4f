package systemd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Alive returns evidence that a process serves database d. It is for a server whose control socket doesn't answer:
// the server votes without one. The evidence is the process in the pid file, a lock on the database's file, or
// systemd's main process. If there is no evidence, the result is empty; if that can't be found out, Alive returns an
// error.
func (s Services) Alive(ctx context.Context, p ovndb.Paths, d ovndb.Database) (string, error) {
	pid, err := pidOf(p.PID(d))
	if err != nil {
		return "", err
	}
	if pid != 0 && serves(pid, p.PID(d)) {
		return fmt.Sprintf("process %d of %s runs", pid, p.PID(d)), nil
	}
	held, err := lockHeld(p.File(d))
	if err != nil {
		return "", err
	}
	if held {
		return "a process has " + p.File(d) + " open", nil
	}
	states, err := s.States(ctx)
	if run.Missing(err) {
		return "", nil // without systemd no service is up
	} else if err != nil {
		return "", err
	}
	if main := states[ovndb.ServiceOf(d)].MainPID; main != 0 {
		return fmt.Sprintf("process %d of service %s runs", main, ovndb.ServiceOf(d)), nil
	}
	return "", nil
}

// Starting reports whether the server of database d, which is alive, may not yet have opened its control socket. A
// server writes its pid file, reads the database's file, which takes at most within, and then opens the socket
// (main() of ovsdb-server.c, OVS 3.1).
func Starting(p ovndb.Paths, d ovndb.Database, now time.Time, within time.Duration) bool {
	pid, err := pidOf(p.PID(d))
	if err != nil {
		return false
	}
	if pid == 0 || !serves(pid, p.PID(d)) { // ovn-ctl is starting the server
		held, err := lockHeld(p.File(d))
		return err == nil && !held
	}
	info, err := os.Stat(p.PID(d))
	return err == nil && now.Sub(info.ModTime()) < within
}

// pidOf reads a pid file; 0 if the file is missing or has no number.
func pidOf(path string) (int, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("cannot read a pid file: %w", err)
	}
	if pid, err := strconv.Atoi(string(bytes.TrimSpace(text))); err == nil {
		return pid, nil
	}
	return 0, nil // the file was truncated
}

// serves reports whether a process was started with that pid file. After a kill, another process may have the same
// process ID. A zombie has no arguments.
func serves(pid int, pidFile string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.Contains(line, []byte("--pidfile="+pidFile+"\x00"))
}

// RunsInstalled reports whether a service's process is known to run the installed program. The kernel marks a replaced
// program as deleted (proc(5), /proc/[pid]/exe).
func RunsInstalled(p ovndb.Paths, service ovndb.Service, s Properties) bool {
	pid := s.MainPID
	if path := pidFile(p, service); path != "" && service != ovndb.Northd {
		var err error
		if pid, err = pidOf(path); err != nil || !serves(pid, path) {
			return false
		}
	}
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil && !strings.HasSuffix(program, " (deleted)")
}

// lockHeld reports whether a process holds ovsdb-server's lock on a database's file
// (lockfile_name() in OVS's lib/lockfile.c). The kernel releases it when the process ends.
func lockHeld(file string) (bool, error) {
	path, err := filepath.EvalSymlinks(file)
	if err != nil {
		path = file // the server may run on a file that was renamed
	}
	return locked(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".~lock~"))
}

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

// ForeignPID returns the name and number of the process if a service's pid file names one of another program, as it
// may after the service's own process was killed. It returns an empty text if the pid file is right. A daemon of Open
// vSwitch locks its pid file for as long as it runs (make_pidfile() in lib/daemon-unix.c).
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
	return fmt.Sprintf("%s %d", strings.TrimSpace(string(name)), pid), nil
}

// dropForeignPIDs removes pid files that name another program's process, before systemd runs ovn-ctl. With such a
// file, ovn-ctl starts no server if the process is any ovsdb-server, and kills the process when it stops the server.
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
