package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// RemoveOptions are the options of `juju remove-unit`.
type RemoveOptions struct {
	// Force removes the unit at once, as if its machine were dead: no hook runs, servers are killed, and the data stay.
	Force bool
}

// RemoveUnit is `juju remove-unit`. The others run -departed, then the unit runs -departed for each of them (and
// -broken, if its agent was restarted), stop and remove, and its machine is removed. If a hook fails, the error is a
// [*HookError] and the unit stays, dying and in error. [Lab.Retry] or [Lab.Resolved] continue, or RemoveUnit if the
// unit isn't in error. If the model doesn't wait for hooks ([Quirks].GoneAfter), the unit is gone when RemoveUnit
// returns.
func (l *Lab) RemoveUnit(ctx context.Context, u *Unit, o RemoveOptions) error {
	if u.Removed() {
		return fmt.Errorf("cannot remove %s: unit %q not found", u.name, u.name)
	}
	if o.Force {
		return l.end(ctx, u)
	}
	begun := l.BeginRemoval(ctx, u)
	if errors.Is(begun, ErrLost) {
		return begun
	}
	return errors.Join(begun, l.finish(ctx, u, false))
}

// BeginRemoval makes a unit dying and runs every hook before its stop.
func (l *Lab) BeginRemoval(ctx context.Context, u *Unit) error {
	l.model.Do(func(s *model.State) { s.Destroy(u.name) })
	others := l.settleStarted(ctx)
	err := l.drive(ctx, u, false, isStop)
	if hook := (*HookError)(nil); errors.As(err, &hook) {
		// The call that continues with the unit reports it.
		err = nil
	}
	return errors.Join(others, err)
}

func isStop(h model.Hook, _ int) bool { return h.Kind == model.Stop || h.Kind == model.Remove }

// finish runs the last hooks of a dying unit and removes its machine.
func (l *Lab) finish(ctx context.Context, u *Unit, retry bool) error {
	if err := l.drive(ctx, u, retry, nil); err != nil {
		return err
	}
	return l.end(ctx, u)
}

// end removes a unit, and notifies the others.
func (l *Lab) end(ctx context.Context, u *Unit) error {
	if err := l.takeAway(ctx, u); err != nil {
		return err
	}
	return l.settleStarted(ctx)
}

// takeAway removes the unit from the model and powers its machine off.
func (l *Lab) takeAway(ctx context.Context, u *Unit) error {
	l.forget(u)
	return errors.Join(u.Machine.KillAll(), l.refreshNorthd(ctx))
}

// RemoveApplication removes the application: all units are dying at once, and their stop hooks run at once. Failures
// are joined [*HookError] values; their units stay.
func (l *Lab) RemoveApplication(ctx context.Context) error {
	units := l.Units()
	l.model.Do(func(s *model.State) {
		s.AppDying = true
		for _, u := range units {
			s.Destroy(u.name)
		}
	})
	failed := atOnce(units, func(u *Unit) error { return l.drive(ctx, u, false, isStop) })
	rest := slices.DeleteFunc(slices.Clone(units), func(u *Unit) bool { return failed[u] != nil })
	for u, err := range atOnce(rest, func(u *Unit) error { return l.finish(ctx, u, false) }) {
		failed[u] = err
	}
	var errs []error
	for _, u := range units {
		errs = append(errs, failed[u])
	}
	return errors.Join(errs...)
}

func atOnce(units []*Unit, f func(*Unit) error) map[*Unit]error {
	var mu sync.Mutex
	var group sync.WaitGroup
	failed := map[*Unit]error{}
	for _, u := range units {
		group.Go(func() {
			if err := f(u); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed[u] = err
			}
		})
	}
	group.Wait()
	return failed
}

// Quirks are the differences of one Juju from another.
type Quirks = model.Quirks

// QuirksOf returns the differences of a version of Juju.
func QuirksOf(version string) Quirks { return model.QuirksOf(version) }

// errGone ends the hooks of a unit that has left the model meanwhile.
var errGone = errors.New("the unit is gone")

// scheduledRemoval returns when the unit leaves the model although its hooks run, or zero.
func (u *Unit) scheduledRemoval() (at time.Time) {
	u.lab.model.Do(func(s *model.State) {
		if known := s.Units[u.name]; known != nil {
			at = known.GoneAt
		}
	})
	return at
}

// removeAt runs the last hooks, each once, of a unit for which the model doesn't wait, and whose lock is held. At the
// time at, the unit leaves the model and its hook tools are refused; after the same time again its machine is
// removed.
func (l *Lab) removeAt(ctx context.Context, u *Unit, at time.Time) (err error) {
	gone := make(chan struct{})
	timer := time.AfterFunc(time.Until(at), func() { l.forget(u); close(gone) })
	hooks, cancel := context.WithTimeoutCause(ctx, time.Until(at)+l.goneAfter(), errGone)
	defer cancel()
	for {
		next := u.pending()
		if next.gone || !next.any || next.failed != nil {
			break
		}
		if _, err = l.runHook(hooks, u, next.hook, nil, neverKill); err != nil {
			break
		}
	}
	if failed := (*HookError)(nil); errors.Is(err, errGone) || errors.As(err, &failed) {
		err = nil // nothing comes of it
	}
	removed := false
	u.look(func(m *model.Unit) { removed = m.Uniter.Removed })
	if !removed || !timer.Stop() {
		select {
		case <-gone:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
	return errors.Join(err, l.takeAway(ctx, u))
}

func (l *Lab) goneAfter() (after time.Duration) {
	l.model.Do(func(s *model.State) { after = time.Duration(float64(s.Quirks.GoneAfter) * retryScale) })
	return after
}

func (l *Lab) forget(u *Unit) {
	if c := u.context.Load(); c != nil {
		c.End()
	}
	l.model.Do(func(s *model.State) {
		if known := s.Units[u.name]; known != nil {
			u.last = known
			s.Remove(u.name)
		}
	})
}
