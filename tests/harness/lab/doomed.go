package lab

import (
	"context"
	"errors"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// Ways are what one Juju does otherwise than another.
type Ways = model.Ways

// WaysOf are those of a version of Juju.
func WaysOf(version string) Ways { return model.WaysOf(version) }

// errGone ends the hooks of a unit that has left the model while they run.
var errGone = errors.New("the unit is gone")

// doomed is when the unit leaves the model though its hooks run; zero: it doesn't.
func (u *Unit) doomed() (at time.Time) {
	u.lab.model.Do(func(s *model.State) {
		if known := s.Units[u.name]; known != nil {
			at = known.GoneAt
		}
	})
	return at
}

// perish runs the last hooks of a unit that the model doesn't wait for, whose lock
// is held. It leaves the model when its time has come; from then on its hook tools
// are refused, and its machine goes, with what runs there, after the same time
// again. A hook that fails isn't run a second time.
func (l *Lab) perish(ctx context.Context, u *Unit, at time.Time) (err error) {
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
	l.model.Do(func(s *model.State) { after = time.Duration(float64(s.Ways.GoneAfter) * retryScale) })
	return after
}

// forget takes a unit out of the model, whatever it is at.
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
