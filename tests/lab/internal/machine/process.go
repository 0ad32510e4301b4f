package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// poll is how often the lab looks whether something has happened.
const poll = 10 * time.Millisecond

// Process is a process that the lab started. Its start time tells it from
// another one that got its number later.
type Process struct {
	PID int `json:"pid"`
	// Started is field 22 of /proc/PID/stat, in clock ticks since boot (proc(5)).
	Started string `json:"started"`
	// Group is whether the process's whole group is signalled.
	Group bool `json:"group,omitempty"`
	// recorded ones are looked at once more before they are signalled: a record can
	// be of another process than it was made of.
	recorded bool
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

// Alive says whether this very process still runs. A zombie doesn't.
func (p Process) Alive() bool {
	state, started, ok := stat(p.PID)
	return ok && started == p.Started && state != 'Z' && state != 'X'
}

// owns says whether a process is the machine's lab's: its command line or its
// environment names the lab. One that is just ending has none any more, and is
// [os.ErrProcessDone].
func (m *Machine) owns(pid int) (bool, error) {
	mark := []byte(m.Lab + "/")
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil || len(line) == 0 {
		return false, os.ErrProcessDone
	}
	if bytes.Contains(line, mark) {
		return true, nil
	}
	environment, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return bytes.Contains(environment, mark), nil
}

// Record notes a process of the machine under name, so that whoever cleans up
// finds it.
func (m *Machine) Record(name string, pid int, group bool) (Process, error) {
	_, started, ok := stat(pid)
	if !ok {
		return Process{}, fmt.Errorf("cannot record process %d: %w", pid, os.ErrProcessDone)
	}
	p := Process{PID: pid, Started: started, Group: group}
	data, err := json.Marshal(p)
	if err == nil {
		err = os.WriteFile(filepath.Join(m.pidDir(), name), data, 0o600)
	}
	if err != nil {
		return Process{}, fmt.Errorf("cannot record process %d: %w", pid, err)
	}
	return p, nil
}

// Forget drops the record name.
func (m *Machine) Forget(name string) { _ = os.Remove(filepath.Join(m.pidDir(), name)) }

// Find returns the living process that is recorded under name.
func (m *Machine) Find(name string) (Process, bool) {
	var p Process
	data, err := os.ReadFile(filepath.Join(m.pidDir(), name))
	if err != nil || json.Unmarshal(data, &p) != nil {
		return p, false
	}
	return p, p.Alive()
}

// Signal sends sig to a process that the machine's lab owns.
func (m *Machine) Signal(p Process, sig syscall.Signal) error {
	if !p.Alive() {
		return os.ErrProcessDone
	}
	switch ours, err := m.owns(p.PID); {
	case err != nil:
		return err
	case !ours:
		return fmt.Errorf("cannot signal process %d: it isn't the lab's", p.PID)
	}
	if !p.Group {
		return syscall.Kill(p.PID, sig)
	}
	group, err := syscall.Getpgid(p.PID)
	if err != nil {
		return os.ErrProcessDone
	}
	return syscall.Kill(-group, sig)
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

// fromPidFile is the living process of the lab that a pid file names.
func (m *Machine) fromPidFile(file string) (Process, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Process{}, false
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return Process{}, false
	}
	_, started, ok := stat(pid)
	if ours, err := m.owns(pid); !ok || err != nil || !ours {
		return Process{}, false
	}
	p := Process{PID: pid, Started: started}
	return p, p.Alive()
}

// Reached says whether the signal has had its effect: killed processes are gone,
// stopped ones stand still, continued ones don't.
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
