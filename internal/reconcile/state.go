package reconcile

import (
	"context"
	"net/netip"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// state puts together what a decision is made from.
func (u *Reconciler) state(ctx context.Context, p pass) (plan.State, error) {
	r, o, m := p.record, p.result.Snapshot, p.result.Application
	s := o.fromJuju
	s.Now, s.JujuLeader, s.Clusters = u.Now(), r.leader.Leads, plan.Clusters(r.leader.Clusters)
	s.Paused, s.NorthdHeld = r.Paused, r.NorthdHeld
	s.Packages = plan.Packages{Adopted: r.packages.Adopted(), Source: r.packages.Source(), Unavailable: r.packages.Unavailable()}
	version, installed, err := r.packages.Installed(ctx)
	if err != nil {
		return s, err
	}
	s.Packages.Installed, s.Packages.Version = installed, version
	s.Pending = r.restarts.Planned(ctx, version, nil, r.NorthdHeld)
	if s.Disk, err = machine.DiskProblem(u.Paths); err != nil {
		return s, err
	}
	if version.OVN == "" { // what dpkg was only interrupted at is there, and its servers may run
		return s, nil
	}
	states, err := u.Services.States(ctx)
	if err != nil {
		return s, err
	}
	s.Services = map[ovndb.Service]plan.ServiceState{}
	for name, state := range states {
		s.Services[name] = plan.ServiceState{
			Active: state.Running(), Enabled: state.Enabled == "enabled",
			Invocation: state.Invocation, Installed: systemd.RunsInstalled(u.Paths, name, state),
		}
	}
	s.Pending = r.restarts.Planned(ctx, version, s.Services, r.NorthdHeld)
	s.Certificates = r.certificates.Compare()
	if s.Defaults, err = r.steps.Defaults(o.Addresses); err != nil {
		return s, err
	}
	s.Databases = map[ovndb.Database]plan.Database{}
	for _, db := range ovndb.Databases() {
		if s.Databases[db], err = u.database(ctx, p, db); err != nil {
			return s, err
		}
	}
	if s.Recovery, err = r.recovery.States(ctx, o.Snapshot, s, r.leader.Accepted); err != nil {
		return s, err
	}
	s.Refused = map[ovndb.Database]finding.Finding{}
	for db, a := range r.recovery.Attempts {
		if a.Stage == recovery.Withdrawn && !s.Databases[db].MemberWithLeader() {
			s.Refused[db] = a.Why
		}
	}
	if s.NorthdParams, err = r.steps.NorthdParams(o.Addresses, o.Snapshot); err != nil {
		return s, err
	}
	s.Northd = u.Control.NorthdHealth(ctx)
	seen := observe.Report{Application: m, Clusters: p.result.Report.Clusters}
	own := plan.NorthdReport{Unit: s.Unit, Known: true, Health: s.Northd}
	s.Northds = plan.JudgeNorthd(s.Now, s.Settings.InactivityProbe, own, status.NorthdReports(seen), r.Northd)
	if !o.preview && r.firewall.Due(ctx, p.firewallSnapshot()) {
		s.Firewall = plan.Drifted
	}
	return s, nil
}

func reading(d relation.Data) plan.Reading {
	switch {
	case d.Unread():
		return plan.Unread
	case d.Empty():
		return plan.NothingPublished
	}
	return plan.Published
}

// peers are the other units that exist, as they publish themselves.
func (u *Reconciler) peers(ctx context.Context, m observe.Application) []plan.Peer {
	var peers []plan.Peer
	for _, unit := range m.Others() {
		published := m.Peers[unit].State
		for _, p := range m.Peers[unit].Problems {
			u.Log.WarnContext(ctx, "a peer published invalid data", "unit", unit, "problem", p)
		}
		p := plan.Peer{
			Unit: unit, Dying: m.Dying(unit), Data: reading(m.Peers[unit].Data),
			Servers: map[ovndb.Database]raft.ID{}, Clusters: map[ovndb.Database]raft.ID{},
			Source: published.Source, Running: published.Running, Trusts: published.Trusts, Issuer: published.Issuer,
			Requests: published.Requests, Copies: published.Copies, Rejoin: published.Rejoin,
			NoRoom: published.NoRoom,
		}
		if published.Address.IsValid() {
			p.Address = published.Address.String()
		}
		if claim := relation.ParseClaim(m.AppData.Values(), unit); claim != published.Withdrawn {
			p.Claim = claim
		}
		for db, id := range m.Published[unit] {
			p.Servers[db], p.Clusters[db] = id.Server, id.Cluster
		}
		peers = append(peers, p)
	}
	return peers
}

func (u *Reconciler) database(ctx context.Context, p pass, db ovndb.Database) (plan.Database, error) {
	o := p.result.Snapshot
	l := o.Servers[db]
	x := plan.Database{
		Condition: l.Condition, Status: l.Status, Cluster: l.Identity().Cluster, Text: l.Text(), Cause: l.Cause, Starting: l.Starting,
		File: plan.File{Path: u.Paths.File(db)}, FileUnknown: l.FileErr != nil, Former: o.Application.Former[db].Unit,
	}
	if l.Condition != ovndb.Serving {
		return u.databaseNotServed(ctx, p, db, x)
	}
	var err error
	if x.Damage, err = u.Observer.MissingEntries(ctx, l); err != nil {
		return x, err
	}
	x.Unmended = p.record.steps.Unmended(db)
	x.JoinLost = o.JoinIsLost(db, u.Now(), raftfile.Size(u.Paths.File(db)))
	if x.Inconsistent = o.Inconsistent(db); x.Inconsistent != "" {
		x.Rejoin = status.RejoinCommand(o.Application, o.Servers, db)
	}
	if !x.Status.HasLeader() {
		x.Removed = u.Observer.WasRemoved(ctx, l, o.Cache)
		return x, nil
	}
	if x.Status.State == raft.JoiningCluster {
		return x, nil // it knows the leader, and has no data yet
	}
	if x.Inconsistent != "" {
		return x, nil // it may answer no client, and what it would answer is not the cluster's
	}
	if x.IsRaftLeader() && o.fromJuju.Problem == "" && o.fromJuju.Invalid[plan.OptionInactivityProbe] == "" {
		x.Listeners, x.WithoutTLS = p.record.steps.CompareListeners(ctx, o.listeners(), db)
	}
	if x.IsRaftLeader() {
		x.Superseded = u.supersededDrift(ctx, p, db)
	}
	x.SchemaFile, x.Socket, x.Size = u.Paths.Schema(db), u.Paths.Socket(db), raftfile.Size(u.Paths.File(db))
	installed, _, err := p.record.packages.Installed(ctx)
	if err != nil {
		return x, err
	}
	term := uint64(0)
	if x.IsRaftLeader() {
		term = x.Status.Term
	}
	if x.Schema = p.record.schemas.Drift(ctx, db, installed, term, o.thorough); x.Schema == plan.Drifted {
		if x.FreeDisk, err = machine.FreeSpace(u.Paths.DB); err != nil {
			return x, err
		}
		x.FreeMemory, _ = machine.AvailableMemory()
	}
	if x.Schema == plan.Drifted && x.IsRaftLeader() {
		if x.Tried, err = u.Members.TriedConversion(ctx, db, installed.String()); err != nil {
			u.Log.WarnContext(ctx, "cannot read whether a conversion was tried; not converting the schema", "database", db.Short(), "error", err)
			x.Schema = "" // left alone until that is known
		}
		if x.Runs, err = u.Control.Version(ctx, db); err != nil {
			u.Log.WarnContext(ctx, "cannot read the server's version; treating it as old", "database", db.Short(), "error", err)
		}
	}
	u.observeClientPorts(ctx, p, db, &x)
	return x, nil
}

// databaseNotServed adds what its files tell, and why its server may not be started.
func (u *Reconciler) databaseNotServed(ctx context.Context, p pass, db ovndb.Database, x plan.Database) (plan.Database, error) {
	clusters, snapshot := p.record.leader.Clusters, p.result.Snapshot
	l := snapshot.Servers[db]
	staged, err := u.Files.Staged(ctx, db)
	if err != nil {
		return x, err
	}
	if x.Staged = staged.Cluster; x.Staged != "" && x.Staged == clusters.IDs[db] && len(clusters.Superseded[db]) > 0 {
		x.Rival = p.record.recovery.Rival(ctx, snapshot.Snapshot, db, clusters.Superseded[db])
	}
	if l.Condition == ovndb.Down && l.FileErr == nil {
		if x.File.Address, err = u.Files.Address(ctx, db); err != nil {
			return x, err
		}
		seen := snapshot.Cache.Configurations[db]
		x.File.WasMember = seen.Server != "" && seen.Server == l.File.Server
		log, err := raftfile.ReadLog(ctx, u.Paths, db)
		if ctx.Err() != nil {
			return x, err
		}
		x.File.Outside = log.Outside
		if x.File.Damage = log.Damage; err != nil {
			x.FileUnknown, x.Text = true, err.Error()
		}
		if end, err := raftfile.ReadEnd(ctx, u.Paths, db); err == nil {
			x.File.Sole = end.Sole(l.File.Server)
		}
	}
	if l.Condition == ovndb.Down {
		x.TooNew = u.tooNew(ctx, p, db)
	}
	if l.Condition == ovndb.Failed && l.FileErr == nil {
		log, err := raftfile.ReadLog(ctx, u.Paths, db)
		if ctx.Err() != nil {
			return x, err
		}
		x.File.Damage = log.Damage
		if short := l.EntriesMissing(log); err == nil && short != "" && log.Damage == "" {
			x.File.Damage = short
		}
	}
	if (l.Condition == ovndb.Down || l.Condition == ovndb.Failed) && x.Unusable() {
		x.Removed = u.Observer.RemovedWhileDown(ctx, snapshot.Application, db, snapshot.Cache)
		x.Rejoin = status.RejoinCommand(snapshot.Application, snapshot.Servers, db)
	}
	return x, nil
}

// observeClientPorts finds out whether clients are served at this unit's address, and whether
// they may do more than their role there.
func (u *Reconciler) observeClientPorts(ctx context.Context, p pass, db ovndb.Database, x *plan.Database) {
	r, o := p.record, p.result.Snapshot
	if !o.Addresses.Own.IsValid() {
		return
	}
	ports := ovndb.ClientPorts(db)
	if o.looks { // of one server
		ports = ports[:1]
	}
	err := r.certificates.Served(ctx, db, o.Addresses.Own, ports...)
	if err != nil && x.Listeners != plan.Drifted && o.thorough {
		err = r.certificates.Reload(ctx, db, o.Addresses.Own)
	}
	if err == nil && o.thorough && r.packages.Adopted() && db == ovndb.SB {
		restricted, err := u.Dialer.Restricted(ctx, "ssl:"+netip.AddrPortFrom(o.Addresses.Own, ovndb.ClientPorts(db)[0]).String())
		x.Unrestricted = err == nil && !restricted
	}
	if x.ClientsServed = err == nil; err != nil {
		u.Log.DebugContext(ctx, "a client port does not answer", "database", db.Short(), "error", err)
	}
}
