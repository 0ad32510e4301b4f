package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// interval is the time between two checks of a process or a job. The kernel does not report the end of a process that
// is not a child.
const interval = 10 * time.Millisecond

// Process is a process of a machine. Its start time distinguishes it from a later process with the same process ID.
type Process struct {
	PID int
	// Started is field 22 of /proc/PID/stat, in clock ticks since boot (proc(5)).
	Started string
}

// stat returns a process's state letter and start time.
func stat(pid int) (state byte, started string, ok bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, "", false
	}
	// The name, in parentheses, may contain anything: fields count from its end.
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(fields) < 20 {
		return 0, "", false
	}
	return fields[0][0], fields[19], true
}

// Alive reports whether this very process still runs. A zombie doesn't.
func (p Process) Alive() bool {
	state, started, ok := stat(p.PID)
	return ok && started == p.Started && state != 'Z' && state != 'X'
}

// Signal sends sig to the process or, with group, to its whole group.
func (p Process) Signal(sig syscall.Signal, group bool) error {
	if !p.Alive() {
		return os.ErrProcessDone
	}
	if !group {
		return syscall.Kill(p.PID, sig)
	}
	id, err := syscall.Getpgid(p.PID)
	if err != nil {
		return os.ErrProcessDone
	}
	return syscall.Kill(-id, sig)
}

// has reports whether a process has the machine's environment.
func (m *Machine) has(pid int) bool {
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(environment, []byte("OVN_RUNDIR="+m.RunDir()+"\x00"))
}

func (p Process) await(limit time.Duration) bool {
	return poll.Await(context.Background(), limit, interval, nil, func() bool { return !p.Alive() })
}

// fromPidFile returns the running process of the machine that a pid file names.
func (m *Machine) fromPidFile(file string) (Process, bool) {
	data, _ := os.ReadFile(file)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || !m.has(pid) {
		return Process{}, false
	}
	_, started, _ := stat(pid)
	p := Process{pid, started}
	return p, p.Alive()
}

// Reached reports whether a signal had its effect: the processes are gone, suspended, or continued.
func (p Process) Reached(sig syscall.Signal) bool {
	state, _, _ := stat(p.PID)
	switch sig {
	case syscall.SIGSTOP:
		return state == 'T'
	case syscall.SIGCONT:
		return state != 'T'
	}
	return !p.Alive()
}

const reapTimeout = 5 * time.Second

func (m *Machine) initFile() string { return filepath.Join(m.Dir, "init.json") }

// Transient reports whether a file or directory, by its path, belongs to the state of a machine that is on.
func Transient(path string) bool {
	m := Machine{Dir: filepath.Dir(path)}
	return path == m.initFile() || path == m.RunDir()
}

// init returns the process that holds the machine's network namespace while the machine is on.
func (m *Machine) init() (p Process, on bool) {
	data, err := os.ReadFile(m.initFile())
	if err != nil || json.Unmarshal(data, &p) != nil {
		return p, false
	}
	return p, p.Alive()
}

// KillAll ends the machine suddenly: it kills every process in its network namespace or with its environment, and
// waits until they are gone. It kills the init last, since the init holds the namespace.
func (m *Machine) KillAll() error {
	first, on := m.init()
	if on {
		m.unplug()
		// Otherwise the init would start again the services that are killed.
		if err := first.Signal(syscall.SIGSTOP, false); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return err
		}
	}
	var err error
	for end := time.Now().Add(reapTimeout); ; {
		left := m.inhabitants(first)
		if len(left) == 0 {
			break
		}
		if err = kill(left); err != nil || time.Now().After(end) {
			break
		}
	}
	if on {
		err = errors.Join(err, kill([]Process{first}))
	}
	return err
}

func kill(processes []Process) error {
	var errs []error
	for _, p := range processes {
		if err := syscall.Kill(p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, err)
		}
	}
	for _, p := range processes {
		if len(errs) == 0 && !p.await(reapTimeout) {
			errs = append(errs, fmt.Errorf("cannot end process %d", p.PID))
		}
	}
	return errors.Join(errs...)
}

// inhabitants returns the machine's other processes: those in the network namespace of its init, if that is not our
// own, and those with its environment. This process never counts: one of its threads may be in that namespace for a
// moment.
func (m *Machine) inhabitants(first Process) (found []Process) {
	home, own := network(first.PID), network(os.Getpid())
	if home == own || !first.Alive() {
		home = ""
	}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil || pid == first.PID || pid == os.Getpid() {
			continue
		}
		if (home == "" || network(pid) != home) && !m.has(pid) {
			continue
		}
		if _, started, ok := stat(pid); ok {
			if p := (Process{pid, started}); p.Alive() {
				found = append(found, p)
			}
		}
	}
	return found
}

// network returns the network namespace of a process, "" if it can't be read.
func network(pid int) string {
	name, _ := os.Readlink(namespaceOf(pid))
	return name
}

func namespaceOf(pid int) string { return fmt.Sprintf("/proc/%d/ns/net", pid) }
