package lab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Hold makes the lab leave the order of events to the caller, or ends that: no
// hook runs by itself any more, only by [Lab.Deliver], [Lab.DeliverHook] and
// what names its hook or drives a unit itself (Settle, RunHook, RunAction,
// RemoveUnit). Units are added with AddOptions.NoHooks, and removed with
// [Lab.Destroy].
func (l *Lab) Hold(held bool) { l.held.Store(held) }

// Pending are the hooks of which the unit's agent runs one next. The first is that
// of an agent that has heard of everything; the others are as legal, since an
// agent hears of relations, configuration, leadership and so on one by one.
// A hook that failed, or was killed, is the only one: nothing runs before it.
func (l *Lab) Pending(u *Unit) (hooks []string) {
	l.model.Do(func(s *model.State) {
		for _, h := range s.Choices(u.name) {
			hooks = append(hooks, h.String())
		}
	})
	return hooks
}

// Coming is when the unit's agent hears of something that is on its way to it; zero where
// nothing is.
func (l *Lab) Coming(u *Unit) (at time.Time) {
	l.model.Do(func(s *model.State) { at = s.Coming(u.name) })
	return at
}

// Deliver runs exactly the next hook of a unit, or the failed one again, and
// nothing else. It returns the hook, as [Unit.Hooks] names it, and "" where there
// is none. When a unit that is being removed has run its last one it leaves the
// model.
func (l *Lab) Deliver(ctx context.Context, u *Unit) (string, error) { return l.deliver(ctx, u, "") }

// DeliverHook is [Lab.Deliver] with one of [Lab.Pending].
func (l *Lab) DeliverHook(ctx context.Context, u *Unit, hook string) error {
	_, err := l.deliver(ctx, u, hook)
	return err
}

func (l *Lab) deliver(ctx context.Context, u *Unit, name string) (string, error) {
	if err := u.acquire(ctx); err != nil {
		return "", err
	}
	defer u.release()
	var choices []model.Hook
	l.model.Do(func(s *model.State) { choices = s.Choices(u.name) })
	at := slices.IndexFunc(choices, func(h model.Hook) bool { return name == "" || h.String() == name })
	switch {
	case u.pending().lost:
		return "", fmt.Errorf("cannot run hooks of %s: %w", u.name, ErrLost)
	case at < 0 && name != "":
		return "", fmt.Errorf("cannot run %s of %s: its agent wouldn't run it now", name, u.name)
	case at < 0 && !u.Removed() && u.Dying():
		return "", l.takeAway(ctx, u)
	case at < 0:
		return "", nil
	}
	_, err := l.runHook(ctx, u, choices[at], nil, neverKill)
	if err == nil && choices[at].Kind == model.Remove {
		err = l.takeAway(ctx, u)
	}
	return choices[at].String(), err
}

// Destroy is `juju remove-unit` without anything that follows from it: the unit
// is dying, and its hooks, and those of the others about it, are pending.
func (l *Lab) Destroy(u *Unit) error {
	if u.Removed() {
		return errors.New("cannot remove " + u.name + ": it is gone")
	}
	l.model.Do(func(s *model.State) { s.Destroy(u.name) })
	return nil
}
