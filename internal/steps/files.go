package steps

import (
	"context"
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

func (u *Unit) defaults(a observe.Addresses) (plan.Drift, error) {
	return drift(a, u.Paths.Defaults(), u.wantedDefaults(a).Render, systemd.NeedsRestart)
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

// wantedDefaults names the unit itself as the remote to join. If there is a database file, ovn-ctl ignores the remote;
// otherwise the start fails, since ovsdb-tool refuses to join a server to itself. Without a remote ovn-ctl would create
// a cluster, and with another unit's address it would join without checking the cluster's ID. The address is the one in
// the database file, if there is one, even if the machine has lost it: a restart would not change the member's address.
func (u *Unit) wantedDefaults(a observe.Addresses) systemd.Defaults {
	own := a.Own
	if a.Member.IsValid() {
		own = a.Member
	}
	return systemd.Defaults{Local: own, Remote: own, Credentials: u.Paths.Credentials()}
}

func (u *Unit) writeDefaults(_ context.Context, o Snapshot, _ plan.Step) error {
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
	return atomicfile.Write(u.Paths.Defaults(), u.wantedDefaults(o.Addresses).Render(), 0o644)
}

func (u *Unit) northdParams(o Snapshot) (plan.Drift, error) {
	return drift(o.Addresses, u.Paths.NorthdParams(), u.wantedNorthd(o).Render, systemd.NorthdNeedsRestart)
}

// wantedNorthd returns the arguments with all units that have servers, in the order of their addresses: the units
// that publish a server, and all members, even of unknown units. A unit that is being removed may have the leader
// for as long as its `stop` is refused, and ovn-northd needs the leaders; a unit that still runs the Python charm
// publishes no servers.
func (u *Unit) wantedNorthd(o Snapshot) systemd.NorthdParams {
	m, addresses := o.Application, []netip.Addr{o.Addresses.Own}
	for _, unit := range m.Others() {
		if address := m.Peers[unit].State.Address; address.IsValid() && m.Published[unit].Complete() {
			addresses = append(addresses, address)
		}
	}
	addresses = append(addresses, o.MemberAddresses()...)
	slices.SortFunc(addresses, netip.Addr.Compare)
	return systemd.NorthdParams{Units: slices.Compact(addresses), Credentials: u.Paths.Credentials()}
}

func (u *Unit) writeNorthdParams(_ context.Context, o Snapshot, _ plan.Step) error {
	if o.State.Services[ovndb.Northd].Active && o.State.NorthdParams == plan.NeedsRestart {
		u.Restarts.Due(ovndb.Northd, "units have come or gone")
		if err := u.Save(); err != nil {
			return err
		}
	}
	return atomicfile.Write(u.Paths.NorthdParams(), u.wantedNorthd(o).Render(), 0o644)
}
