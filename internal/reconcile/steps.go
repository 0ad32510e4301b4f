package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// Waits for what a step has begun. All end early, and none is relied on: the next
// hook looks again.
const (
	// joinPatience is how long a server that was started may take to become a
	// member; it takes 50 ms, and longer where the database is large.
	joinPatience = 30 * time.Second
	// leaderConnectionPatience is the same for one that this hook did not start, and is a
	// member that its leader has yet to reach.
	leaderConnectionPatience = 12 * time.Second
	// restartPatience is the same for a member that was restarted, during which no
	// other unit may have its turn.
	restartPatience = 2 * time.Minute
	// northdPatience is the same for ovn-northd, which connects within milliseconds.
	northdPatience = 3 * time.Second
	// northdReturns is the same for one that has found no server, and waits up to 8 s before
	// it tries again (max_backoff in OVS's lib/reconnect.c).
	northdReturns = 10 * time.Second
	// timerPatience is the same for a change of the election timer, which is
	// committed like any other entry; a large database adds to it.
	timerPatience = 2 * time.Second
)

// apply makes one step.
func (u *Reconciler) apply(ctx context.Context, p pass, s plan.Step) error {
	r, a, o := p.record, p.inputs, p.result
	db := s.Database
	switch s.Kind {
	case plan.Install:
		clear(p.progress.schemas)
		return r.packages.Install(ctx, a.packagesSnapshot())
	case plan.Upgrade:
		clear(p.progress.schemas)
		return r.packages.Upgrade(ctx, a.packagesSnapshot())
	case plan.TrustCA, plan.InstallCertificate, plan.DropCAs:
		return u.installCertificate(ctx, p, s.Kind)
	case plan.WriteDefaults:
		return u.writeDefaults(p)
	case plan.WriteNorthdParams:
		return u.writeNorthdParams(p)
	case plan.StageCluster:
		_, err := u.Files.CreateCluster(ctx, db, ovndb.RaftAddress(db, a.address.String()), s.Timer)
		return err
	case plan.PublishClusters:
		return u.claim(ctx, p, s.IDs)
	case plan.CommitCluster:
		return u.Files.Commit(db)
	case plan.DiscardCluster:
		return u.discard(r, o, db)
	case plan.JoinCluster:
		return u.Files.JoinCluster(ctx, db, s.Cluster, ovndb.RaftAddress(db, a.address.String()), s.Remotes)
	case plan.Leave:
		return u.Members.LeaveRemoved(ctx, o.Snapshot.Application, server(o, db))
	case plan.ArchiveFile:
		return u.archive(ctx, p, db)
	case plan.StopServer:
		return u.stopFor(ctx, r, db, s.Unit)
	case plan.ReleaseServer:
		delete(r.Held, db)
		return nil
	case plan.AcceptRecovery:
		return u.acceptRecovery(ctx, p, s)
	case plan.RemakeCluster:
		return u.remake(ctx, p, db)
	case plan.Supersede:
		return u.supersede(ctx, p, s)
	case plan.RemoveDamaged:
		return u.removeDamaged(ctx, o, s)
	case plan.WithdrawRequest:
		r.Note(db, r.Attempts[db].Withdraws(s.Why))
		return nil
	case plan.Start:
		return u.start(ctx, p, s.Services)
	case plan.ConfigureListeners:
		want := u.wantedListeners(a, o.Snapshot.Application, db)
		_, err := u.Dialer.EnsureConnections(ctx, db, want, "unix:"+u.Paths.Socket(db))
		return err
	case plan.NoteSuperseded:
		return u.noteSuperseded(ctx, p, db)
	case plan.ConvertSchema:
		return u.convert(ctx, p, s)
	case plan.SetElectionTimer:
		return u.setTimer(ctx, db, s.Timer)
	case plan.Restart:
		return u.restart(ctx, r, o, s.Service)
	case plan.RewriteFile:
		return u.rewriteFile(ctx, p.progress, db)
	case plan.ConfigureFirewall:
		_, err := r.firewall.Ensure(ctx, p.firewallSnapshot())
		return err
	}
	return fmt.Errorf("no such step")
}

// installCertificate writes the certificates' files, under the lock of both databases if the servers are members: no
// other unit's server may be down meanwhile.
func (u *Reconciler) installCertificate(ctx context.Context, p pass, kind plan.Kind) error {
	o := p.result
	locked := true
	var served []ovndb.Database
	for _, db := range ovndb.Databases() {
		if o.state.Databases[db].ClientsServed {
			served = append(served, db)
		}
		locked = locked && server(o, db).Member() && server(o, db).Status.HasLeader()
	}
	install := func(ctx context.Context) error {
		return p.record.certificates.Install(ctx, kind, p.inputs.address, served)
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
func (u *Reconciler) claim(ctx context.Context, p pass, ids map[ovndb.Database]raft.ID) error {
	r, g, o := p.record, p.progress, p.result
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
func (u *Reconciler) discard(r *record, o Result, db ovndb.Database) error {
	if staged := o.state.Databases[db].Staged; db == ovndb.NB && staged == o.state.Claim && staged != "" {
		r.Withdrawn = staged
		if err := u.saveRecord(r); err != nil {
			return err
		}
	}
	return u.Files.Discard(db)
}

// claimLater publishes the IDs where Juju has no leader settings any more, as the
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

// pollInterval is how often [await] looks.
const pollInterval = 25 * time.Millisecond

// await is [poll.Until] for so long.
func await(ctx context.Context, patience time.Duration, look func() error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return poll.Until(ctx, pollInterval, look)
}
