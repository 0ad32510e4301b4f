package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/facts"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// functions has the function that makes each kind of step.
var functions = map[plan.Kind]func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error{
	plan.Install: func(u *Unit, ctx context.Context, o facts.Facts, _ plan.Step) error {
		return u.Packages.Install(ctx, o)
	},
	plan.Upgrade: func(u *Unit, ctx context.Context, o facts.Facts, _ plan.Step) error {
		return u.Packages.Upgrade(ctx, o)
	},
	plan.TrustCA: (*Unit).installCertificate, plan.InstallCertificate: (*Unit).installCertificate,
	plan.DropCAs:       (*Unit).installCertificate,
	plan.WriteDefaults: (*Unit).writeDefaults, plan.WriteNorthdParams: (*Unit).writeNorthdParams,
	plan.ConfigureFirewall: func(u *Unit, ctx context.Context, o facts.Facts, _ plan.Step) error {
		_, err := u.Firewall.Ensure(ctx, o)
		return err
	},
	plan.ConfigureListeners: (*Unit).ensureListeners,
	plan.Start: func(u *Unit, ctx context.Context, _ facts.Facts, s plan.Step) error {
		return u.start(ctx, s.Services)
	},
	plan.Restart: func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error {
		return u.Restart(ctx, o.Snapshot, s.Service)
	},
	plan.ArchiveFile: func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error {
		return u.archive(ctx, o.Servers[s.Database])
	},
	plan.RewriteFile: (*Unit).rewriteFile, plan.ConvertSchema: (*Unit).convert, plan.SetElectionTimer: (*Unit).setTimer,
	plan.Leave: func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error {
		return u.Members.LeaveRemoved(ctx, o.Application, o.Servers[s.Database])
	},
	// First clusters, and joins.
	plan.StageCluster: func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error {
		_, err := u.Files.CreateCluster(ctx, s.Database, raftAddress(o, s.Database), s.Timer)
		return err
	},
	plan.PublishClusters: (*Unit).claim,
	plan.CommitCluster: func(u *Unit, _ context.Context, _ facts.Facts, s plan.Step) error {
		return u.Files.Commit(s.Database)
	},
	plan.DiscardCluster: (*Unit).discard,
	plan.JoinCluster: func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error {
		return u.Files.JoinCluster(ctx, s.Database, s.Cluster, raftAddress(o, s.Database), s.Remotes)
	},
	// Recoveries and restores.
	plan.AcceptRecovery: func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error {
		return u.Leader.Accept(ctx, s.Database, o.State.Recovery[s.Database].Accept(s.Unit))
	},
	plan.StopServer: func(u *Unit, ctx context.Context, _ facts.Facts, s plan.Step) error {
		return u.Recovery.Stop(ctx, s.Database, s.Unit)
	},
	plan.ReleaseServer: func(u *Unit, _ context.Context, _ facts.Facts, s plan.Step) error {
		delete(u.Recovery.Held, s.Database)
		return nil
	},
	plan.RemakeCluster: func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error {
		superseded := u.Leader.Clusters.Supersede(s.Database, "", "").Superseded[s.Database]
		timer := o.State.Settings.ElectionTimer
		return u.Recovery.Remake(ctx, s.Database, raftAddress(o, s.Database), timer, superseded)
	},
	plan.Supersede: func(u *Unit, ctx context.Context, o facts.Facts, s plan.Step) error {
		if err := u.Leader.Confirm(ctx); err != nil {
			return err
		}
		if err := u.Recovery.MayReplace(ctx, o.Snapshot, o.State, s.Database, s.Unit); err != nil {
			return err
		}
		return u.Leader.Supersede(ctx, s.Database, s.Cluster, s.Unit)
	},
	plan.NoteSuperseded: (*Unit).noteSuperseded, plan.RemoveDamaged: (*Unit).removeMember,
	plan.WithdrawRequest: func(u *Unit, _ context.Context, _ facts.Facts, s plan.Step) error {
		u.Recovery.Note(s.Database, u.Recovery.Attempts[s.Database].Withdraws(s.Why))
		return nil
	},
}

// Make makes one step.
func (u *Unit) Make(ctx context.Context, o facts.Facts, s plan.Step) error {
	do, is := functions[s.Kind]
	if !is {
		return errors.New("no such step")
	}
	return do(u, ctx, o, s)
}

// convert converts a database to the schema of the packages. Right before, it compares the schemas again, since a
// conversion that a killed hook began may have ended.
func (u *Unit) convert(ctx context.Context, o facts.Facts, s plan.Step) error {
	db := s.Database
	needed, err := u.Files.NeedsConversion(ctx, db)
	if err != nil || !needed {
		return err
	}
	most := plan.ConversionTimer(o.State.Databases[db].Size, o.State.Databases[db].Runs)
	text := fmt.Sprintf("%s: its schema is being converted; its clients may wait for up to %d s",
		db.Short(), most/time.Second)
	if err := u.Juju.StatusSet(ctx, juju.Maintenance, text); err != nil {
		u.Log.WarnContext(ctx, "cannot set the status", "error", err)
	}
	return u.Members.Convert(ctx, o.Application, db, o.State.Packages.Version.String(), s.Timer)
}

