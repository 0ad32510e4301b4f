package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// running is a service that the copy of a machine continues. Without a process it has no command.
type running struct {
	Invocation string
	Command    []string `json:",omitempty"`
}

// The requests to an init, besides the verbs of systemctl.
const (
	runningVerb = "lab-running"
	resumeVerb  = "lab-resume"
)

func (m *Machine) runningFile() string { return filepath.Join(m.Dir, "running.json") }

// NoteRunning writes which services run, until [Machine.RemoveNote]. A copy of the machine that boots with that file
// starts nothing by itself: it waits for [Machine.Resume].
func (m *Machine) NoteRunning(ctx context.Context) error {
	said, err := m.ask(ctx, []string{runningVerb})
	if err == nil && said.Code != 0 {
		err = errors.New(said.Errors)
	}
	if err == nil {
		err = os.WriteFile(m.runningFile(), []byte(said.Out), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot note what runs on %s: %w", filepath.Base(m.Dir), err)
	}
	return nil
}

// RemoveNote removes the file that NoteRunning has written.
func (m *Machine) RemoveNote() error { return os.Remove(m.runningFile()) }

// Resume continues services; without names it continues all that are left. Their programs get the arguments that they
// had, and the services keep their invocations, as if none had been started again.
func (m *Machine) Resume(ctx context.Context, services ...string) error {
	said, err := m.ask(ctx, append([]string{resumeVerb}, services...))
	if err == nil && said.Code != 0 {
		err = errors.New(strings.TrimSpace(said.Errors))
	}
	if err != nil {
		return fmt.Errorf("cannot resume services of %s: %w", filepath.Base(m.Dir), err)
	}
	return nil
}

// takeRunning reads the services to resume; nil if the machine just boots.
func (m *Machine) takeRunning() (services map[string]running, err error) {
	data, err := os.ReadFile(m.runningFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &services)
	}
	return services, errors.Join(err, m.RemoveNote())
}

func (c *command) listRunning() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := map[string]running{}
	for name, s := range c.services {
		if s.active != stateActive {
			continue
		}
		r := running{Invocation: s.invocation}
		if s.main != nil {
			var err error
			if r.Command, err = commandOf(c.process(name, s.main.pid)); err != nil {
				fmt.Fprintln(&c.errs, err)
				return exitFailure
			}
		}
		all[name] = r
	}
	_ = json.NewEncoder(&c.out).Encode(all) // to memory
	return 0
}

// process is the main process of a service, or the server that this process waits for.
func (m *Machine) process(name string, pid int) int {
	for _, db := range Databases {
		if server, alive := m.Server(db); alive && name == db.Service() {
			return server.PID
		}
	}
	return pid
}

// commandOf returns a process' command line without the option that detaches it.
func commandOf(pid int) ([]string, error) {
	program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	words := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	words[0] = program
	return slices.DeleteFunc(words, func(word string) bool { return word == "--detach" }), err
}

// resume continues services, by default all that are left.
func (c *command) resume(names []string) (code int) {
	if len(names) == 0 {
		c.mu.Lock()
		names = slices.Sorted(maps.Keys(c.toResume))
		c.mu.Unlock()
	}
	for _, name := range names {
		if err := c.resumeOne(name); err != nil {
			fmt.Fprintf(&c.errs, "%s: %v\n", name, err)
			code = exitFailure
		}
	}
	return code
}

func (c *command) resumeOne(name string) error {
	c.mu.Lock()
	r, ran := c.toResume[name]
	delete(c.toResume, name)
	c.mu.Unlock()
	if !ran {
		return errors.New("it did not run")
	}
	u, err := c.unit(name)
	if err != nil {
		return err
	}
	var main *child
	if len(r.Command) > 0 {
		if main, err = c.spawn(name, r.Command, c.variables(u)); err != nil {
			return err
		}
	}
	s := c.service(name)
	c.mu.Lock()
	defer c.mu.Unlock()
	s.unit, s.active, s.invocation, s.main, s.starts = u, stateActive, r.Invocation, main, []time.Time{time.Now()}
	if main != nil {
		go c.watch(s, main)
	}
	return nil
}
