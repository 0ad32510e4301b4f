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

// clean says whether an ending isn't a failure (systemd.service(5),
// SuccessExitStatus=).
func clean(status syscall.WaitStatus) bool {
	return status.Exited() && status.ExitStatus() == 0 ||
		status.Signaled() && slices.Contains([]syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGPIPE}, status.Signal())
}

const success = "success"

// outcome is systemd's Result for the end of a main process.
func outcome(status syscall.WaitStatus) string {
	switch {
	case clean(status):
		return success
	case status.Signaled():
		return "signal"
	}
	return "exit-code"
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
	s.main, s.result = nil, outcome(c.status)
	switch {
	case s.result == success:
		m.become(s, stateInactive, "dead")
	case m.Restart && s.unit.restart == "on-failure":
		m.become(s, "activating", "auto-restart")
		go m.startAgain(s)
	default:
		m.become(s, stateFailed, stateFailed)
	}
}

func (m *manager) startAgain(s *service) {
	time.Sleep(restartPause)
	s.job.Lock()
	defer s.job.Unlock()
	m.mu.Lock()
	due := s.sub == "auto-restart"
	if due {
		s.restarts++
	}
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
func (m *manager) stop(s *service) error {
	m.mu.Lock()
	c, u := s.main, s.unit
	if s.active == stateInactive || s.active == stateFailed {
		m.mu.Unlock()
		return nil
	}
	s.stopping = true
	m.become(s, "deactivating", "stop")
	m.mu.Unlock()
	if c != nil {
		m.execStop(s, u, c)
		m.end(c, u.stopTimeout)
		<-c.done
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s.main, s.stopping = nil, false
	if c != nil && !clean(c.status) {
		s.result = outcome(c.status)
		m.become(s, stateFailed, stateFailed)
		return nil
	}
	m.become(s, stateInactive, "dead")
	return nil
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
