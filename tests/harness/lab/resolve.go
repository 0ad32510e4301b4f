package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Juju's waits between the tries of a failed hook (apiserver/facades/agent/
// retrystrategy): each is twice the one before, with jitter.
const (
	minRetry    = 5 * time.Second
	maxRetry    = 5 * time.Minute
	retryFactor = 2
)

// Retry runs the failed hook of a unit again, as Juju does by itself after a
// while and for `juju resolved`, and then continues: a removal to its end.
func (l *Lab) Retry(ctx context.Context, u *Unit) error {
	if u.Dying() {
		return l.finish(ctx, u, true)
	}
	if err := l.drive(ctx, u, true, nil); err != nil {
		return err
	}
	return l.settleStarted(ctx)
}

// RetryUntil retries the failed hook of a unit as Juju does, with the waits of
// Juju in the lab's scale, until all is well or ctx ends. The error is then the
// last failure, with that of ctx.
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

// Resolved is `juju resolved`: the failed hook is run again or, with noRetry,
// taken for done without being run. It then continues as [Lab.Retry] does.
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

// Configure is `juju config`: values are parsed by the types of config.yaml, and
// every unit runs config-changed where one has changed. In a held lab that is left to [Lab.Deliver].
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
