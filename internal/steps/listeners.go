package steps

import (
	"context"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// listeners returns the wanted rows of Connection, which all units share. They serve IPv6 if any unit has such an
// address.
func (o Snapshot) listeners(db ovndb.Database) []ovsdb.Connection {
	units := append(o.Application.PeerAddresses(), o.Addresses.Own)
	return ovsdb.WantedConnections(db, o.Known.Settings.InactivityProbe, slices.ContainsFunc(units, netip.Addr.Is6))
}

// compareListeners compares the rows of a database with the wanted ones, and finds those without TLS. Rows that
// can't be read are left alone.
func (u *Unit) compareListeners(ctx context.Context, o Snapshot, db ovndb.Database) (plan.Drift, []plan.Listener) {
	rows, err := u.Dialer.Connections(ctx, db, "unix:"+u.Paths.Socket(db))
	if err != nil {
		u.Log.WarnContext(ctx, "cannot read the listeners", "database", db.Short(), "error", err)
		return "", nil
	}
	var exposed []plan.Listener
	for _, row := range rows {
		if row.WithoutTLS() {
			exposed = append(exposed, plan.Listener{Database: db, Target: row.Target, UUID: row.UUID})
		}
	}
	if ovsdb.Satisfied(rows, o.listeners(db)) {
		return plan.InSync, exposed
	}
	return plan.Drifted, exposed
}

// ensureListeners writes the wanted rows of a database.
func (u *Unit) ensureListeners(ctx context.Context, o Snapshot, s plan.Step) error {
	db := s.Database
	_, err := u.Dialer.EnsureConnections(ctx, db, o.listeners(db), "unix:"+u.Paths.Socket(db))
	return err
}
