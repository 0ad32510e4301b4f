package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/steps"
)

// stepFunctions make the steps, by kind.
var stepFunctions = map[plan.Kind]func(*Reconciler, context.Context, pass, plan.Step) error{
	plan.Install: func(_ *Reconciler, ctx context.Context, p pass, _ plan.Step) error {
		p.record.schemas.Forget(ovndb.Databases()...)
		return p.record.packages.Install(ctx, p.result.packagesSnapshot())
	},
	plan.Upgrade: func(_ *Reconciler, ctx context.Context, p pass, _ plan.Step) error {
		p.record.schemas.Forget(ovndb.Databases()...)
		return p.record.packages.Upgrade(ctx, p.result.packagesSnapshot())
	},
	plan.TrustCA:            (*Reconciler).installCertificate,
	plan.InstallCertificate: (*Reconciler).installCertificate,
	plan.DropCAs:            (*Reconciler).installCertificate,
	plan.WriteDefaults: func(_ *Reconciler, _ context.Context, p pass, _ plan.Step) error {
		o := p.result
		return p.record.steps.WriteDefaults(o.Addresses, o.state.Defaults, o.Servers)
	},
	plan.WriteNorthdParams: func(_ *Reconciler, _ context.Context, p pass, _ plan.Step) error {
		o := p.result
		restart := o.state.Services[ovndb.Northd].Active && o.state.NorthdParams == plan.NeedsRestart
		return p.record.steps.WriteNorthdParams(o.Addresses, o.Snapshot.Snapshot, restart)
	},
	plan.ConfigureFirewall: func(_ *Reconciler, ctx context.Context, p pass, _ plan.Step) error {
		_, err := p.record.firewall.Ensure(ctx, p.firewallSnapshot())
		return err
	},
	plan.ConfigureListeners: func(_ *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return p.record.steps.EnsureListeners(ctx, p.result.listeners(), s.Database)
	},
	plan.Start:         (*Reconciler).start,
	plan.Restart:       (*Reconciler).restartStep,
	plan.ArchiveFile:   (*Reconciler).archive,
	plan.RewriteFile:   (*Reconciler).rewriteFile,
	plan.ConvertSchema: (*Reconciler).convert,
	plan.SetElectionTimer: func(_ *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return p.record.steps.SetTimer(ctx, s.Database, s.Timer)
	},
	plan.Leave: func(u *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return u.Members.LeaveRemoved(ctx, p.result.Application, p.result.Servers[s.Database])
	},
	// First clusters, and joins.
	plan.StageCluster: func(u *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		_, err := u.Files.CreateCluster(ctx, s.Database, ovndb.RaftAddress(s.Database, p.result.Addresses.Own.String()), s.Timer)
		return err
	},
	plan.PublishClusters: (*Reconciler).claim,
	plan.CommitCluster:   func(u *Reconciler, _ context.Context, _ pass, s plan.Step) error { return u.Files.Commit(s.Database) },
	plan.DiscardCluster:  (*Reconciler).discard,
	plan.JoinCluster: func(u *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return u.Files.JoinCluster(ctx, s.Database, s.Cluster, ovndb.RaftAddress(s.Database, p.result.Addresses.Own.String()), s.Remotes)
	},
	// Recoveries and restores.
	plan.AcceptRecovery: (*Reconciler).acceptRecovery,
	plan.StopServer: func(u *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return u.stopFor(ctx, p.record, s.Database, s.Unit)
	},
	plan.ReleaseServer: func(_ *Reconciler, _ context.Context, p pass, s plan.Step) error {
		delete(p.record.Held, s.Database)
		return nil
	},
	plan.RemakeCluster: func(u *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return u.remake(ctx, p, s.Database)
	},
	plan.Supersede: (*Reconciler).supersede,
	plan.NoteSuperseded: func(u *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return u.noteSuperseded(ctx, p, s.Database)
	},
	plan.RemoveDamaged: func(u *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return u.removeDamaged(ctx, p.result, s)
	},
	plan.WithdrawRequest: func(_ *Reconciler, _ context.Context, p pass, s plan.Step) error {
		p.record.Note(s.Database, p.record.Attempts[s.Database].Withdraws(s.Why))
		return nil
	},
}

// apply makes one step.
func (u *Reconciler) apply(ctx context.Context, p pass, s plan.Step) error {
	do, is := stepFunctions[s.Kind]
	if !is {
		return fmt.Errorf("no such step")
	}
	return do(u, ctx, p, s)
}

// listeners are what the rows of the listeners are made of.
func (o Snapshot) listeners() steps.Listeners {
	return steps.Listeners{Probe: o.fromJuju.Settings.InactivityProbe, Units: append(o.Application.PeerAddresses(), o.Addresses.Own)}
}

// start starts services.
func (u *Reconciler) start(ctx context.Context, p pass, s plan.Step) error {
	installed, _, err := p.record.packages.Installed(ctx)
	if err != nil {
		return err
	}
	return p.record.steps.Start(ctx, installed, s.Services)
}

func (u *Reconciler) restartStep(ctx context.Context, p pass, s plan.Step) error {
	return u.restart(ctx, p.record, p.result.Snapshot.Snapshot, s.Service)
}

// restart restarts a service. Another process may have changed the packages since they were looked at.
func (u *Reconciler) restart(ctx context.Context, r *record, snapshot observe.Snapshot, service ovndb.Service) error {
	installed, _, err := u.Packages.Installed(ctx)
	if err != nil {
		return err
	}
	return r.steps.Restart(ctx, snapshot, installed, service)
}

