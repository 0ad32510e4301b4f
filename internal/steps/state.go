package steps

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/machine"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/recovery"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// Look returns the input of a decision.
func (u *Unit) Look(ctx context.Context, o Snapshot) (s plan.State, err error) {
	s = o.Known
	u.Recovery.See(u.Leader.Clusters)
	version, installed, err := u.Packages.Installed(ctx)
	if err != nil {
		return s, err
	}
	u.Restarts.Complete(ctx, version)
	s.Now, s.JujuLeader, s.Clusters = u.Now(), u.Leader.Leads, plan.Clusters(u.Leader.Clusters)
	s.Packages = plan.Packages{
		Adopted: u.Packages.Adopted(), Source: u.Packages.Source(), Unavailable: u.Packages.Unavailable(),
		Installed: installed, Version: version,
	}
	if s.Disk, err = machine.DiskProblem(u.Paths); err != nil {
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
	own := plan.NorthdReport{Unit: s.Unit, Known: true, Health: s.Northd}
	others := status.NorthdReports(observe.Report{Application: o.Application, Clusters: o.Report.Clusters})
	s.Northds = plan.JudgeNorthd(s.Now, s.Settings.InactivityProbe, own, others, o.Known.Northds)
	if !o.Preview && u.Firewall.Due(ctx, o.firewall()) {
		s.Firewall = plan.Drifted
	}
	return s, nil
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
			Invocation: state.Invocation, Installed: systemd.RunsInstalled(u.Paths, name, state),
		}
	}
	return all, nil
}

// refused returns why recoveries that were requested on this unit were withdrawn.
func (u *Unit) refused(s plan.State) map[ovndb.Database]finding.Finding {
	all := map[ovndb.Database]finding.Finding{}
	for db, a := range u.Recovery.Attempts {
		if a.Stage == recovery.Withdrawn && !s.Databases[db].MemberWithLeader() {
			all[db] = a.Why
		}
	}
	return all
}

// Peers returns the other units that exist, as they publish themselves.
func (u *Unit) Peers(ctx context.Context, m observe.Application) []plan.Peer {
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

func reading(d relation.Data) plan.Reading {
	switch {
	case d.Unread():
		return plan.Unread
	case d.Empty():
		return plan.NothingPublished
	}
	return plan.Published
}
