package steps

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

// wantedDefaults name the unit itself as the remote to join through. If there
// is a database file ovn-ctl ignores it, and otherwise the start fails:
// ovsdb-tool refuses to join a server to itself. With no remote ovn-ctl would make
// a new cluster then, and with another unit's it would join without looking at
// the cluster's ID. If there is a database file, the address is the one in it, also if the machine has lost it:
// a restart would not change the member's.
func (u *Unit) wantedDefaults(a observe.Addresses) systemd.Defaults {
	own := a.Own
	if a.Member.IsValid() {
		own = a.Member
	}
	return systemd.Defaults{Local: own, Remote: own, Credentials: u.Paths.Credentials()}
}

// writeDefaults writes the file that the services are started with. drift is what [Unit.defaults] has found.
func (u *Unit) writeDefaults(
	a observe.Addresses, drift plan.Drift, servers map[ovndb.Database]observe.ServerState,
) error {
	if drift == plan.NeedsRestart {
		for _, db := range ovndb.Databases() {
			if servers[db].Condition == ovndb.Serving {
				u.Restarts.Due(ovndb.ServiceOf(db), "options changed")
			}
		}
		// Before the file is, otherwise a killed hook forgets it.
		if err := u.Save(); err != nil {
			return err
		}
	}
	return atomicfile.Write(u.Paths.Defaults(), u.wantedDefaults(a).Render(), 0o644)
}

// northdParams compares the file that ovn-northd is started with.
func (u *Unit) northdParams(a observe.Addresses, snapshot observe.Snapshot) (plan.Drift, error) {
	return drift(a, u.Paths.NorthdParams(), u.wantedNorthd(a, snapshot).Render, systemd.NorthdNeedsRestart)
}

// wantedNorthd are all units that have servers, in the order of their addresses,
// so that it changes only when they do: those that publish so, and all members, whether
// or not their unit is still known. One that is being removed may lead for as long as its
// `stop` is refused, and ovn-northd works with leaders only; one that the charm
// before this one still runs publishes nothing of its servers.
func (u *Unit) wantedNorthd(a observe.Addresses, snapshot observe.Snapshot) systemd.NorthdParams {
	m, addresses := snapshot.Application, []netip.Addr{a.Own}
	for _, unit := range m.Others() {
		if address := m.Peers[unit].State.Address; address.IsValid() && m.Published[unit].Complete() {
			addresses = append(addresses, address)
		}
	}
	addresses = append(addresses, snapshot.MemberAddresses()...)
	slices.SortFunc(addresses, netip.Addr.Compare)
	return systemd.NorthdParams{Units: slices.Compact(addresses), Credentials: u.Paths.Credentials()}
}

// writeNorthdParams writes the file that ovn-northd is started with. restart is set if it runs and must be restarted.
func (u *Unit) writeNorthdParams(a observe.Addresses, snapshot observe.Snapshot, restart bool) error {
	if restart {
		u.Restarts.Due(ovndb.Northd, "units have come or gone")
		if err := u.Save(); err != nil {
			return err
		}
	}
	return atomicfile.Write(u.Paths.NorthdParams(), u.wantedNorthd(a, snapshot).Render(), 0o644)
}
