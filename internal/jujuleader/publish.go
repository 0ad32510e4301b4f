package jujuleader

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// leadership is how long a unit stays the leader after Juju has confirmed it (30 s by Juju's reference of is-leader),
// less a margin. The settings are read once a hook: after that time another leader may have claimed its own clusters.
const leadership = 20 * time.Second

var (
	// ErrStale means that another unit may lead by now.
	ErrStale = errors.New("this unit may no longer be Juju's leader; the next hook continues")
	// ErrLater means that Juju writes the clusters' IDs at the end of the hook.
	ErrLater = errors.New("the clusters' IDs are published when this hook ends; the next hook continues")
)

func (m *Manager) stale() bool { return m.Now().After(m.asked.Add(leadership)) }

// Confirm returns an error unless this unit is Juju's leader and has been since the published data were read. Call it
// right before a write that depends on these data. A step on a large database may outlast the time for which Juju
// guarantees the leadership; then Confirm asks again. Juju reads the settings once a hook, and again after a write, so
// Confirm first writes a setting that never changes. If the others are unchanged, no other leader has published
// anything. Juju 4 has no settings to read again: there the next hook continues.
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

// Claim publishes the IDs of the application's first clusters, which a unit has created. It is for the leader. Leader
// settings stay written even if this hook fails.
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
// for the leader, after the hook has succeeded. So nothing may depend on them before a later hook has read them.
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

// set writes leader settings, after which the published data are after. A unit that no longer leads writes nothing:
// another one leads, and publishes its own. If Juju has no leader settings, set writes the application's data instead,
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
