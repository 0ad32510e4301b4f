package steps

import (
	"context"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsctl"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// Look returns the input of a decision.
func (u *Unit) Look(ctx context.Context, o facts.Facts) (s plan.State, err error) {
	s = o.Known
	u.Recovery.See(u.Leader.Clusters)
	version, installed, err := u.Packages.Installed(ctx)
	if err != nil {
		return s, err
	}
	u.Restarts.Complete(ctx, version)
	s.Now, s.JujuLeader, s.Clusters = u.Now(), u.Leader.Leads, u.Leader.Clusters
	s.Packages = plan.Packages{
		Adopted: u.Packages.Adopted(), Source: u.Packages.Source(), Unavailable: u.Packages.Unavailable(),
		Installed: installed, Version: version,
	}
	if s.Disk, err = machine.DiskProblem(u.Control.Paths); err != nil {
		return s, err
	}
	if version.OVN == "" { // half-configured packages have a version, and their servers may run
		s.Pending = u.Restarts.Planned(ctx, version, nil, s.NorthdHeld)
		return s, nil
	}
	if s.Services, err = u.services(ctx); err != nil {
		return s, err
	}
	s.Pending = u.Restarts.Planned(ctx, version, s.Services, s.NorthdHeld)
	s.Certificates = u.Certificates.Compare()
	if s.Defaults, err = u.defaults(o.Addresses); err != nil {
		return s, err
	}
	s.Databases = map[ovndb.Database]plan.Database{}
	for _, db := range ovndb.Databases() {
		if s.Databases[db], err = u.database(ctx, o, db); err != nil {
			return s, err
		}
	}
	if s.Recovery, err = u.Recovery.States(ctx, o.Snapshot, s, u.Leader.Accepted); err != nil {
		return s, err
	}
	s.Refused = u.refused(s)
	if s.NorthdParams, err = u.northdParams(o); err != nil {
		return s, err
	}
	s.Northd = u.Control.NorthdHealth(ctx)
	s.Northds = u.northds(ctx, o, s)
	if !o.Preview && u.Firewall.Due(ctx, o) {
		s.Firewall = plan.Drifted
	}
	return s, nil
}

// northds judges the state of all units' ovn-northd. A report is as old as its unit's last hook. If this unit's own
// ovn-northd is neither active nor waits for the lock, the lock shows whether another one still is.
func (u *Unit) northds(ctx context.Context, o facts.Facts, s plan.State) plan.Northd {
	judge := func(others []plan.NorthdReport) plan.Northd {
		own := plan.NorthdReport{Unit: s.Unit, Known: true, Health: s.Northd}
		return plan.JudgeNorthd(s.Now, s.Settings.InactivityProbe, own, others, o.Known.Northds)
	}
	others := status.NorthdReports(observe.Report{Application: o.Application, Clusters: o.Report.Clusters})
	found := judge(others)
	if found.Found != plan.NorthdNone && !s.Northd.Works() && u.northdLockFree(ctx, o.Report) {
		found = judge(plan.Outdated(others))
	}
	return found.Counting(s.Now, membersDown(o.Report), o.Known.Northds)
}

func membersDown(r observe.Report) (n int) {
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if !row.Runs() {
				n++
			}
		}
	}
	return n
}

// northdLockFree reports whether no ovn-northd takes the lock for as long as it may need after a change of SB's
// leader.
func (u *Unit) northdLockFree(ctx context.Context, r observe.Report) bool {
	i := slices.IndexFunc(r.Clusters, func(c observe.Cluster) bool { return c.Database == ovndb.SB })
	if i < 0 {
		return false
	}
	leader, up := r.Clusters[i].View.Leader()
	if !up {
		return false
	}
	taken := poll.Await(ctx, northdPatience, lockInterval, nil, func() bool {
		limited, cancel := context.WithTimeout(ctx, observe.ProbeTimeout)
		defer cancel()
		free, err := u.Dialer.NorthdLockFree(limited, ovsdb.Endpoints(ovndb.SB, leader.Address)...)
		if err != nil {
			u.Log.InfoContext(ctx, "cannot tell whether an ovn-northd is active", "error", err)
		}
		return !free
	})
	return !taken && ctx.Err() == nil
}

