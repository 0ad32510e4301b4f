package machine

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The services of the packages, without ".service".
const (
	Umbrella = "ovn-central"
	Northd   = "ovn-northd"
)

// systemd's defaults (systemd-system.conf(5)) for starts, stops, the pause before a restart, and the start limit.
const (
	defaultStartTimeout = 90 * time.Second
	defaultStopTimeout  = 90 * time.Second
	restartPause        = 100 * time.Millisecond
	startLimit          = 5
	startLimitInterval  = 10 * time.Second
)

type service struct {
	name string
	job  sync.Mutex // one job at a time

	// Below, guarded by the manager's mu.
	unit       *unitFile
	active     string
	invocation string // another one for each start (systemd.exec(5), $INVOCATION_ID)
	main       *child
	starts     []time.Time
	stopping   bool
	restarting bool // it starts again after a pause
}

func (m *manager) service(name string) *service {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.services[name]
	if s == nil {
		s = &service{name: name, active: stateInactive}
		m.services[name] = s
	}
	return s
}

func (m *manager) state(s *service) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return s.active
}

// The reasons of a failed job, in systemctl's words.
var (
	errControl = errors.New("the control process exited with error code")
	errNoStart = errors.New("the unit has no ExecStart=")
	errTooOft  = errors.New("start of the service was attempted too often")
)

// start runs a service's program unless it runs. Like Type=simple it doesn't wait until the program is ready.
func (m *manager) start(s *service, u *unitFile) error {
	m.mu.Lock()
	if s.active == stateActive {
		m.mu.Unlock()
		return nil
	}
	now := time.Now()
	s.starts = slices.DeleteFunc(s.starts, func(t time.Time) bool { return now.Sub(t) > startLimitInterval })
	if m.Restart && len(s.starts) >= startLimit {
		s.active, s.restarting = stateFailed, false
		m.mu.Unlock()
		return errTooOft
	}
	s.starts = append(s.starts, now)
	s.unit, s.active, s.stopping, s.restarting = u, stateActivating, false, false
	s.invocation = newInvocation()
	m.mu.Unlock()
	err := m.begin(s, u)
	if err != nil {
		m.mu.Lock()
		defer m.mu.Unlock()
		s.main, s.active = nil, stateFailed
	}
	return err
}

func (m *manager) begin(s *service, u *unitFile) error {
	if strings.HasSuffix(s.name, timer) {
		m.mu.Lock()
		defer m.mu.Unlock()
		s.active = stateActive
		return nil
	}
	if len(u.start) == 0 {
		return errNoStart
	}
	variables := m.variables(u)
	for _, command := range u.conditions {
		c, err := m.spawn(s.name, words(command, variables), variables)
		if err != nil {
			return err
		}
		switch {
		case !c.await(defaultStartTimeout) || c.status.ExitStatus() < 0 || c.status.ExitStatus() == 255:
			_ = syscall.Kill(-c.group, syscall.SIGKILL)
			return errControl
		case c.status.ExitStatus() != 0: // it is not started, which is no failure
			m.mu.Lock()
			defer m.mu.Unlock()
			s.active = stateInactive
			return nil
		}
	}
	var last *child
	for _, command := range u.start {
		c, err := m.spawn(s.name, words(command, variables), variables)
		if err != nil {
			return err
		}
		last = c
		if u.kind == "simple" || u.kind == "notify" { // that it is ready is not waited for
			break
		}
		if !c.await(defaultStartTimeout) || c.status.ExitStatus() != 0 {
			_ = syscall.Kill(-c.group, syscall.SIGKILL)
			return errControl
		}
		if u.kind == "forking" {
			if last, err = m.adopt(u.pidFile); err != nil {
				return err
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case u.kind != "oneshot":
		s.main, s.active = last, stateActive
		go m.watch(s, last)
	case u.remainAfterExit:
		s.active = stateActive
	default:
		s.active = stateInactive
	}
	return nil
}

func newInvocation() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // it never fails (crypto/rand)
	return hex.EncodeToString(id)
}

// variables returns the variables of the EnvironmentFile, if there is one.
func (m *manager) variables(u *unitFile) map[string]string {
	text, err := os.ReadFile(u.environment)
	if err != nil {
		return map[string]string{}
	}
	return parseEnvironment(string(text))
}
