package machine

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// await waits for a child to end, at most for limit.
func (c *child) await(limit time.Duration) bool {
	select {
	case <-c.done:
		return true
	case <-time.After(limit):
		return false
	}
}

// clean reports whether an ending isn't a failure (systemd.service(5),
// SuccessExitStatus=).
func clean(status syscall.WaitStatus) bool {
	return status.Exited() && status.ExitStatus() == 0 ||
		status.Signaled() && slices.Contains([]syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}, status.Signal())
}

// watch waits for a main process that ends unasked. What is left of the service
// is ended too; then it is started again where its unit says so.
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
		return // a stop came first
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
	time.Sleep(restartPause)
	s.job.Lock()
	defer s.job.Unlock()
	m.mu.Lock()
	due := s.restarting
	m.mu.Unlock()
	if u, err := m.unit(s.name); due && err == nil && !u.masked {
		_ = m.start(s, u) // the state says how it went
	}
}

// end makes sure that nothing of a process group is left: SIGTERM, then SIGKILL.
func (m *manager) end(c *child, limit time.Duration) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if syscall.Kill(-c.group, sig) != nil {
			return
		}
		for end := time.Now().Add(limit); syscall.Kill(-c.group, 0) == nil && time.Now().Before(end); {
			time.Sleep(poll)
		}
	}
}

// stop ends a service by its ExecStop=, then SIGTERM, then SIGKILL.
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
