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
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Alive returns evidence that a process serves database d, for use if its control socket doesn't answer: a server votes
// without one. The evidence is the process of the pid file, a lock on the database's file, or the service's main
// process in systemd. It is empty if there is none of these. If that can't be found out, Alive returns an error.
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

// Starting reports whether the server of database d, which is alive, may still be about to
// open its control socket. A server writes its pid file, reads the database's file, which
// takes at most within, and then opens the socket (main() of ovsdb-server.c, OVS 3.1).
func Starting(p ovndb.Paths, d ovndb.Database, now time.Time, within time.Duration) bool {
	pid, err := pidOf(p.PID(d))
	if err != nil {
		return false
	}
	if pid == 0 || !serves(pid, p.PID(d)) { // ovn-ctl is starting it
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
	return 0, nil // the file was cut short; the lock and systemd are the other evidence
}

// serves reports whether a process was started with that pid file. After a kill another
// process may have got the number. A zombie has no arguments.
func serves(pid int, pidFile string) bool {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return err == nil && bytes.Contains(line, []byte("--pidfile="+pidFile+"\x00"))
}

// RunsInstalled reports whether a service's process runs the installed program. The kernel marks a
// replaced program as deleted (proc(5), /proc/[pid]/exe). It is false if that can't be found out.
func RunsInstalled(p ovndb.Paths, service ovndb.Service, s Properties) bool {
	pid := s.MainPID
	for _, d := range ovndb.Databases() {
		if ovndb.ServiceOf(d) != service {
			continue
		}
		var err error
		if pid, err = pidOf(p.PID(d)); err != nil || !serves(pid, p.PID(d)) {
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
		path = file // the server may run on a file that was moved away
	}
	return locked(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".~lock~"))
}
