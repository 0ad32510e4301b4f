package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
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
	plan.Start:       (*Reconciler).start,
	plan.Restart:     (*Reconciler).restartStep,
	plan.ArchiveFile: (*Reconciler).archive,
	plan.RewriteFile: func(_ *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return p.record.steps.RewriteFile(ctx, s.Database)
	},
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
	plan.AcceptRecovery: func(_ *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return p.record.leader.Accept(ctx, s.Database, p.result.state.Recovery[s.Database].Accept(s.Unit))
	},
	plan.StopServer: func(_ *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return p.record.recovery.Stop(ctx, s.Database, s.Unit)
	},
	plan.ReleaseServer: func(_ *Reconciler, _ context.Context, p pass, s plan.Step) error {
		delete(p.record.recovery.Held, s.Database)
		return nil
	},
	plan.RemakeCluster: func(_ *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		superseded := p.record.leader.Clusters.Supersede(s.Database, "", "").Superseded[s.Database]
		address := ovndb.RaftAddress(s.Database, p.result.Addresses.Own.String())
		return p.record.recovery.Remake(ctx, s.Database, address, p.result.fromJuju.Settings.ElectionTimer, superseded)
	},
	plan.Supersede: func(_ *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		leader := p.record.leader
		if err := leader.Confirm(ctx); err != nil {
			return err
		}
		if err := p.record.recovery.MayReplace(ctx, p.result.Snapshot.Snapshot, p.result.state, s.Database, s.Unit); err != nil {
			return err
		}
		return leader.Supersede(ctx, s.Database, s.Cluster, s.Unit)
	},
	plan.NoteSuperseded: func(u *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return u.noteSuperseded(ctx, p, s.Database)
	},
	plan.RemoveDamaged: func(_ *Reconciler, ctx context.Context, p pass, s plan.Step) error {
		return p.record.steps.RemoveMember(ctx, p.result.Application, s)
	},
	plan.WithdrawRequest: func(_ *Reconciler, _ context.Context, p pass, s plan.Step) error {
		r := p.record.recovery
		r.Note(s.Database, r.Attempts[s.Database].Withdraws(s.Why))
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
	return p.record.steps.Archive(ctx, p.result.Servers[s.Database], len(p.record.leader.Clusters.Superseded[s.Database]) > 0)
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

// claim publishes the clusters' IDs.
func (u *Reconciler) claim(ctx context.Context, p pass, s plan.Step) error {
	state, by := p.result.state, ""
	if len(s.IDs) == len(ovndb.Databases()) && state.Databases[ovndb.NB].Staged == s.IDs[ovndb.NB] {
		by = u.Env.Unit
	}
	for _, peer := range state.Peers {
		if peer.Claim != "" && peer.Claim == s.IDs[ovndb.NB] {
			by = peer.Unit
		}
	}
	return p.record.leader.Claim(ctx, s.IDs, by)
}

// discard puts away a cluster that was not put into its place. That this unit has
// claimed it is taken back first, in its record, and so with the end of this hook or of
// a later one: the unit that claims clusters now waits for it.
func (u *Reconciler) discard(_ context.Context, p pass, s plan.Step) error {
	r, o, db := p.record, p.result, s.Database
	if staged := o.state.Databases[db].Staged; db == ovndb.NB && staged == o.state.Claim && staged != "" {
		r.leader.Withdraw(staged)
		if err := u.saveRecord(r); err != nil {
			return err
		}
	}
	return u.Files.Discard(db)
}
