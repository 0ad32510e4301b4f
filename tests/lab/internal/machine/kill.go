package machine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// reapTimeout bounds the wait for killed processes to be gone.
const reapTimeout = 5 * time.Second

// KillAll is the sudden end of the machine: every process in its network
// namespace, every one that is recorded, and every one that a pid file in its run
// directory names is killed and gone when it returns. Its init is the last, since
// the namespace is the machine's as long as that holds it.
func (m *Machine) KillAll() error {
	first, on := m.Find(initRecord)
	if on {
		m.unplug()
		// It would start again what is killed.
		if err := m.Signal(first, syscall.SIGSTOP); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	var errs []error
	for end := time.Now().Add(reapTimeout); ; {
		left := m.processes()
		if on {
			left = append(left, first.inhabitants()...)
		}
		if len(left) == 0 {
			break
		}
		errs = m.killEach(left)
		if len(errs) > 0 || time.Now().After(end) {
			break
		}
	}
	if on {
		errs = append(errs, m.killEach([]Process{first})...)
	}
	return errors.Join(errs...)
}

func (m *Machine) killEach(processes []Process) (errs []error) {
	for _, p := range processes {
		var err error
		if p.recorded {
			err = m.Signal(p, syscall.SIGKILL)
		} else {
			err = syscall.Kill(p.PID, syscall.SIGKILL)
		}
		if err != nil && !errors.Is(err, os.ErrProcessDone) && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, err)
		}
	}
	for _, p := range processes {
		if len(errs) == 0 && !p.await(reapTimeout) {
			errs = append(errs, fmt.Errorf("cannot end process %d", p.PID))
		}
	}
	return errs
}

// processes lists what is recorded or has a pid file, and is alive, without the
// init.
func (m *Machine) processes() (found []Process) {
	records, _ := os.ReadDir(m.pidDir())
	for _, entry := range records {
		if p, alive := m.Find(entry.Name()); alive && entry.Name() != initRecord {
			p.recorded = true
			found = append(found, p)
		}
	}
	files, _ := filepath.Glob(filepath.Join(m.RunDir(), "*.pid"))
	for _, file := range files {
		if p, alive := m.fromPidFile(file); alive {
			found = append(found, p)
		}
	}
	return found
}

// inhabitants are the other processes in the network namespace that p holds;
// none where that is our own. This process never counts: a thread of it may be
// there on a visit.
func (p Process) inhabitants() (found []Process) {
	home, err := os.Readlink(namespaceOf(p.PID))
	own, ownErr := os.Readlink("/proc/self/ns/net")
	if err != nil || ownErr != nil || home == own || !p.Alive() {
		return nil
	}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == p.PID || pid == os.Getpid() {
			continue
		}
		if there, err := os.Readlink(namespaceOf(pid)); err != nil || there != home {
			continue
		}
		if _, started, ok := stat(pid); ok {
			if other := (Process{PID: pid, Started: started}); other.Alive() {
				found = append(found, other)
			}
		}
	}
	return found
}

// namespaceOf is the file by which a process's network namespace is entered.
func namespaceOf(pid int) string { return fmt.Sprintf("/proc/%d/ns/net", pid) }
