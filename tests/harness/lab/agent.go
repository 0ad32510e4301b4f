package lab

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// HookError reports a failed hook. The unit is in error until the hook is retried or skipped.
type HookError struct {
	Unit string
	model.Failure
}

// Error returns one line, without the output.
func (e *HookError) Error() string {
	return fmt.Sprintf("%s: hook failed: %q (exit code %d)", e.Unit, e.Hook, e.ExitCode)
}

// ErrLost is wrapped by errors of operations that require the machine to be on.
var ErrLost = errors.New("the machine is off")

// pending is the next thing that the unit's agent would do.
type pending struct {
	hook   model.Hook
	any    bool
	failed *HookError // the hook failed before and waits to be resolved
	lost   bool
	gone   bool
}

func (u *Unit) pending() (p pending) {
	u.lab.model.Do(func(s *model.State) {
		known := s.Units[u.name]
		if known == nil || known.Uniter.Removed {
			p.gone = true
			return
		}
		p.lost = known.Lost
		p.hook, p.any = s.Next(u.name)
		if f := known.Uniter.Failure; f != nil {
			p.failed = &HookError{u.name, *f}
		}
	})
	return p
}

// drive runs the unit's hooks one after another until there are no more, or until stop returns true for the next one.
// It runs a hook that has failed before only if retry is set, and only as the first hook.
func (l *Lab) drive(ctx context.Context, u *Unit, retry bool, stop func(h model.Hook, ran int) bool) error {
	if err := u.acquire(ctx); err != nil {
		return err
	}
	defer u.release()
	for ran := 0; ; ran++ {
		if at := u.scheduledRemoval(); !at.IsZero() {
			return l.removeAt(ctx, u, at)
		}
		next := u.pending()
		switch {
		case next.gone:
			return nil
		case next.lost:
			return fmt.Errorf("cannot run hooks of %s: %w", u.name, ErrLost)
		case next.failed != nil && !retry:
			return next.failed
		case !next.any || stop != nil && stop(next.hook, ran):
			return nil
		}
		retry = false
		if _, err := l.runHook(ctx, u, next.hook, nil, neverKill); err != nil {
			return err
		}
	}
}

// settle runs the agents' work until there is none left: a hook that changes a relation gives the other units work at
// once. Units work at the same time, and each runs its own hooks in order. settle skips units that are in error, off,
// or removed meanwhile.
func (l *Lab) settle(ctx context.Context, units []*Unit) error {
	type turn struct {
		unit *Unit
		err  error
	}
	ended, busy, broken := make(chan turn), map[*Unit]bool{}, map[*Unit]bool{}
	var all []error
	for {
		for _, u := range units {
			if busy[u] || broken[u] || ctx.Err() != nil || !u.due() {
				continue
			}
			busy[u] = true
			go func() { ended <- turn{u, l.runNext(ctx, u)} }()
		}
		if len(busy) == 0 {
			if at := l.coming(units, broken); !at.IsZero() && ctx.Err() == nil {
				select {
				case <-time.After(time.Until(at)):
				case <-ctx.Done():
				}
				continue
			}
			return errors.Join(append(all, context.Cause(ctx))...)
		}
		t := <-ended
		delete(busy, t.unit)
		if t.err != nil {
			broken[t.unit], all = true, append(all, t.err)
		}
	}
}

// coming returns when the first of the units hears of a change, or zero if no change is on its way.
func (l *Lab) coming(units []*Unit, broken map[*Unit]bool) (at time.Time) {
	l.model.Do(func(s *model.State) {
		for _, u := range units {
			known := s.Units[u.name]
			if broken[u] || known == nil || known.Lost || known.Uniter.Queued != nil {
				continue
			}
			if t := s.Coming(u.name); !t.IsZero() && (at.IsZero() || t.Before(at)) {
				at = t
			}
		}
	})
	return at
}

// due reports whether the unit's agent has something to do.
func (u *Unit) due() bool {
	next := u.pending()
	return next.any && !next.gone && !next.lost && next.failed == nil && !u.Dying()
}

func (l *Lab) runNext(ctx context.Context, u *Unit) error {
	return l.drive(ctx, u, false, func(_ model.Hook, ran int) bool { return ran > 0 || u.Dying() })
}

// Settle runs everything that the agents of the units have to do: it sets up new units, and passes changes of
// relations and of the configuration to the charm. It does not continue the removal of a unit. Failures are joined
// [*HookError] values.
func (l *Lab) Settle(ctx context.Context) error { return l.settle(ctx, l.Units()) }

// settleStarted is Settle without the units that were added without hooks. A held lab does nothing by itself.
func (l *Lab) settleStarted(ctx context.Context) error {
	if l.held.Load() {
		return nil
	}
	var units []*Unit
	for _, u := range l.Units() {
		u.look(func(m *model.Unit) {
			if m.Uniter.Started {
				units = append(units, u)
			}
		})
	}
	return l.settle(ctx, units)
}
