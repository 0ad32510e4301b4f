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

// leadership is how long Juju keeps a unit the leader after it has said so (is-leader in Juju's reference of hook
// tools: 30 s), less a margin. The settings are read once a hook: after that time another leader may have claimed its
// own clusters.
const leadership = 20 * time.Second

var (
	// ErrStale means that another unit may lead by now.
	ErrStale = errors.New("this unit may no longer be Juju's leader; the next hook continues")
	// ErrLater means that Juju writes the clusters' IDs at the end of the hook.
	ErrLater = errors.New("the clusters' IDs are published when this hook ends; the next hook continues")
)

func (m *Manager) stale() bool { return m.Now().After(m.asked.Add(leadership)) }

// Confirm returns an error unless this unit is Juju's leader and has been since the published data were read: call it
// right before what follows from these is written. A step may take as long as a database is large, so after the time in
// which Juju promises the leadership it is asked again. It reads the settings once a hook, and again after a write; so
// one that never changes is written first. If the others are as they were, none has led meanwhile and published
// anything. Juju 4 has none to be read again: there the next hook continues.
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

// Claim publishes the IDs of the application's first clusters, which a unit has created. It is for the leader, and what
// it has written is there even if this hook fails.
func (m *Manager) Claim(ctx context.Context, ids map[ovndb.Database]raft.ID, by string) error {
	if m.stale() {
		return ErrStale
	}
	return m.publish(ctx, relation.Clusters{IDs: ids, Superseded: m.Clusters.Superseded, CreatedBy: by})
}

// Supersede puts a unit's new cluster in the place of the old one, for all units. Call [Manager.Confirm] first.
func (m *Manager) Supersede(ctx context.Context, db ovndb.Database, cluster raft.ID, by string) error {
	return m.publish(ctx, m.Clusters.Supersede(db, cluster, by))
}

// publish publishes the clusters. Without leader settings they become the application's data: Juju writes these when
// the hook has ended well, and only of the leader. So nothing may run on them before a later hook has read them.
func (m *Manager) publish(ctx context.Context, c relation.Clusters) error {
	settings := c.Settings()
	after := m.published
	after.Clusters = c
	if later, err := m.set(ctx, settings, after); err != nil || !later {
		return err
	}
	if c.CreatedBy == m.Unit {
		maps.Copy(settings, relation.Claim(m.Unit, c.IDs[ovndb.NB]))
	}
	if err := m.setApplicationData(ctx, settings); err != nil {
		return err
	}
	m.Migrated = false // those from before must not be written over them
	return ErrLater
}

// Accept publishes that a recovery is carried out.
func (m *Manager) Accept(ctx context.Context, db ovndb.Database, accepted recovery.Acceptance) error {
	if err := m.Confirm(ctx); err != nil {
		return err
	}
	settings := relation.Accepted(map[ovndb.Database]recovery.Acceptance{db: accepted})
	after := m.published
	after.Accepted = maps.Clone(m.Accepted)
	after.Accepted[db] = accepted
	later, err := m.set(ctx, settings, after)
	if err != nil || !later {
		return err
	}
	if err := m.setApplicationData(ctx, settings); err != nil {
		return err
	}
	m.published = after
	m.remember(after.asSettings())
	return nil
}

// set writes leader settings, after which the published data are those. A unit that is not the leader any more writes
// nothing: another one leads by now, and publishes its own. later reports whether Juju has no leader settings.
func (m *Manager) set(ctx context.Context, settings map[string]string, after published) (later bool, err error) {
	err = m.Juju.LeaderSet(ctx, settings)
	switch {
	case errors.Is(err, juju.ErrNotLeader):
		m.Leads = false
		return false, nil
	case errors.Is(err, juju.ErrNoTool):
		return true, nil
	case err != nil:
		return false, err
	}
	m.published = after
	m.remember(after.asSettings())
	return false, nil
}

// setApplicationData writes the application's data on the relation of the units.
func (m *Manager) setApplicationData(ctx context.Context, settings map[string]string) error {
	for _, id := range m.relations {
		if err := m.Juju.RelationSetApp(ctx, id, settings); err != nil {
			return err
		}
	}
	return nil
}
