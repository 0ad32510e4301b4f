package reconcile

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/atomicfile"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

// defaults compares the file that the services are started with.
func (u *Reconciler) defaults(a inputs) (plan.Drift, error) {
	if !a.address.IsValid() {
		return "", nil
	}
	have, err := os.ReadFile(u.Paths.Defaults())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	want := u.wantedDefaults(a).Render()
	switch {
	case string(have) == string(want):
		return plan.InSync, nil
	case err == nil && systemd.NeedsRestart(have, want):
		return plan.NeedsRestart, nil
	}
	return plan.Drifted, nil
}

// wantedDefaults name the unit itself as the remote to join through. Where there
// is a database file ovn-ctl ignores it, and where there is none the start fails:
// ovsdb-tool refuses to join a server to itself. With no remote ovn-ctl would make
// a new cluster then, and with another unit's it would join without looking at
// the cluster's ID. If there is a database file, the address is the one in it, also if the machine has lost it:
// a restart would not change the member's.
func (u *Reconciler) wantedDefaults(a inputs) systemd.Defaults {
	own := a.address
	if a.member.IsValid() {
		own = a.member
	}
	return systemd.Defaults{Local: own, Remote: own, Credentials: u.Paths.Credentials()}
}

// northdParams compares the file that ovn-northd is started with.
func (u *Reconciler) northdParams(a inputs, snapshot observe.Snapshot) (plan.Drift, error) {
	if !a.address.IsValid() {
		return "", nil
	}
	have, err := os.ReadFile(u.Paths.NorthdParams())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	want := u.wantedNorthd(a, snapshot).Render()
	switch {
	case string(have) == string(want):
		return plan.InSync, nil
	case err == nil && systemd.NorthdNeedsRestart(have, want):
		return plan.NeedsRestart, nil
	}
	return plan.Drifted, nil
}

// wantedNorthd are all units that have servers, in the order of their addresses,
// so that it changes only when they do: those that say so, and all members, whether
// or not their unit is still known. One that is going may lead for as long as its
// `stop` is refused, and ovn-northd works with leaders only; one that the charm
// before this one still runs says nothing of its servers.
func (u *Reconciler) wantedNorthd(a inputs, snapshot observe.Snapshot) systemd.NorthdParams {
	m, addresses := snapshot.Application, []netip.Addr{a.address}
	for _, unit := range m.Others() {
		if address := m.Peers[unit].State.Address; address.IsValid() && m.Published[unit].Complete() {
			addresses = append(addresses, address)
		}
	}
	addresses = append(addresses, memberAddresses(snapshot)...)
	slices.SortFunc(addresses, netip.Addr.Compare)
	return systemd.NorthdParams{Units: slices.Compact(addresses), Credentials: u.Paths.Credentials()}
}

func (u *Reconciler) writeDefaults(p pass) error {
	r, a, o := p.record, p.inputs, p.result
	if o.state.Defaults == plan.NeedsRestart {
		for _, db := range ovndb.Databases() {
			if server(o, db).Condition == ovndb.Serving {
				r.restarts.Due(ovndb.ServiceOf(db), "options changed")
			}
		}
		// Before the file is, lest it be forgotten.
		if err := u.saveRecord(r); err != nil {
			return err
		}
	}
	return atomicfile.Write(u.Paths.Defaults(), u.wantedDefaults(a).Render(), 0o644)
}

func (u *Reconciler) writeNorthdParams(p pass) error {
	r, a, o := p.record, p.inputs, p.result
	if o.state.Services[ovndb.Northd].Active && o.state.NorthdParams == plan.NeedsRestart {
		r.restarts.Due(ovndb.Northd, "units have come or gone")
		if err := u.saveRecord(r); err != nil {
			return err
		}
	}
	return atomicfile.Write(u.Paths.NorthdParams(), u.wantedNorthd(a, o.Snapshot).Render(), 0o644)
}
