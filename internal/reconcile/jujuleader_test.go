package reconcile

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// leaderTools plays Juju's is-leader, leader-get and leader-set. Juju reads the settings once a hook, and again after a
// write.
type leaderTools struct {
	leads         bool
	settings      map[string]string
	wrote, readIt bool
}

// Run implements run.Runner.
func (l *leaderTools) Run(_ context.Context, c run.Command) ([]byte, error) {
	switch name := strings.Join(append([]string{c.Name}, c.Args...), " "); {
	case strings.Contains(name, "is-leader"):
		return json.Marshal(l.leads)
	case strings.Contains(name, "leader-set"):
		l.wrote = true
		return nil, nil
	}
	l.readIt = l.wrote
	return json.Marshal(l.settings)
}

// A step may take minutes, as long as the database is large. What is written after it follows from what was read before:
// so Juju is asked whether another unit has led meanwhile, and has published anything.
func TestJujuLeaderIsConfirmedRightBeforeItWrites(t *testing.T) {
	clusters := relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: "5418e1b5-284d-47b2-9acc-fb82170132ed", ovndb.SB: "6418e1b5-284d-47b2-9acc-fb82170132ed"}}
	accepted := map[ovndb.Database]recovery.Acceptance{ovndb.NB: {Cluster: clusters.IDs[ovndb.NB], Unit: "ovn-central/0"}}
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		age   time.Duration
		leads bool
		other func(g *progress)
		fails bool
		reads bool
	}{
		"it was read just now":                {age: time.Second, leads: true},
		"it leads, and nothing was published": {age: time.Minute, leads: true, reads: true},
		"it leads no more":                    {age: time.Minute, fails: true},
		"another has published a cluster": {time.Minute, true, func(g *progress) {
			g.clusters = g.clusters.Supersede(ovndb.NB, "7418e1b5-284d-47b2-9acc-fb82170132ed", "ovn-central/1")
		}, true, true},
		"another has accepted the request of another": {time.Minute, true, func(g *progress) { g.accepted = map[ovndb.Database]recovery.Acceptance{} }, true, true},
	} {
		published := &progress{clusters: clusters, accepted: accepted}
		if c.other != nil {
			c.other(published)
		}
		tools := &leaderTools{leads: c.leads, settings: published.leaderSettings()}
		u := &Reconciler{Machine: &observe.Machine{Now: func() time.Time { return now }}, Tools: juju.New(tools)}
		g := &progress{jujuLeader: true, at: now.Add(-c.age), clusters: clusters, accepted: accepted}
		err := u.confirmJujuLeader(t.Context(), pass{progress: g})
		assert.Equal(t, c.reads, tools.readIt, name)
		if c.fails {
			require.ErrorIs(t, err, errStale, name)
			continue
		}
		require.NoError(t, err, name)
		assert.False(t, now.After(g.at.Add(jujuLeadership)), name)
	}
}
