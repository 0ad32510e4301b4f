package reconcile

import (
	"context"
	"errors"
	"maps"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// leaderSettings are those of the Juju leader, by what this unit knows.
func (g *progress) leaderSettings() map[string]string {
	settings := g.clusters.Settings()
	maps.Copy(settings, relation.Accepted(g.accepted))
	return settings
}

// confirmJujuLeader returns an error unless this unit is Juju's leader and has been since what the leader publishes was
// read: right before it writes what follows from that. A step may take as long as a database is large, and Juju promises
// the leadership for 30 s only ([jujuLeadership]). After that it is asked again. It reads the settings once a hook, and
// again after a write; so one that never changes is written first. If the others are as they were, none has led meanwhile
// and published anything. Juju 4 has none to be read again: there the next hook continues.
func (u *Reconciler) confirmJujuLeader(ctx context.Context, p pass) error {
	g := p.progress
	if !u.Now().After(g.at.Add(jujuLeadership)) {
		return nil
	}
	at := u.Now()
	leads, err := u.Tools.IsLeader(ctx)
	if err != nil {
		return err
	}
	if g.jujuLeader = leads; !leads {
		return errStale
	}
	err = u.Tools.LeaderSet(ctx, relation.Ready())
	var settings map[string]string
	if err == nil {
		settings, err = u.Tools.LeaderGet(ctx)
	}
	switch {
	case errors.Is(err, juju.ErrNotLeader):
		g.jujuLeader = false
		return errStale
	case errors.Is(err, juju.ErrNoTool):
		return errStale
	case err != nil:
		return err
	}
	read := &progress{accepted: relation.ParseAccepted(settings)}
	if read.clusters, _ = relation.ParseClusters(settings); !maps.Equal(read.leaderSettings(), g.leaderSettings()) {
		return errStale
	}
	g.at = at
	return nil
}

// acceptRecovery publishes, as Juju's leader, that the request of a unit is the one that is carried out, and asks the
// unit whether it is there.
func (u *Reconciler) acceptRecovery(ctx context.Context, p pass, s plan.Step) error {
	if err := u.confirmJujuLeader(ctx, p); err != nil {
		return err
	}
	g := p.progress
	accepted := p.result.state.Recovery[s.Database].Accept(s.Unit)
	settings := relation.Accepted(map[ovndb.Database]recovery.Acceptance{s.Database: accepted})
	err := u.Tools.LeaderSet(ctx, settings)
	if errors.Is(err, juju.ErrNoTool) { // Juju 4 writes it once the hook has ended
		err = u.setApplicationData(ctx, p, settings)
	}
	if errors.Is(err, juju.ErrNotLeader) {
		g.jujuLeader = false
		return nil
	}
	if err == nil {
		g.accepted[s.Database] = accepted
		p.record.LeaderSettings = g.leaderSettings()
	}
	return err
}

// setApplicationData writes the application's data on the relation of the units.
func (u *Reconciler) setApplicationData(ctx context.Context, p pass, settings map[string]string) error {
	for _, id := range p.result.Snapshot.Application.Relations {
		if err := u.Tools.RelationSetApp(ctx, id, settings); err != nil {
			return err
		}
	}
	return nil
}
