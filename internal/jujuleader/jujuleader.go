// Package jujuleader reads and publishes the decisions of Juju's leader for all units: the application's clusters, and
// the accepted recoveries.
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

// Manager reads the data that Juju's leader has published, and publishes as the leader. It is used during one hook.
type Manager struct {
	Juju  Juju
	Unit  string
	Now   func() time.Time
	State *unitstate.State
	Log   *slog.Logger
	published
	// Leads is Juju's last answer; it is false, too, once Juju has refused a leader's write.
	Leads bool
	// asked is the time of that answer, before the published data were read.
	asked time.Time
	// relations are the IDs of the peer relation.
	relations []string
}

// published has the data that Juju's leader has published, and those that this unit has written since.
type published struct {
	Clusters relation.Clusters
	// Problem is what is wrong with the clusters' IDs.
	Problem string
	// Accepted are the accepted recoveries.
	Accepted map[ovndb.Database]recovery.Acceptance
	// Migrated reports whether only the units' records have the clusters' IDs: Juju no longer has leader settings, and
	// the application's data don't have them yet.
	Migrated bool
	// Blind reports whether the data could not be read in this hook; then they are the remembered ones. Unrelated reports
	// whether none are remembered.
	Blind, Unrelated bool
}

// kept is the stored state.
type kept struct {
	// LeaderSettings are the settings of the Juju leader, as last read.
	LeaderSettings map[string]string `json:"leader-settings,omitempty"`
	// Withdrawn is the Northbound cluster that this unit has claimed and then put away.
	Withdrawn raft.ID `json:"withdrawn,omitempty"`
}

var section = unitstate.NewSection[kept]("clusters")

func (m *Manager) remember(settings map[string]string) {
	k := section.Get(m.State)
	k.LeaderSettings = settings
	_ = section.Set(m.State, k) // texts only
}

// Withdrawn is the Northbound cluster that this unit has claimed and then put away.
func (m *Manager) Withdrawn() raft.ID { return section.Get(m.State).Withdrawn }

// Withdraw records that this unit has put away a cluster that it has claimed.
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

// Read reads the leader's published data. Call [Manager.Ask] first. Unless thorough is set, it uses the remembered
// ones.
func (m *Manager) Read(ctx context.Context, a observe.Application, thorough bool) error {
	m.relations, m.published = a.Relations, published{}
	settings, err := m.settings(ctx, a.AppData, thorough)
	if err != nil {
		return err
	}
	for _, key := range relation.SupersedeThemselves(settings) {
		m.Log.WarnContext(ctx, "ignoring a leader setting that names the application's own cluster as replaced",
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

// settings returns the leader's published data; the remembered ones unless thorough is set, or if they can't be read.
func (m *Manager) settings(ctx context.Context, data relation.Data, thorough bool) (map[string]string, error) {
	remembered := section.Get(m.State).LeaderSettings
	if !thorough && len(remembered) > 0 {
		return remembered, nil
	}
	settings, err := m.Juju.LeaderGet(ctx)
	if !errors.Is(err, juju.ErrNoTool) {
		return settings, err
	}
	// Juju 4 has no leader settings. Without the relation no data can be read, which does not mean that none exist.
	if data.Unread() {
		m.Blind, m.Unrelated = true, len(remembered) == 0
		return remembered, nil
	}
	// A model that was migrated from Juju 3 has lost its settings, but still has its clusters.
	clusters, problems := relation.ParseClusters(data.Values())
	if len(clusters.IDs) == 0 && len(problems) == 0 && len(remembered) > 0 {
		m.Migrated = true
		return remembered, nil
	}
	return data.Values(), nil
}

// parse parses the settings. Damaged ones must not look like missing ones: the leader would create new clusters.
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
