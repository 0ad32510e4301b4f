// Package jujuleader reads and publishes what Juju's leader decides for all units: which clusters are the
// application's, and which recoveries are carried out.
package jujuleader

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Juju has the tools of Juju that the manager needs.
type Juju interface {
	IsLeader(ctx context.Context) (bool, error)
	LeaderGet(ctx context.Context) (map[string]string, error)
	LeaderSet(ctx context.Context, settings map[string]string) error
	RelationSetApp(ctx context.Context, id string, values map[string]string) error
}

// Manager reads what Juju's leader has published, and publishes as the leader. It lives for one hook.
type Manager struct {
	Juju  Juju
	Unit  string
	Now   func() time.Time
	State *unitstate.State
	Log   *slog.Logger
	published
	// Leads is what Juju has last said; false also once it has refused what only the leader may.
	Leads bool
	// asked is when Juju said that, before the published data were read.
	asked time.Time
	// relations are the IDs of the relation of the units.
	relations []string
}

// published is what Juju's leader has published, and what this unit has since.
type published struct {
	Clusters relation.Clusters
	// Problem is what is wrong with the clusters' IDs.
	Problem string
	// Accepted are the recoveries that are carried out.
	Accepted map[ovndb.Database]recovery.Acceptance
	// Migrated reports whether only the units' records have the clusters' IDs: Juju has no leader settings any more,
	// and the application's data don't have them yet.
	Migrated bool
	// Blind reports whether the data could not be read in this hook, so that they are those from before. Unrelated
	// reports whether there are none from before either.
	Blind, Unrelated bool
}

// kept is what is remembered of the application's clusters.
type kept struct {
	// LeaderSettings are the settings of the Juju leader, as last read.
	LeaderSettings map[string]string `json:"leader-settings,omitempty"`
	// Withdrawn is the Northbound cluster that this unit has claimed and put away since.
	Withdrawn raft.ID `json:"withdrawn,omitempty"`
}

var section = unitstate.NewSection[kept]("clusters")

func (m *Manager) remember(settings map[string]string) {
	k := section.Get(m.State)
	k.LeaderSettings = settings
	_ = section.Set(m.State, k) // texts only
}

// Withdrawn is the Northbound cluster that this unit has claimed and put away since.
func (m *Manager) Withdrawn() raft.ID { return section.Get(m.State).Withdrawn }

// Withdraw remembers that this unit has put away a cluster that it has claimed.
func (m *Manager) Withdraw(cluster raft.ID) {
	k := section.Get(m.State)
	k.Withdrawn = cluster
	_ = section.Set(m.State, k) // texts only
}

// Ask asks Juju whether this unit is the leader.
func (m *Manager) Ask(ctx context.Context) (err error) {
	m.asked = m.Now()
	m.Leads, err = m.Juju.IsLeader(ctx)
	return err
}

// Read reads what the leader has published, after [Manager.Ask]. It is what it was if thorough is not set.
func (m *Manager) Read(ctx context.Context, a observe.Application, thorough bool) error {
	m.relations, m.published = a.Relations, published{}
	settings, err := m.settings(ctx, a.AppData, thorough)
	if err != nil {
		return err
	}
	for _, key := range relation.SupersedeThemselves(settings) {
		m.Log.WarnContext(ctx, "a leader setting names the application's own cluster as one that was replaced; ignoring that",
			"setting", key)
	}
	m.parse(settings)
	if len(m.Clusters.IDs) == len(ovndb.Databases()) {
		m.remember(settings)
	}
	return nil
}

// ReadForStop is Read for the hook `stop`, which needs no relation. It reports whether Juju could not be asked.
func (m *Manager) ReadForStop(ctx context.Context, a observe.Application) (unread bool) {
	if err := m.Read(ctx, a, true); err != nil {
		m.Log.WarnContext(ctx, "cannot read the clusters' IDs; continuing with those from before", "error", err)
		m.parse(section.Get(m.State).LeaderSettings)
		m.Blind = true
	}
	if m.Problem != "" {
		m.Log.WarnContext(ctx, "cannot use the clusters' IDs", "problem", m.Problem)
		m.Clusters = relation.Clusters{}
		return true
	}
	return m.Blind
}

// settings are what the leader has published; the remembered ones if they are not asked for, or can't be read.
func (m *Manager) settings(ctx context.Context, data relation.Data, thorough bool) (map[string]string, error) {
	remembered := section.Get(m.State).LeaderSettings
	if !thorough && len(remembered) > 0 {
		return remembered, nil
	}
	settings, err := m.Juju.LeaderGet(ctx)
	if !errors.Is(err, juju.ErrNoTool) {
		return settings, err
	}
	// Juju 4 has no leader settings any more. Without the relation there is nothing to be read, which doesn't tell what
	// exists.
	if data.Unread() {
		m.Blind, m.Unrelated = true, len(remembered) == 0
		return remembered, nil
	}
	// A model that was migrated from Juju 3 has lost them, and its clusters are there.
	clusters, problems := relation.ParseClusters(data.Values())
	if len(clusters.IDs) == 0 && len(problems) == 0 && len(remembered) > 0 {
		m.Migrated = true
		return remembered, nil
	}
	return data.Values(), nil
}

// parse parses the settings. Damaged ones must not look as if there were no clusters: the leader would create new ones.
func (m *Manager) parse(settings map[string]string) {
	clusters, problems := relation.ParseClusters(settings)
	m.Clusters, m.Accepted, m.Problem = clusters, relation.ParseAccepted(settings), ""
	switch {
	case len(problems) > 0:
		m.Problem = problems[0]
	case len(clusters.IDs) == 1:
		m.Problem = "the leader settings name one cluster only"
	}
}

// asSettings are the published data as leader settings.
func (p published) asSettings() map[string]string {
	settings := p.Clusters.Settings()
	maps.Copy(settings, relation.Accepted(p.Accepted))
	return settings
}
