package lab

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Status is a status word with its message.
type Status = model.Status

// Unit is one unit and its machine. Its methods also work after its removal.
type Unit struct {
	// Machine has the unit's files, network and packages.
	*machine.Machine

	lab    *Lab
	name   string
	number int
	// busy is the machine's lock: a hook or action holds it.
	busy chan struct{}
	// watch sees the calls of the unit's hooks and actions.
	watch atomic.Pointer[func(call string)]
	// tools decides which calls of hook tools fail.
	tools atomic.Pointer[func(call string) error]
	// hook is the hook or action that the unit is running. It leads its process group.
	hook atomic.Pointer[os.Process]
	// context is the context of the unit's newest hook.
	context atomic.Pointer[hooktool.Context]
	// last is the unit's last state in the model; it is set when the unit is removed.
	last *model.Unit
	// certificate and key are those with which the lab has laid the unit out; empty if it has not.
	certificate, key string
}

func newUnitOf(l *Lab, known *model.Unit, m *machine.Machine) *Unit {
	return &Unit{lab: l, name: known.Name, number: known.Number, Machine: m, busy: make(chan struct{}, 1)}
}

// OnCall makes see get each later call of another program by the unit's hooks and actions, before the call has any
// effect; nil ends that. see may use the lab, but not to run anything on this unit.
func (u *Unit) OnCall(see func(call string)) {
	u.watch.Store(&see)
}

func (u *Unit) watched(plan killPlan) killPlan {
	plan.refuse = u.refusal
	if see := u.watch.Load(); see != nil && *see != nil {
		plan.watch, plan.traced = *see, true
	}
	return plan
}

// take acquires the unit's machine for commands that a person runs there, if possible.
func (u *Unit) take(ctx context.Context) (next pending, err error) {
	if err := u.acquire(ctx); err != nil {
		return next, err
	}
	switch next = u.pending(); {
	case next.gone:
		err = fmt.Errorf("unit %q not found", u.name)
	case next.lost:
		err = ErrLost
	}
	if err != nil {
		u.release()
	}
	return next, err
}

func (u *Unit) acquire(ctx context.Context) error {
	select {
	case u.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("cannot get hold of %s: it is busy: %w", u.name, context.Cause(ctx))
	}
}

func (u *Unit) release() { <-u.busy }

// look calls f with the model's unit, or its last state.
func (u *Unit) look(f func(*model.Unit)) {
	u.lab.model.Do(func(s *model.State) {
		if known := s.Units[u.name]; known != nil {
			f(known)
		} else if u.last != nil {
			f(u.last)
		}
	})
}

// Name returns the unit's name in Juju: ovn-central/0.
func (u *Unit) Name() string { return u.name }

// Number returns the last part of the name.
func (u *Unit) Number() int { return u.number }

// Address returns the machine's address, which is in 10.99.0.0/24 unless the test sets another.
func (u *Unit) Address() string { return u.Machine.Address }

// Address6 returns the machine's address in fd99::/64, or empty: see [Options].
func (u *Unit) Address6() string {
	i := slices.IndexFunc(u.Machine.Others, func(a string) bool { return strings.HasPrefix(a, network6) })
	if i < 0 {
		return ""
	}
	return u.Machine.Others[i]
}

// CharmDir returns the unit's copy of the charm.
func (u *Unit) CharmDir() string { return filepath.Join(u.Machine.Dir, "charm") }

// Workload returns the unit's status as `juju status` shows it: the status that the charm has set, or error if a hook
// has failed.
func (u *Unit) Workload() (status Status) {
	u.look(func(m *model.Unit) { status = m.VisibleStatus() })
	return status
}

// Shown returns the unit's status, with the part of the message that `juju status` shows. If the agent is lost, Juju
// shows no status of the charm, unless a hook has failed.
func (u *Unit) Shown() Status {
	status := u.Workload()
	if u.Agent().Status == "lost" && status.Status != "error" {
		status = Status{Status: "unknown", Message: fmt.Sprintf("agent lost, see 'juju show-status-log %s'", u.Name())}
	}
	u.lab.model.Do(func(s *model.State) { status.Message = s.Quirks.Shown(status.Message) })
	return status
}

// Agent returns the status of the unit's agent: allocating, executing, idle, error (`hook failed: "stop"`), or lost.
func (u *Unit) Agent() (status Status) {
	u.look(func(m *model.Unit) {
		status = m.Agent
		if m.Lost {
			status.Status, status.Message = "lost", "agent is not communicating with the server"
		}
	})
	return status
}

// Dying reports whether the unit is being removed.
func (u *Unit) Dying() (dying bool) {
	u.look(func(m *model.Unit) { dying = m.Dying })
	return dying
}

// Removed reports whether the unit has left the model.
func (u *Unit) Removed() (removed bool) {
	u.lab.model.Do(func(s *model.State) { removed = s.Units[u.name] == nil })
	return removed
}

// Hooks returns all hooks that were run, in order. Each has the unit that it was about, and its outcome unless that
// is success: "install", "ovsdb-peer-relation-joined ovn-central/1", "stop (failed)", "stop (killed)".
func (u *Unit) Hooks() (hooks []string) {
	u.look(func(m *model.Unit) { hooks = slices.Clone(m.History) })
	return hooks
}

// Data returns the unit's data on the first peer relation.
func (u *Unit) Data() (data map[string]string) {
	u.lab.model.Do(func(s *model.State) {
		if len(s.Relations) > 0 && s.Relations[0].Units[u.name] != nil {
			data = maps.Clone(s.Relations[0].Units[u.name].Settings)
		}
	})
	return data
}

// OpenedPorts returns the ports that the charm has opened.
func (u *Unit) OpenedPorts() (ports []string) {
	u.look(func(m *model.Unit) { ports = slices.Clone(m.Ports) })
	return ports
}

// RestartAgent restarts the unit's agent. A later removal breaks its peer relations, and relation-ids is empty in stop.
func (u *Unit) RestartAgent() {
	u.lab.model.Do(func(s *model.State) { s.RestartAgent(u.name) })
}