func (u *Reconciler) archive(ctx context.Context, p pass, s plan.Step) error {
	return p.record.steps.Archive(ctx, p.result.Servers[s.Database], len(p.progress.clusters.Superseded[s.Database]) > 0)
}

// rewriteFile has a server whose file lacks entries rewrite it. What hinders it is kept
// for the decision, which then shows it.
func (u *Reconciler) rewriteFile(ctx context.Context, p pass, s plan.Step) error {
	lost, err := p.record.steps.RewriteFile(ctx, s.Database)
	if lost != "" {
		p.progress.unmended[s.Database] = lost
	}
	return err
}

// convert brings a database to the schema of the packages. It compares once more right
// before: what a hook that was killed has begun may have ended since.
func (u *Reconciler) convert(ctx context.Context, p pass, s plan.Step) error {
	db, o := s.Database, p.result
	x := o.state.Databases[db]
	p.record.schemas.Forget(db)
	needed, err := u.Files.NeedsConversion(ctx, db)
	if err != nil || !needed {
		return err
	}
	most := plan.ConversionTimer(x.Size, x.Runs)
	if err := u.Tools.StatusSet(ctx, juju.Maintenance, fmt.Sprintf("%s: its schema is being converted; its clients may wait for up to %d s", db.Short(), most/time.Second)); err != nil {
		u.Log.WarnContext(ctx, "cannot set the status", "error", err)
	}
	return u.Members.Convert(ctx, o.Snapshot.Application, db, o.state.Packages.Version.String(), s.Timer)
}

// installCertificate writes the certificates' files, under the lock of both databases if the servers are members: no
// other unit's server may be down meanwhile.
func (u *Reconciler) installCertificate(ctx context.Context, p pass, s plan.Step) error {
	o := p.result
	locked := true
	var served []ovndb.Database
	for _, db := range ovndb.Databases() {
		if o.state.Databases[db].ClientsServed {
			served = append(served, db)
		}
		locked = locked && o.Servers[db].Member() && o.Servers[db].Status.HasLeader()
	}
	install := func(ctx context.Context) error {
		return p.record.certificates.Install(ctx, s.Kind, p.result.Addresses.Own, served)
	}
	if !locked {
		return install(ctx) // nothing is lost that way, and maybe everything won
	}
	return u.Members.WithLocks(ctx, o.Snapshot.Application, ovndb.Databases(), false, func(ctx context.Context, _ membership.Gate) error { return install(ctx) })
}

// jujuLeadership is how long Juju keeps a unit the leader after it has said so
// (is-leader in Juju's reference of hook tools: 30 s); less a margin. The settings
// of the leader are read once a hook: after that time another leader may have
// claimed its own clusters.
const jujuLeadership = 20 * time.Second

var errStale = errors.New("this unit may no longer be Juju's leader; the next hook continues")

// claim publishes the clusters' IDs. Only a leader can, and what it has written
// is there even if this hook fails.
func (u *Reconciler) claim(ctx context.Context, p pass, s plan.Step) error {
	r, g, o, ids := p.record, p.progress, p.result, s.IDs
	c := relation.Clusters{IDs: ids, Superseded: g.clusters.Superseded}
	if len(ids) == len(ovndb.Databases()) && o.state.Databases[ovndb.NB].Staged == ids[ovndb.NB] {
		c.CreatedBy = u.Env.Unit
	}
	for _, p := range o.state.Peers {
		if p.Claim != "" && p.Claim == ids[ovndb.NB] {
			c.CreatedBy = p.Unit
		}
	}
	if u.Now().After(g.at.Add(jujuLeadership)) {
		return errStale
	}
	err := u.Tools.LeaderSet(ctx, c.Settings())
	if errors.Is(err, juju.ErrNotLeader) {
		g.jujuLeader = false // another unit leads by now, and claims its own
		return nil
	}
	if errors.Is(err, juju.ErrNoTool) {
		return u.claimLater(ctx, p, c)
	}
	if err != nil {
		return err
	}
	g.clusters = c
	r.LeaderSettings = g.leaderSettings()
	return nil
}

// discard puts away a cluster that was not put into its place. That this unit has
// claimed it is taken back first, in its record, and so with the end of this hook or of
// a later one: the unit that claims clusters now waits for it.
func (u *Reconciler) discard(_ context.Context, p pass, s plan.Step) error {
	r, o, db := p.record, p.result, s.Database
	if staged := o.state.Databases[db].Staged; db == ovndb.NB && staged == o.state.Claim && staged != "" {
		r.Withdrawn = staged
		if err := u.saveRecord(r); err != nil {
			return err
		}
	}
	return u.Files.Discard(db)
}

// claimLater publishes the IDs if Juju has no leader settings any more, as the
// application's data: Juju writes them when the hook has ended well, and only of the
// leader. So nothing may run on them before a later hook has read them.
func (u *Reconciler) claimLater(ctx context.Context, p pass, c relation.Clusters) error {
	settings := c.Settings()
	if c.CreatedBy == u.Env.Unit {
		maps.Copy(settings, relation.Claim(u.Env.Unit, c.IDs[ovndb.NB]))
	}
	if err := u.setApplicationData(ctx, p, settings); err != nil {
		return err
	}
	p.progress.migrated = false // those from before must not be written over them
	return errClaimed
}

var errClaimed = errors.New("the clusters' IDs are published when this hook ends; the next hook continues")
