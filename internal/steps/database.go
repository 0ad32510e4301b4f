package steps

import (
	"context"
	"net/netip"

	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// database is the state of a database on this unit.
func (u *Unit) database(ctx context.Context, o Snapshot, db ovndb.Database) (plan.Database, error) {
	l := o.Servers[db]
	x := plan.Database{
		Condition: l.Condition, Status: l.Status, Cluster: l.Identity().Cluster, Text: l.Text(), Cause: l.Cause,
		Starting: l.Starting, File: plan.File{Path: u.Paths.File(db)}, FileUnknown: l.FileErr != nil,
		Former: o.Application.Former[db].Unit,
	}
	if l.Condition != ovndb.Serving {
		return x, u.lookAtFiles(ctx, o, db, &x)
	}
	var err error
	if x.Damage, err = u.Observer.MissingEntries(ctx, l); err != nil {
		return x, err
	}
	x.Unmended = u.unmended[db]
	x.JoinLost = o.JoinIsLost(db, u.Now(), raftfile.Size(u.Paths.File(db)))
	if x.Inconsistent = o.Inconsistent(db); x.Inconsistent != "" {
		x.Rejoin = status.RejoinCommand(o.Application, o.Servers, db)
	}
	switch {
	case !x.Status.HasLeader():
		x.Removed = l.Member() && u.Observer.RemovedElsewhere(ctx, l, o.Cache)
	case x.Status.State == raft.JoiningCluster: // it knows the leader, and has no data yet
	case x.Inconsistent != "": // it may answer no client, and what it would answer is not the cluster's
	default:
		err = u.lookAtData(ctx, o, db, &x)
	}
	return x, err
}

// lookAtData adds the state of the data of a member that has a leader.
func (u *Unit) lookAtData(ctx context.Context, o Snapshot, db ovndb.Database, x *plan.Database) error {
	term := uint64(0)
	if x.IsRaftLeader() {
		term = x.Status.Term
		if o.Known.Problem == "" && o.Usable(plan.OptionInactivityProbe) {
			x.Listeners, x.WithoutTLS = u.compareListeners(ctx, o, db)
		}
		x.Superseded = u.supersededDrift(ctx, db)
	}
	x.SchemaFile, x.Socket, x.Size = u.Paths.Schema(db), u.Paths.Socket(db), raftfile.Size(u.Paths.File(db))
	installed, _, err := u.Packages.Installed(ctx)
	if err != nil {
		return err
	}
	if x.Schema = u.Schemas.Drift(ctx, db, installed, term, o.Thorough); x.Schema == plan.Drifted {
		if x.FreeDisk, err = machine.FreeSpace(u.Paths.DB); err != nil {
			return err
		}
		x.FreeMemory, _ = machine.AvailableMemory()
		if x.IsRaftLeader() {
			u.lookAtConversion(ctx, db, installed, x)
		}
	}
	u.lookAtClientPorts(ctx, o, db, x)
	return nil
}

// lookAtConversion adds what the leader must know before it converts the schema.
func (u *Unit) lookAtConversion(ctx context.Context, db ovndb.Database, installed ovndb.Version, x *plan.Database) {
	var err error
	log := u.Log.With("database", db.Short())
	if x.Tried, err = u.Members.TriedConversion(ctx, db, installed.String()); err != nil {
		log.WarnContext(ctx, "cannot read whether a conversion was tried; not converting the schema", "error", err)
		x.Schema = "" // left alone until that is known
	}
	if x.Runs, err = u.Control.Version(ctx, db); err != nil {
		log.WarnContext(ctx, "cannot read the server's version; treating it as old", "error", err)
	}
}

// lookAtClientPorts reports whether clients can connect at this unit's address, and whether they have more rights
// than their role.
func (u *Unit) lookAtClientPorts(ctx context.Context, o Snapshot, db ovndb.Database, x *plan.Database) {
	own, ports := o.Addresses.Own, ovndb.ClientPorts(db)
	if !own.IsValid() {
		return
	}
	if o.Looks { // of one server
		ports = ports[:1]
	}
	err := u.Certificates.Served(ctx, db, own, ports...)
	if err != nil && x.Listeners != plan.Drifted && o.Thorough {
		err = u.Certificates.Reload(ctx, db, own)
	}
	if err == nil && o.Thorough && u.Packages.Adopted() && db == ovndb.SB {
		restricted, err := u.Dialer.Restricted(ctx, "ssl:"+netip.AddrPortFrom(own, ports[0]).String())
		x.Unrestricted = err == nil && !restricted
	}
	if x.ClientsServed = err == nil; err != nil {
		u.Log.DebugContext(ctx, "a client port does not answer", "database", db.Short(), "error", err)
	}
}

// lookAtFiles adds the contents of the files of servers that could not be asked, and why they may not be started.
func (u *Unit) lookAtFiles(ctx context.Context, o Snapshot, db ovndb.Database, x *plan.Database) error {
	staged, err := u.Files.Staged(ctx, db)
	if err != nil {
		return err
	}
	x.Staged = staged.Cluster
	superseded := u.Leader.Clusters.Superseded[db]
	if x.Staged != "" && x.Staged == u.Leader.Clusters.IDs[db] && len(superseded) > 0 {
		x.Rival = u.Recovery.Rival(ctx, o.Snapshot, db, superseded)
	}
	l := o.Servers[db]
	down, failed := l.Condition == ovndb.Down, l.Condition == ovndb.Failed
	if (down || failed) && l.FileErr == nil {
		if err := u.lookAtFile(ctx, o, db, x); err != nil {
			return err
		}
	}
	if down {
		x.TooNew = u.tooNew(ctx, db)
	}
	if (down || failed) && x.Unusable() {
		x.Removed = u.Observer.RemovedWhileDown(ctx, o.Application, db, o.Cache)
		x.Rejoin = status.RejoinCommand(o.Application, o.Servers, db)
	}
	return nil
}

// lookAtFile adds the contents of the file of a server that is down or has failed.
func (u *Unit) lookAtFile(ctx context.Context, o Snapshot, db ovndb.Database, x *plan.Database) (err error) {
	l, f := o.Servers[db], &x.File
	if l.Condition == ovndb.Down {
		if f.Address, err = u.Files.Address(ctx, db); err != nil {
			return err
		}
	}
	log, err := raftfile.ReadLog(ctx, u.Paths, db)
	if ctx.Err() != nil {
		return err
	}
	f.Damage = log.Damage
	if l.Condition == ovndb.Failed {
		if err == nil && f.Damage == "" {
			f.Damage = l.EntriesMissing(log)
		}
		return nil
	}
	if f.Outside = log.Outside; err != nil {
		x.FileUnknown, x.Text = true, err.Error()
	}
	seen := o.Cache.Configurations[db]
	f.WasMember = seen.Server != "" && seen.Server == l.File.Server
	if end, err := raftfile.ReadEnd(ctx, u.Paths, db); err == nil {
		f.Sole = end.Sole(l.File.Server)
	}
	return nil
}

// tooNew reports whether a server is down because it is older than its file, and the installed one is no newer.
func (u *Unit) tooNew(ctx context.Context, db ovndb.Database) bool {
	installed, _, err := u.Packages.Installed(ctx)
	if runs, started := u.Restarts.Runs(ovndb.ServiceOf(db)); err == nil && started && !runs.Is(installed) {
		return false
	}
	tooNew, err := ovsctl.FileTooNew(u.Paths, db)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot tell whether the file is too new for these packages",
			"database", db.Short(), "error", err)
	}
	return tooNew
}
