package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Hold stops all hooks that run by themselves, or permits them again. While the lab is held, hooks run only by
// [Lab.Deliver], [Lab.DeliverHook] and the methods that drive a unit themselves (Settle, RunHook, RunAction,
// RemoveUnit). Add units with AddOptions.NoHooks, and remove them with [Lab.Destroy].
func (l *Lab) Hold(held bool) { l.held.Store(held) }

// Pending returns the hooks that the unit's agent may run next. An agent that knows of all changes runs the first
// one. The others are legal too, since an agent hears of changes one by one. A failed or killed hook is the only one.
func (l *Lab) Pending(u *Unit) (hooks []string) {
	l.model.Do(func(s *model.State) {
		for _, h := range s.Choices(u.name) {
			hooks = append(hooks, h.String())
		}
	})
	return hooks
}

// Coming returns when the unit's agent hears of the next change, or zero if no change is on its way.
func (l *Lab) Coming(u *Unit) (at time.Time) {
	l.model.Do(func(s *model.State) { at = s.Coming(u.name) })
	return at
}

// Deliver runs exactly the next hook of a unit, or the failed hook again. It returns the hook, in the form of
// [Unit.Hooks], or "". A unit that is being removed leaves the model after its last hook.
func (l *Lab) Deliver(ctx context.Context, u *Unit) (string, error) { return l.deliver(ctx, u, "") }

// DeliverHook is like [Lab.Deliver], with one of the hooks of [Lab.Pending].
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

// Destroy is `juju remove-unit` without its consequences: the unit is dying, and the hooks about it are pending.
func (l *Lab) Destroy(u *Unit) error {
	if u.Removed() {
		return errors.New("cannot remove " + u.name + ": it is gone")
	}
	l.model.Do(func(s *model.State) { s.Destroy(u.name) })
	return nil
}

// Juju's waits between the tries of a failed hook (apiserver/facades/agent/retrystrategy), with growth and jitter.
const (
	minRetry    = 5 * time.Second
	maxRetry    = 5 * time.Minute
	retryFactor = 2
)

// Retry runs the failed hook of a unit again, as Juju does after a while, and continues. It continues a removal to
// its end.
func (l *Lab) Retry(ctx context.Context, u *Unit) error {
	if u.Dying() {
		return l.finish(ctx, u, true)
	}
	if err := l.drive(ctx, u, true, nil); err != nil {
		return err
	}
	return l.settleStarted(ctx)
}

// RetryUntil retries the failed hook of a unit as Juju does, with Juju's waits in the lab's scale, until all is well
// or ctx ends. The error is then the last failure and the error of ctx.
func (l *Lab) RetryUntil(ctx context.Context, u *Unit) (tries int, err error) {
	for wait := minRetry; ; wait = min(wait*retryFactor, maxRetry) {
		jittered := float64(wait) * retryScale * (0.5 + rand.Float64()/2)
		select {
		case <-ctx.Done():
			return tries, errors.Join(err, context.Cause(ctx))
		case <-time.After(time.Duration(jittered)):
		}
		tries++
		err = l.Retry(ctx, u)
		if hook := (*HookError)(nil); !errors.As(err, &hook) {
			return tries, err
		}
	}
}

// Resolved is `juju resolved`. It runs the failed hook again, or skips it (noRetry), and continues as [Lab.Retry]
// does.
func (l *Lab) Resolved(ctx context.Context, u *Unit, noRetry bool) error {
	next := u.pending()
	if next.failed == nil {
		return fmt.Errorf("cannot resolve %s: unit %q is not in an error state", u.name, u.name)
	}
	if noRetry {
		if err := u.acquire(ctx); err != nil {
			return err
		}
		l.model.Do(func(s *model.State) {
			s.Commit(u.name, next.hook)
			s.Units[u.name].History = append(s.Units[u.name].History, next.hook.String()+" (skipped)")
		})
		u.release()
	}
	return l.Retry(ctx, u)
}

// Configure is `juju config`. It parses values by the types of config.yaml, and if one has changed, every unit runs
// config-changed. In a held lab, [Lab.Deliver] runs these hooks.
func (l *Lab) Configure(ctx context.Context, values map[string]string) error {
	settings, err := l.spec().Config().ParseSettingsStrings(values)
	if err != nil {
		return fmt.Errorf("cannot configure: %w", err)
	}
	l.model.Do(func(s *model.State) { s.Configure(settings) })
	if l.held.Load() {
		return nil
	}
	return l.Settle(ctx)
}
