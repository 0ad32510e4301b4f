package lab

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// ErrKilled is wrapped by the error of a hook that was killed. The hook runs again when the unit is next driven. But
// if the machine was turned off, and its agent with it, the hook has failed, as under Juju, and waits to be retried.
var ErrKilled = errors.New("hook was killed")

// Killed is the outcome of [Lab.RunHookKilledAt].
type Killed struct {
	// Killed is false if the hook ended before its call number call.
	Killed bool
	// Calls are the calls of external programs that the charm made. The last one is the call at which the charm was
	// killed.
	Calls []string
}

// runHook runs one hook of a unit whose lock is held. It records the hook's outcome: committed, failed (the unit is
// in error), or killed (the hook is queued again). If a command is given, it runs instead of the charm.
func (l *Lab) runHook(ctx context.Context, u *Unit, h model.Hook, env []string, kill killPlan) (Killed, error) {
	if h.Kind == model.UpgradeCharm {
		if err := l.unpack(u); err != nil {
			return Killed{}, err
		}
	}
	l.model.Do(func(s *model.State) { s.Begin(u.name, h) })
	c := l.newContext(u, h)
	vars := append(l.environment(u, c, "hooks/"+h.Name()), relationVariables(h)...)
	result := l.execute(ctx, u, c, append(vars, env...), kill)
	killed := Killed{Killed: result.killed, Calls: result.calls}
	failure := model.Failure{Hook: h.Name(), ExitCode: result.code, Output: result.output}
	var err error
	how := ""
	switch {
	case result.killed:
		how = " (killed)"
		l.model.Do(func(s *model.State) { s.Requeue(u.name, h) })
	case result.err != nil:
		how = " (killed)"
		err = fmt.Errorf("%s: %w: %s: %w", u.name, ErrKilled, h.Name(), result.err)
		l.model.Do(func(s *model.State) {
			if known := s.Units[u.name]; known != nil && known.Lost {
				s.Fail(u.name, h, failure)
				return
			}
			s.Requeue(u.name, h)
		})
	case result.code != 0:
		how = " (failed)"
		err = &HookError{u.name, failure}
		l.model.Do(func(s *model.State) { s.Fail(u.name, h, failure) })
	default:
		c.Commit()
		l.model.Do(func(s *model.State) { s.Commit(u.name, h) })
		l.tellRemotes()
	}
	if c.Ended() {
		how, err = " (gone)", fmt.Errorf("%s: %w", u.name, errGone)
	}
	u.look(func(known *model.Unit) { known.History = append(known.History, h.String()+how) })
	return killed, err
}

func relationVariables(h model.Hook) []string {
	if h.Relation == "" {
		return nil
	}
	vars := []string{
		"JUJU_RELATION=" + h.Relation, fmt.Sprintf("JUJU_RELATION_ID=%s:%d", h.Relation, h.RelationID),
		"JUJU_REMOTE_UNIT=" + h.RemoteUnit, "JUJU_REMOTE_APP=" + h.RemoteApp,
	}
	if h.Departing != "" {
		vars = append(vars, "JUJU_DEPARTING_UNIT="+h.Departing)
	}
	return vars
}

func (l *Lab) newContext(u *Unit, h model.Hook) *hooktool.Context {
	c := hooktool.New(l.model, u.name, h)
	c.Charm = declared(l.spec())
	u.context.Store(c)
	return c
}

// find makes the hook that a caller names: the agent's next one if it has that name, else one out of order, whose relation context comes from env as Juju would set it.
func (u *Unit) find(name string, env []string) model.Hook {
	if next := u.pending(); next.any && next.hook.Name() == name {
		return next.hook
	}
	h := model.Hook{Kind: name}
	u.lab.model.Do(func(s *model.State) {
		for _, r := range s.Relations {
			if kind, is := strings.CutPrefix(name, r.Name+"-"); is && strings.HasPrefix(kind, "relation-") {
				h = model.Hook{Kind: kind, Relation: r.Name, RelationID: r.ID, RemoteApp: s.Other(r)}
			}
		}
		for _, variable := range env {
			if unit, is := strings.CutPrefix(variable, "JUJU_REMOTE_UNIT="); is {
				h.RemoteUnit = unit
			}
		}
		switch r := s.Relation(h.RelationID); {
		case r != nil:
			h.Version = r.News(h.RemoteUnit)
		case h.Kind == model.ConfigChanged:
			h.Version, h.AddressVersion = s.ConfigVersion, s.Units[u.name].AddressVersion
		case h.Kind == model.LeaderSettingsChanged:
			h.Version = s.LeaderVersion
		case h.Kind == model.UpgradeCharm:
			h.Version = s.CharmVersion
		}
	})
	return h
}

func (l *Lab) run(ctx context.Context, u *Unit, name string, env []string, kill killPlan) (Killed, error) {
	next, err := u.take(ctx)
	if err != nil {
		return Killed{}, fmt.Errorf("cannot run %s of %s: %w", name, u.name, err)
	}
	defer u.release()
	if next.failed != nil && next.failed.Hook != name {
		return Killed{}, fmt.Errorf("cannot run %s: %w", name, next.failed)
	}
	return l.runHook(ctx, u, u.find(name, env), env, kill)
}

// RunHook runs a hook now, by its full name ("update-status", "ovsdb-peer-relation-changed"), whether Juju would run
// it or not. Then it runs what other units have to do because of it. If a hook of that name has failed, RunHook
// retries it. env may add variables; JUJU_REMOTE_UNIT=U is the unit that a relation's hook is about. If the hook
// fails, the error is a [*HookError] and the unit is in error. If ctx ends, the hook is killed and queued, and the
// error wraps [ErrKilled].
func (l *Lab) RunHook(ctx context.Context, u *Unit, hook string, env ...string) error {
	_, err := l.run(ctx, u, hook, env, neverKill)
	if failed := (*HookError)(nil); err != nil && !errors.As(err, &failed) {
		return err
	}
	// The other units also hear of changes that a failed hook keeps.
	return errors.Join(err, l.settleStarted(ctx))
}

// RunHookKilledAt runs a hook and kills its process group by SIGKILL at its call number call of another program,
// counted from 1: a hook tool, systemctl, or one of OVN's tools. That call does nothing. Then the hook is queued, as
// under Juju 3: RunHook, RunHookKilledAt, Retry, Settle and RemoveUnit run it again. Call 0 kills nothing and returns
// the calls.
func (l *Lab) RunHookKilledAt(ctx context.Context, u *Unit, hook string, call int) (Killed, error) {
	return l.run(ctx, u, hook, nil, killAt(call))
}

// RunHookKilledWhen is like [Lab.RunHookKilledAt], for the first call for which when returns true: "is-leader
// --format=json", or "ovs-appctl -T 6 -t … cluster/leave OVN_Northbound".
func (l *Lab) RunHookKilledWhen(ctx context.Context, u *Unit, hook string, when func(call string) bool) (Killed, error) {
	return l.run(ctx, u, hook, nil, killPlan{when: when, traced: true})
}

// UpdateStatus runs update-status on every unit that is started, not being removed and not in error, as Juju does.
func (l *Lab) UpdateStatus(ctx context.Context) error {
	var errs []error
	for _, u := range l.Units() {
		due := false
		u.look(func(m *model.Unit) {
			due = m.Uniter.Started && !m.Dying && !m.Lost && m.Uniter.Queued == nil
		})
		if due {
			_, err := l.run(ctx, u, model.UpdateStatus, nil, neverKill)
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, l.settleStarted(ctx))...)
}