func (u *Unit) services(ctx context.Context) (map[ovndb.Service]plan.ServiceState, error) {
	states, err := u.Services.States(ctx)
	if err != nil {
		return nil, err
	}
	all := map[ovndb.Service]plan.ServiceState{}
	for name, state := range states {
		all[name] = plan.ServiceState{
			Active: state.Running(), Enabled: state.Enabled == "enabled",
			Invocation: state.Invocation, Installed: systemd.RunsInstalled(u.Control.Paths, name, state),
		}
	}
	return all, nil
}

func (u *Unit) refused(s plan.State) map[ovndb.Database]finding.Finding {
	all := map[ovndb.Database]finding.Finding{}
	for db, a := range u.Recovery.Attempts {
		if a.Stage == recovery.Withdrawn && !s.Databases[db].MemberWithLeader() {
			all[db] = a.Why
		}
	}
	return all
}

// Peers returns the other existing units as they are published.
func (u *Unit) Peers(ctx context.Context, m observe.Application) []plan.Peer {
	var peers []plan.Peer
	for _, unit := range m.Others() {
		published := m.Peers[unit]
		for _, p := range published.Problems {
			u.Log.WarnContext(ctx, "a peer published invalid data", "unit", unit, "problem", p)
		}
		p := plan.Peer{
			UnitState: published.State, Data: published.Data, Unit: unit, Dying: m.Dying(unit),
			Servers: map[ovndb.Database]raft.ID{}, Clusters: map[ovndb.Database]raft.ID{},
		}
		if claim := relation.ParseClaim(m.AppData.Values(), unit); claim != p.Withdrawn {
			p.Claim = claim
		}
		for db, id := range m.Published[unit] {
			p.Servers[db] = id.Server
			if id.Cluster != "" {
				p.Clusters[db] = id.Cluster
			}
		}
		peers = append(peers, p)
	}
	return peers
}

func (u *Unit) database(ctx context.Context, o facts.Facts, db ovndb.Database) (plan.Database, error) {
	l := o.Servers[db]
	x := plan.Database{
		Condition: l.Condition, Status: l.Status, Cluster: l.Identity().Cluster, Why: l.Reason(), Cause: l.Cause,
		Starting: l.Starting, File: plan.File{Path: u.Control.Paths.File(db)}, FileUnknown: l.FileErr != nil,
		Former: o.Application.Former[db].Unit,
	}
	if l.Condition != ovndb.Serving {
		return x, u.lookAtFiles(ctx, o, db, &x)
	}
	var err error
	if x.Damage, err = u.Observer.MissingEntries(ctx, l); err != nil {
		return x, err
	}
	if l.Member() { // others serve no schema
		x.Schemas = u.schemas(ctx, db)
	}
	x.RewriteFailure = u.rewriteFailures[db]
	x.JoinLost = o.JoinIsLost(db, u.Now(), raftfile.Size(u.Control.Paths.File(db)))
	if x.Inconsistent = o.Inconsistent(db); !x.Inconsistent.IsZero() {
		x.Rejoin = status.RejoinCommand(o.Application, o.Servers, db)
	}
	switch {
	case !x.Status.HasLeader():
		x.Removed = l.Member() && u.Observer.RemovedElsewhere(ctx, l, o.Cache)
	case x.Status.State == raft.JoiningCluster: // it knows the leader, and has no data yet
	case !x.Inconsistent.IsZero(): // it may not answer clients, and its answers would not be the cluster's
	default:
		err = u.lookAtData(ctx, o, db, &x)
	}
	return x, err
}