// installCertificate writes the certificates' files. If the servers are members, it holds the locks of both
// databases, so that no other unit's server is down at the same time.
func (u *Unit) installCertificate(ctx context.Context, o facts.Facts, s plan.Step) error {
	locked := true
	var served []ovndb.Database
	for _, db := range ovndb.Databases() {
		if o.State.Databases[db].ClientsServed {
			served = append(served, db)
		}
		locked = locked && o.Servers[db].Member() && o.Servers[db].Status.HasLeader()
	}
	install := func(ctx context.Context, _ membership.Gate) error {
		return u.Certificates.Install(ctx, s.Kind, o.Addresses.Own, served)
	}
	if !locked {
		return install(ctx, nil) // no member is at risk, and the present certificate may be what separates them
	}
	return u.Members.WithLocks(ctx, o.Application, ovndb.Databases(), false, install)
}

func (u *Unit) claim(ctx context.Context, o facts.Facts, s plan.Step) error {
	by := ""
	if len(s.IDs) == len(ovndb.Databases()) && o.State.Databases[ovndb.NB].Staged == s.IDs[ovndb.NB] {
		by = u.Env.Unit
	}
	for _, peer := range o.State.Peers {
		if peer.Claim != "" && peer.Claim == s.IDs[ovndb.NB] {
			by = peer.Unit
		}
	}
	return u.Leader.Claim(ctx, s.IDs, by)
}

// discard puts away a staged cluster. It first records that this unit's claim is withdrawn, which is published when
// this hook or a later one ends. The unit that claims clusters waits for that.
func (u *Unit) discard(_ context.Context, o facts.Facts, s plan.Step) error {
	staged := o.State.Databases[s.Database].Staged
	if s.Database == ovndb.NB && staged == o.State.Claim && staged != "" {
		u.Leader.Withdraw(staged)
		if err := u.Save(); err != nil {
			return err
		}
	}
	return u.Files.Discard(s.Database)
}

// listeners returns the wanted rows of Connection, which all units share. They serve IPv6 if any unit has such an
// address.
func listeners(o facts.Facts, db ovndb.Database) []ovsdb.Connection {
	units := append(o.Application.PeerAddresses(), o.Addresses.Own)
	return ovsdb.WantedConnections(db, o.Known.Settings.InactivityProbe, slices.ContainsFunc(units, netip.Addr.Is6))
}

// compareListeners compares the rows of a database with the wanted ones, and finds those without TLS. Rows that
// can't be read are left alone.
func (u *Unit) compareListeners(ctx context.Context, o facts.Facts, db ovndb.Database) (plan.Drift, []plan.Listener) {
	rows, err := u.Dialer.Connections(ctx, db, "unix:"+u.Control.Paths.Socket(db))
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read the listeners", "database", db.Short(), "error", err)
		return "", nil
	}
	return judgeListeners(o, db, rows)
}

// judgeListeners judges the rows. While the probe's option is invalid, existing rows stay unchanged; if there are
// none, the default is used, so that clients can connect.
func judgeListeners(
	o facts.Facts, db ovndb.Database, rows []ovsdb.Listener,
) (drift plan.Drift, exposed []plan.Listener) {
	for _, row := range rows {
		if row.WithoutTLS() {
			exposed = append(exposed, plan.Listener{Target: row.Target, UUID: row.UUID})
		}
	}
	switch {
	case ovsdb.Satisfied(rows, listeners(o, db)):
		return plan.InSync, exposed
	case len(rows) > 0 && !o.Known.Usable(plan.OptionInactivityProbe):
		return "", exposed
	}
	return plan.Drifted, exposed
}

func (u *Unit) ensureListeners(ctx context.Context, o facts.Facts, s plan.Step) error {
	db := s.Database
	_, err := u.Dialer.EnsureConnections(ctx, db, listeners(o, db), "unix:"+u.Control.Paths.Socket(db))
	return err
}

// rewriteFile makes a server rewrite its file that lacks entries. If the server can't, the next decision reports
// that.
func (u *Unit) rewriteFile(ctx context.Context, _ facts.Facts, s plan.Step) error {
	db := s.Database
	err := u.Members.RewriteFile(ctx, db)
	damaged := (*membership.DamagedFileError)(nil)
	if err == nil {
		return u.Members.PublishDamage(ctx, u.Observer.ObserveServer(ctx, db), "")
	}
	if !errors.As(err, &damaged) {
		return err
	}
	u.Log.ErrorContext(ctx, "the server's file lacks entries", "database", db.Short(), "error", err)
	if u.rewriteFailures == nil {
		u.rewriteFailures = map[ovndb.Database]string{}
	}
	u.rewriteFailures[db] = damaged.Err.Error()
	return nil
}

