// Package jujuleader reads and publishes the decisions of Juju's leader for all units: the application's clusters, and
// the accepted recoveries.
package jujuleader

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/unitstate"
)

// Juju has the hook tools of Juju that the manager needs.
type Juju interface {
	IsLeader(ctx context.Context) (bool, error)
	LeaderGet(ctx context.Context) (map[string]string, error)
	LeaderSet(ctx context.Context, settings map[string]string) error
	RelationSetApp(ctx context.Context, id string, values map[string]string) error
}

// Manager reads the data that Juju's leader has published, and publishes data if this unit is the leader. It is used
// during one hook.
type Manager struct {
	Juju  Juju
	Unit  string
	Now   func() time.Time
	State *unitstate.State
	Log   *slog.Logger
	published
	// Leads is Juju's last answer. It is also false once Juju has refused a leader's write.
	Leads bool
	// asked is the time of that answer, taken before the published data were read.
	asked time.Time
	// relations are the IDs of the peer relation.
	relations []string
}

// published has the data that Juju's leader has published, including the data that this unit has written since.
type published struct {
	Clusters relation.Clusters
	// Problem describes what is wrong with the clusters' IDs.
	Problem finding.Reason
	// Accepted has the accepted recoveries.
	Accepted map[ovndb.Database]recovery.Acceptance
	// Migrated reports whether the clusters' IDs are in the units' records only: Juju no longer has leader settings, and
	// the application's data don't have the IDs yet.
	Migrated bool
	// Blind reports whether the data could not be read in this hook; then the remembered data are used. Unrelated reports
	// whether there are no remembered data.
	Blind, Unrelated bool
}

// kept is the stored state.
type kept struct {
	// LeaderSettings are the settings of the Juju leader, as last read.
	LeaderSettings map[string]string `json:"leader-settings,omitempty"`
	// Withdrawn is the Northbound cluster that this unit has claimed and then moved away.
	Withdrawn raft.ID `json:"withdrawn,omitempty"`
}

var section = unitstate.NewSection[kept]("clusters")

func (m *Manager) remember(settings map[string]string) {
	k := section.Get(m.State)
	k.LeaderSettings = settings
	_ = section.Set(m.State, k) // this can't fail for texts
}

// Withdrawn returns the Northbound cluster that this unit has claimed and then put away.
func (m *Manager) Withdrawn() raft.ID { return section.Get(m.State).Withdrawn }

// Withdraw records that this unit has moved away a cluster that it has claimed.
func (m *Manager) Withdraw(cluster raft.ID) {
	k := section.Get(m.State)
	k.Withdrawn = cluster
	_ = section.Set(m.State, k) // this can't fail for texts
}

// Ask asks Juju whether this unit is the leader.
func (m *Manager) Ask(ctx context.Context) (err error) {
	m.asked = m.Now()
	m.Leads, err = m.Juju.IsLeader(ctx)
	return err
}

// Read reads the leader's published data. Call [Manager.Ask] first. Unless thorough is set, Read uses the remembered
// data.
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

// ReadForStop is like Read, for the hook `stop`, which needs no relation. It reports whether it could not ask Juju.
func (m *Manager) ReadForStop(ctx context.Context, a observe.Application) (unread bool) {
	if err := m.Read(ctx, a, true); err != nil {
		m.Log.WarnContext(ctx, "cannot read the clusters' IDs; continuing with those from before", "error", err)
		m.parse(section.Get(m.State).LeaderSettings)
		m.Blind = true
	}
	if !m.Problem.IsZero() {
		m.Log.WarnContext(ctx, "cannot use the clusters' IDs", "problem", m.Problem.String())
		m.Clusters = relation.Clusters{}
		return true
	}
	return m.Blind
}

