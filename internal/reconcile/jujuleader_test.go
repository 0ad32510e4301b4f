package reconcile

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// leads plays is-leader, which says so for as long as it is given.
type leads struct {
	begun time.Time
	until time.Duration
}

// Run implements run.Runner.
func (l leads) Run(context.Context, run.Command) ([]byte, error) {
	if time.Since(l.begun) < l.until {
		return []byte("true"), nil
	}
	return []byte("false"), nil
}

// A step that takes minutes, as long as the database is large, does not end the leadership: only
// Juju does.
func TestLeadershipIsConfirmedWhileAStepTakesLong(t *testing.T) {
	for name, c := range map[string]struct {
		led   time.Duration
		fresh bool
	}{"it leads all the time": {time.Hour, true}, "another one may have led": {25 * time.Second, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &Reconciler{Machine: &observe.Machine{Now: time.Now}, Tools: juju.New(leads{time.Now(), c.led})}
				g := &progress{jujuLeader: true, at: time.Now()}
				require.NoError(t, u.whileJujuLeader(t.Context(), g, func() error { time.Sleep(95 * time.Second); return nil }))
				assert.Equal(t, c.fresh, time.Now().Before(g.at.Add(jujuLeadership)))
			})
		})
	}
}