// PublishDamage tells the other units which servers' files lack entries.
func (u *Unit) PublishDamage(ctx context.Context, o facts.Facts) {
	for _, c := range o.Report.Clusters {
		l := o.Servers[c.Database]
		found, observed := o.State.Databases[c.Database]
		if !observed { // its damage stays published
			continue
		}
		lost := found.Damage.String()
		published := c.Condition == ovndb.Serving && slices.Contains(c.View.Lost, c.Status.Server)
		if l.Condition != ovndb.Serving || lost == "" && !published {
			continue
		}
		if err := u.Members.PublishDamage(ctx, l, lost); err != nil {
			u.Log.WarnContext(ctx, "cannot publish the state of the server's file",
				"database", c.Database.Short(), "missing", lost, "error", err)
		}
	}
}

// TrimMemory makes servers return memory after each compaction if they don't do that by themselves. A restarted
// server forgets the setting and can't be asked for it, so each hook sets it. If a server has not reported its
// version yet, the hook in which it does sets it ([restarts.Manager.Complete]). A failure fails no hook.
func (u *Unit) TrimMemory(ctx context.Context, servers map[ovndb.Database]observe.ServerState) {
	for _, db := range ovndb.Databases() {
		runs, _ := u.Restarts.Runs(ovndb.ServiceOf(db))
		if servers[db].Condition != ovndb.Serving || runs.OVS == "" || plan.TrimsMemory(runs.OVS) {
			continue
		}
		if err := u.Control.TrimMemory(ctx, db); err != nil {
			u.Log.WarnContext(ctx, "cannot enable memory trimming on compaction", "database", db.Short(), "error", err)
		}
	}
}

func (u *Unit) defaults(a observe.Addresses) (plan.Drift, error) {
	return drift(a, u.Control.Paths.Defaults(), u.wantedDefaults(a).Render, systemd.NeedsRestart)
}

// drift compares a file with the wanted one; changed reports whether services must be restarted to apply the change.
func drift(
	a observe.Addresses, path string, render func() []byte, changed func(have, want []byte) bool,
) (plan.Drift, error) {
	if !a.Own.IsValid() {
		return "", nil
	}
	have, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	want := render()
	switch {
	case string(have) == string(want):
		return plan.InSync, nil
	case err == nil && changed(have, want):
		return plan.NeedsRestart, nil
	}
	return plan.Drifted, nil
}

// wantedDefaults names the unit itself as the remote to join. If there is a database file, ovn-ctl ignores the
// remote; otherwise the start fails, since ovsdb-tool refuses to join a server to itself. Without a remote ovn-ctl
// would create a cluster, and with another unit's address it would join without checking the cluster's ID. If there
// is a database file, the address is the one in that file, even if the machine has lost it: a restart would not
// change the member's address.
func (u *Unit) wantedDefaults(a observe.Addresses) systemd.Defaults {
	own := a.Own
	if a.Member.IsValid() {
		own = a.Member
	}
	return systemd.Defaults{Local: own, Remote: own, Credentials: u.Control.Paths.Credentials()}
}

func (u *Unit) writeDefaults(_ context.Context, o facts.Facts, _ plan.Step) error {
	if o.State.Defaults == plan.NeedsRestart {
		for _, db := range ovndb.Databases() {
			if o.Servers[db].Condition == ovndb.Serving {
				u.Restarts.Due(ovndb.ServiceOf(db), "options changed")
			}
		}
		// The restart is recorded before the file is written: a hook that is killed must not lose it.
		if err := u.Save(); err != nil {
			return err
		}
	}
	return atomicfile.Write(u.Control.Paths.Defaults(), u.wantedDefaults(o.Addresses).Render(), 0o644)
}

func (u *Unit) northdParams(o facts.Facts) (plan.Drift, error) {
	return drift(o.Addresses, u.Control.Paths.NorthdParams(), u.wantedNorthd(o).Render, systemd.NorthdNeedsRestart)
}

// wantedNorthd returns the arguments that name all units with servers, in the order of their addresses: the units
// that publish a server, and all members, even of unknown units. A unit that is being removed may have a leader,
// which ovn-northd needs; a unit with the Python charm publishes no servers.
func (u *Unit) wantedNorthd(o facts.Facts) systemd.NorthdParams {
	m, addresses := o.Application, []netip.Addr{o.Addresses.Own}
	for _, unit := range m.Others() {
		if address := m.Peers[unit].State.Address; address.IsValid() && m.Published[unit].Complete() {
			addresses = append(addresses, address)
		}
	}
	addresses = append(addresses, o.MemberAddresses()...)
	slices.SortFunc(addresses, netip.Addr.Compare)
	return systemd.NorthdParams{Units: slices.Compact(addresses), Credentials: u.Control.Paths.Credentials()}
}

func (u *Unit) writeNorthdParams(_ context.Context, o facts.Facts, _ plan.Step) error {
	if o.State.Services[ovndb.Northd].Active && o.State.NorthdParams == plan.NeedsRestart {
		u.Restarts.Due(ovndb.Northd, "units have come or gone")
		if err := u.Save(); err != nil {
			return err
		}
	}
	return atomicfile.Write(u.Control.Paths.NorthdParams(), u.wantedNorthd(o).Render(), 0o644)
}