func (u *Unit) lookAtData(ctx context.Context, o facts.Facts, db ovndb.Database, x *plan.Database) error {
	if x.IsRaftLeader() {
		if o.Known.Problem.IsZero() {
			x.Listeners, x.WithoutTLS = u.compareListeners(ctx, o, db)
		}
		x.Superseded = u.supersededDrift(ctx, db)
	}
	paths := u.Control.Paths
	x.SchemaFile, x.Socket, x.Size = paths.Schema(db), paths.Socket(db), raftfile.Size(paths.File(db))
	if x.Schema = schemaDrift(x.Schemas); x.Schema == plan.Drifted {
		if err := u.lookAtConversion(ctx, db, x); err != nil {
			return err
		}
	}
	u.lookAtClientPorts(ctx, o, db, x)
	return nil
}

// schemas compares the schema of a database with that of the installed packages.
func (u *Unit) schemas(ctx context.Context, db ovndb.Database) ovndb.Schemas {
	schemas, err := u.Files.Schemas(ctx, db)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot compare the schema", "database", db.Short(), "error", err)
	}
	return schemas
}

func schemaDrift(s ovndb.Schemas) plan.Drift {
	switch {
	case s.Served == "":
		return ""
	case s.Older:
		return plan.Drifted
	}
	return plan.InSync
}

// lookAtConversion adds the room for a conversion of the schema, and what the leader must know before it converts.
func (u *Unit) lookAtConversion(ctx context.Context, db ovndb.Database, x *plan.Database) error {
	installed, _, err := u.Packages.Installed(ctx)
	if err != nil {
		return err
	}
	if x.FreeDisk, err = machine.FreeSpace(u.Control.Paths.DB); err != nil {
		return err
	}
	x.FreeMemory, _ = machine.AvailableMemory()
	if !x.IsRaftLeader() {
		return nil
	}
	log := u.Log.With("database", db.Short())
	if x.TriedTimer, err = u.Members.TriedConversion(ctx, db, installed.String()); err != nil {
		log.WarnContext(ctx, "cannot read whether a conversion was tried; not converting the schema", "error", err)
		x.Schema = "" // left alone until the needs are known
	}
	if x.Runs, err = u.Control.Version(ctx, db); err != nil {
		log.WarnContext(ctx, "cannot read the server's version; treating it as old", "error", err)
	}
	return nil
}

// lookAtClientPorts reports whether clients can connect at this unit's address, and whether they have more rights
// than their role.
func (u *Unit) lookAtClientPorts(ctx context.Context, o facts.Facts, db ovndb.Database, x *plan.Database) {
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
func (u *Unit) lookAtFiles(ctx context.Context, o facts.Facts, db ovndb.Database, x *plan.Database) error {
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

func (u *Unit) lookAtFile(ctx context.Context, o facts.Facts, db ovndb.Database, x *plan.Database) (err error) {
	l, f := o.Servers[db], &x.File
	if l.Condition == ovndb.Down {
		if f.Address, err = u.Files.Address(ctx, db); err != nil {
			return err
		}
	}
	log, err := raftfile.ReadLog(ctx, u.Control.Paths, db)
	if ctx.Err() != nil {
		return err
	}
	f.Damage = finding.Quote(log.Damage)
	if l.Condition == ovndb.Failed {
		if err == nil && f.Damage.IsZero() {
			f.Damage = l.EntriesMissing(log)
		}
		return nil
	}
	if f.Outside = log.Outside; err != nil {
		x.FileUnknown, x.Why = true, finding.Quote(err.Error())
	}
	seen := o.Cache.Configurations[db]
	f.WasMember = seen.Server != "" && seen.Server == l.File.Server
	f.Sole = log.Sole(l.File.Server)
	return nil
}

// tooNew reports whether a server is down because it is older than its file, and the installed one is not newer.
func (u *Unit) tooNew(ctx context.Context, db ovndb.Database) bool {
	installed, _, err := u.Packages.Installed(ctx)
	if runs, started := u.Restarts.Runs(ovndb.ServiceOf(db)); err == nil && started && !runs.Is(installed) {
		return false
	}
	tooNew, err := ovsctl.FileTooNew(u.Control.Paths, db)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot tell whether the file is too new for these packages",
			"database", db.Short(), "error", err)
	}
	return tooNew
}
