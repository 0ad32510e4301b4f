package machine

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// poll is how often the lab looks whether something has happened.
const poll = 10 * time.Millisecond

// Process is a process of a machine. Its start time tells it from
// another one that got its number later.
type Process struct {
	PID int
	// Started is field 22 of /proc/PID/stat, in clock ticks since boot (proc(5)).
	Started string
}

// stat reads a process's state letter and start time; ok is false where there
// is no such process.
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

// has reports whether a process was started with the machine's environment.
func (m *Machine) has(pid int) bool {
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(environment, []byte("OVN_RUNDIR="+m.RunDir()+"\x00"))
}

// await polls until the process is gone, at most for limit.
func (p Process) await(limit time.Duration) bool {
	for end := time.Now().Add(limit); p.Alive(); time.Sleep(poll) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// fromPidFile is the living process of the machine that a pid file names.
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

// Reached reports whether the signal has had its effect: killed processes are gone,
// stopped ones are suspended, continued ones are not.
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