// settings returns the leader's published data. It returns the remembered data if thorough is not set, or if reading
// fails.
func (m *Manager) settings(ctx context.Context, data relation.Data, thorough bool) (map[string]string, error) {
	remembered := section.Get(m.State).LeaderSettings
	if !thorough && len(remembered) > 0 {
		return remembered, nil
	}
	settings, err := m.Juju.LeaderGet(ctx)
	if !errors.Is(err, juju.ErrNoTool) {
		return settings, err
	}
	// Juju 4 has no leader settings. Without the relation no data can be read; that does not mean that none exist.
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

// parse parses the settings. Damaged settings must not look like missing ones: the leader would create new clusters.
func (m *Manager) parse(settings map[string]string) {
	clusters, problems := relation.ParseClusters(settings)
	m.Clusters, m.Accepted, m.Problem = clusters, relation.ParseAccepted(settings), finding.Reason{}
	switch {
	case len(problems) > 0:
		m.Problem = problems[0]
	case len(clusters.IDs) == 1:
		m.Problem = finding.Reason{Code: finding.SettingsOfOne}
	}
}

func (p published) asSettings() map[string]string {
	settings := p.Clusters.Settings()
	maps.Copy(settings, relation.Accepted(p.Accepted))
	return settings
}

// leadership is how long a unit stays the leader after Juju has confirmed it (30 s according to Juju's reference of
// is-leader), less a margin. Juju reads the settings once a hook: after that time another leader may have claimed its
// own clusters.
const leadership = 20 * time.Second

var (
	// ErrStale means that another unit may be the leader by now.
	ErrStale = errors.New("this unit may no longer be Juju's leader; the next hook continues")
	// ErrLater means that Juju writes the clusters' IDs at the end of the hook.
	ErrLater = errors.New("the clusters' IDs are published when this hook ends; the next hook continues")
)

func (m *Manager) stale() bool { return m.Now().After(m.asked.Add(leadership)) }

// Confirm returns an error unless this unit is Juju's leader and has been since the published data were read. Call it
// right before a write that depends on these data.
//
// A step on a large database may outlast the time for which Juju guarantees the leadership; then Confirm asks again.
// Juju reads the settings once a hook, and again after a write, so Confirm first writes a setting that never changes.
// If the other settings are unchanged, no other leader has published anything. Juju 4 has no settings to read again:
// there the next hook continues.
func (m *Manager) Confirm(ctx context.Context) error {
	if !m.stale() {
		return nil
	}
	at := m.Now()
	leads, err := m.Juju.IsLeader(ctx)
	if err != nil {
		return err
	}
	if m.Leads = leads; !leads {
		return ErrStale
	}
	err = m.Juju.LeaderSet(ctx, relation.Ready())
	var settings map[string]string
	if err == nil {
		settings, err = m.Juju.LeaderGet(ctx)
	}
	switch {
	case errors.Is(err, juju.ErrNotLeader):
		m.Leads = false
		return ErrStale
	case errors.Is(err, juju.ErrNoTool):
		return ErrStale
	case err != nil:
		return err
	}
	var now Manager
	if now.parse(settings); !maps.Equal(now.asSettings(), m.asSettings()) {
		return ErrStale
	}
	m.asked = at
	return nil
}

// Claim publishes the IDs of the application's first clusters, which a unit has created. Only the leader may call it.
// Leader settings stay written even if this hook fails.
func (m *Manager) Claim(ctx context.Context, ids map[ovndb.Database]raft.ID, by string) error {
	if m.stale() {
		return ErrStale
	}
	return m.publish(ctx, relation.Clusters{IDs: ids, Superseded: m.Clusters.Superseded, CreatedBy: by})
}

// Supersede publishes that a unit's new cluster replaces the old one. Call [Manager.Confirm] first.
func (m *Manager) Supersede(ctx context.Context, db ovndb.Database, cluster raft.ID, by string) error {
	return m.publish(ctx, m.Clusters.Supersede(db, cluster, by))
}

// publish publishes the clusters. Without leader settings they become the application's data, which Juju writes only
// for the leader, after the hook has succeeded. So nothing may depend on them until a later hook has read them.
func (m *Manager) publish(ctx context.Context, c relation.Clusters) error {
	settings, claimed, after := c.Settings(), c.Settings(), m.published
	if c.CreatedBy == m.Unit {
		maps.Copy(claimed, relation.Claim(m.Unit, c.IDs[ovndb.NB]))
	}
	after.Clusters = c
	later, err := m.set(ctx, settings, claimed, after)
	if !later || err != nil {
		return err
	}
	m.Migrated = false // the remembered IDs must not overwrite the new ones
	return ErrLater
}

// Accept publishes an accepted recovery.
func (m *Manager) Accept(ctx context.Context, db ovndb.Database, accepted recovery.Acceptance) error {
	if err := m.Confirm(ctx); err != nil {
		return err
	}
	settings := relation.Accepted(map[ovndb.Database]recovery.Acceptance{db: accepted})
	after := m.published
	after.Accepted = maps.Clone(m.Accepted)
	after.Accepted[db] = accepted
	if later, err := m.set(ctx, settings, settings, after); !later || err != nil {
		return err
	}
	m.published = after
	m.remember(after.asSettings())
	return nil
}

// set writes leader settings; with them, the published data are after. If this unit is no longer the leader, it writes
// nothing: the new leader publishes its own. If Juju has no leader settings, set writes the application's data instead,
// and later is true.
func (m *Manager) set(
	ctx context.Context, settings, applicationData map[string]string, after published,
) (later bool, err error) {
	err = m.Juju.LeaderSet(ctx, settings)
	switch {
	case errors.Is(err, juju.ErrNotLeader):
		m.Leads = false
		return false, nil
	case errors.Is(err, juju.ErrNoTool):
		for _, id := range m.relations {
			if err := m.Juju.RelationSetApp(ctx, id, applicationData); err != nil {
				return true, err
			}
		}
		return true, nil
	case err != nil:
		return false, err
	}
	m.published = after
	m.remember(after.asSettings())
	return false, nil
}
