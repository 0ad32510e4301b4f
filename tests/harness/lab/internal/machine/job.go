package machine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

var packaged = []string{Umbrella, Northd, NB.Service(), SB.Service()}

var errMasked = errors.New("unit is masked")

// job starts or stops one unit. Dependencies (Wants=, PartOf=) get jobs of their own: `systemctl stop ovn-central`
// returns before its parts are down (measured with systemd 252). Ordering between units is ignored: with real start
// times it makes no difference here.
func (m *manager) job(verb, name string) error {
	u, err := m.unit(name)
	if err != nil {
		return err
	}
	s := m.service(u.name)
	if verb == "stop" {
		m.propagate("stop", u)
		s.job.Lock()
		defer s.job.Unlock()
		m.stop(s)
		return nil
	}
	if u.masked {
		return errMasked
	}
	if verb != "start" {
		m.propagate("restart", u)
	}
	m.want(u)
	s.job.Lock()
	defer s.job.Unlock()
	if verb != "start" {
		m.stop(s)
	}
	return m.start(s, u)
}

func (m *manager) propagate(verb string, u *unitFile) {
	for _, name := range packaged {
		part, err := m.packagedUnit(name)
		if err != nil || !slices.Contains(part.partOf, u.name) {
			continue
		}
		if m.state(m.service(name)) == stateActive {
			m.background(verb, name)
		}
	}
}

// background runs a job in the background; its service's state has the result.
func (m *manager) background(verb, name string) {
	m.mu.Lock()
	m.jobs++
	m.mu.Unlock()
	go func() {
		if err := m.job(verb, name); err != nil && !errors.Is(err, errMasked) {
			fmt.Fprintf(os.Stderr, "cannot %s %s: %v\n", verb, name, err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		m.jobs--
	}()
}

// want starts the units that u wants and that don't run yet.
func (m *manager) want(u *unitFile) {
	for _, name := range u.wants {
		if m.QuietNorthd && name == Northd {
			continue
		}
		if m.state(m.service(name)) != stateActive {
			m.background("start", name)
		}
	}
}

// report prints the result of a job in systemctl's words.
func (c *command) report(unit, verb string, err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errNoUnit) && verb == "stop":
		fmt.Fprintf(&c.errs, "Failed to stop %s.service: Unit %s.service not loaded.\n", unit, unit)
		return exitNotFound
	case errors.Is(err, errNoUnit):
		fmt.Fprintf(&c.errs, "Failed to %s %s.service: Unit %s.service not found.\n", verb, unit, unit)
		return exitNotFound
	case errors.Is(err, errMasked):
		fmt.Fprintf(&c.errs, "Failed to %s %s.service: Unit %s.service is masked.\n", verb, unit, unit)
	default:
		fmt.Fprintf(&c.errs, "Job for %s.service failed because %v.\n"+
			"See \"systemctl status %[1]s.service\" and \"journalctl -xeu %[1]s.service\" for details.\n", unit, err)
	}
	return exitFailure
}

// kill sends SIGHUP, the only signal that the charm sends, to all processes of a service.
func (c *command) kill(unit string) int {
	u, err := c.unit(unit)
	switch {
	case c.signal != "HUP":
		fmt.Fprintf(&c.errs, "Failed to parse signal string %s.\n", c.signal)
		return exitFailure
	case err != nil:
		fmt.Fprintf(&c.errs, "Failed to kill unit %s.service: Unit %s.service not loaded.\n", unit, unit)
		return exitFailure
	}
	s := c.service(u.name)
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.main != nil {
		_ = syscall.Kill(-s.main.group, syscall.SIGHUP)
	}
	return 0
}

func (c *child) await(limit time.Duration) bool {
	select {
	case <-c.done:
		return true
	case <-time.After(limit):
		return false
	}
}

// clean reports whether an exit is no failure (systemd.service(5), SuccessExitStatus=).
func clean(status syscall.WaitStatus) bool {
	return status.Exited() && status.ExitStatus() == 0 ||
		status.Signaled() && slices.Contains([]syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}, status.Signal())
}

// watch waits for a main process that ends by itself, ends the rest of the service, and may start it again.
func (m *manager) watch(s *service, c *child) {
	<-c.done
	m.mu.Lock()
	unasked := s.main == c && !s.stopping
	m.mu.Unlock()
	if !unasked {
		return
	}
	s.job.Lock()
	defer s.job.Unlock()
	m.end(c, s.unit.stopTimeout)
	m.mu.Lock()
	defer m.mu.Unlock()
	if s.main != c {
		return // a stop was first
	}
	s.main = nil
	switch {
	case clean(c.status):
		s.active = stateInactive
	case m.Restart && s.unit.restart == "on-failure":
		s.active, s.restarting = stateActivating, true
		go m.startAgain(s)
	default:
		s.active = stateFailed
	}
}

func (m *manager) startAgain(s *service) {
	time.Sleep(restartPause) // as RestartSec= in systemd.service(5)
	s.job.Lock()
	defer s.job.Unlock()
	m.mu.Lock()
	due := s.restarting
	m.mu.Unlock()
	if u, err := m.unit(s.name); due && err == nil && !u.masked {
		_ = m.start(s, u) // the service's state has the result
	}
}

// end ends a whole process group: SIGTERM, then SIGKILL.
func (m *manager) end(c *child, limit time.Duration) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if syscall.Kill(-c.group, sig) != nil {
			return
		}
		poll.Await(context.Background(), limit, interval, nil, func() bool { return syscall.Kill(-c.group, 0) != nil })
	}
}

// stop stops a service: ExecStop=, SIGTERM, SIGKILL.
func (m *manager) stop(s *service) {
	m.mu.Lock()
	c, u := s.main, s.unit
	if s.active == stateInactive || s.active == stateFailed {
		m.mu.Unlock()
		return
	}
	s.active, s.stopping, s.restarting = "deactivating", true, false
	m.mu.Unlock()
	if c != nil {
		m.execStop(s, u, c)
		m.end(c, u.stopTimeout)
		<-c.done
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.main, s.active, s.stopping = nil, stateInactive, false
	if c != nil && !clean(c.status) {
		s.active = stateFailed
	}
}

func (m *manager) execStop(s *service, u *unitFile, main *child) {
	variables := m.variables(u)
	own := maps.Clone(variables)
	own["MAINPID"] = strconv.Itoa(main.pid)
	for _, command := range u.stop {
		c, err := m.spawn(s.name, words(command, variables), own)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		if !c.await(u.stopTimeout) {
			_ = syscall.Kill(-c.group, syscall.SIGKILL)
			return
		}
	}
}
