package jujuleader

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// tools simulates Juju's tools. Juju reads the settings once a hook, and again after a write.
type tools struct {
	leads         bool
	settings      map[string]string
	fails         error
	written       map[string]string
	wrote, readIt bool
}

func (t *tools) IsLeader(context.Context) (bool, error) { return t.leads, nil }

func (t *tools) LeaderGet(context.Context) (map[string]string, error) {
	t.readIt = t.wrote
	return t.settings, nil
}

func (t *tools) LeaderSet(_ context.Context, settings map[string]string) error {
	if t.wrote = t.fails == nil; t.wrote {
		t.written = settings
	}
	return t.fails
}

func (t *tools) RelationSetApp(_ context.Context, _ string, values map[string]string) error {
	t.written = values
	return nil
}

const (
	first  raft.ID = "5418e1b5-284d-47b2-9acc-fb82170132ed"
	second raft.ID = "6418e1b5-284d-47b2-9acc-fb82170132ed"
	third  raft.ID = "7418e1b5-284d-47b2-9acc-fb82170132ed"
)

// leader returns a manager that asked Juju that long ago.
func leader(t *testing.T, juju *tools, age time.Duration) *Manager {
	t.Helper()
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	log := slog.New(slog.DiscardHandler)
	state, err := unitstate.Open(filepath.Join(t.TempDir(), "state"), log)
	require.NoError(t, err)
	m := &Manager{
		Juju: juju, Unit: "ovn-central/0", Now: func() time.Time { return now }, State: state, Log: log,
		Leads: true, asked: now.Add(-age), relations: []string{"ovsdb-peer:0"},
	}
	m.Clusters = relation.Clusters{IDs: map[ovndb.Database]raft.ID{ovndb.NB: first, ovndb.SB: second}}
	m.Accepted = map[ovndb.Database]recovery.Acceptance{ovndb.NB: {Cluster: first, Unit: "ovn-central/0"}}
	return m
}

// A step on a large database may take minutes. A write after it depends on data that were read before it, so the
// manager finds out whether another unit has been the leader meanwhile and has published anything.
func TestConfirm(t *testing.T) {
	t.Parallel()
	supersede := func(p *published) { p.Clusters = p.Clusters.Supersede(ovndb.NB, third, "ovn-central/1") }
	accept := func(p *published) { p.Accepted = map[ovndb.Database]recovery.Acceptance{} }
	for name, tt := range map[string]struct {
		age   time.Duration
		leads bool
		other func(*published)
		fails bool
		reads bool
	}{
		"it was read just now":                {age: time.Second, leads: true},
		"it leads, and nothing was published": {age: time.Minute, leads: true, reads: true},
		"it leads no more":                    {age: time.Minute, fails: true},
		"another has published a cluster":     {time.Minute, true, supersede, true, true},
		"another has accepted a request":      {time.Minute, true, accept, true, true},
	} {
		juju := &tools{leads: tt.leads}
		m := leader(t, juju, tt.age)
		other := m.published
		if tt.other != nil {
			tt.other(&other)
		}
		juju.settings = other.asSettings()
		err := m.Confirm(t.Context())
		assert.Equal(t, tt.reads, juju.readIt, name)
		assert.Equal(t, tt.fails, m.stale(), name)
		if tt.fails {
			require.ErrorIs(t, err, ErrStale, name)
			continue
		}
		require.NoError(t, err, name)
	}
}

func TestSupersede(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		juju   error
		want   error
		leads  bool
		writes map[string]string
		now    raft.ID
	}{
		"the leader":         {leads: true, writes: map[string]string{"nb_cid": string(third)}, now: third},
		"another unit leads": {juju: juju.ErrNotLeader, now: first},
		"without leader settings": {
			juju.ErrNoTool, ErrLater, true,
			map[string]string{"claim-ovn-central-0": string(third)},
			first,
		},
	} {
		juju := &tools{fails: tt.juju}
		m := leader(t, juju, 0)
		require.ErrorIs(t, m.Supersede(t.Context(), ovndb.NB, third, m.Unit), tt.want, name)
		assert.Equal(t, tt.leads, m.Leads, name)
		assert.Equal(t, tt.now, m.Clusters.IDs[ovndb.NB], name)
		for key, value := range tt.writes {
			assert.Equal(t, value, juju.written[key], name)
		}
		if tt.now == third {
			assert.Equal(t, string(third), section.Get(m.State).LeaderSettings["nb_cid"], name)
		}
	}
}
