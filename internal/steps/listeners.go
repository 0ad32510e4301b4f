package steps

import (
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// Listeners are what the rows of Connection are made of: the option for their probes, and the units' addresses.
type Listeners struct {
	Probe time.Duration
	Units []netip.Addr
}

// wanted serve IPv6 if any unit has such an address: the rows are
// those of all units.
func (l Listeners) wanted(db ovndb.Database) []ovsdb.Connection {
	return ovsdb.WantedConnections(db, l.Probe, slices.ContainsFunc(l.Units, netip.Addr.Is6))
}

// CompareListeners compares the rows of a database with those wanted, and finds those without TLS. If they can't be
// read, they are left alone.
func (u *Unit) CompareListeners(ctx context.Context, l Listeners, db ovndb.Database) (plan.Drift, []plan.Listener) {
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
	if ovsdb.Satisfied(rows, l.wanted(db)) {
		return plan.InSync, exposed
	}
	return plan.Drifted, exposed
}

// EnsureListeners makes the rows of a database as wanted.
func (u *Unit) EnsureListeners(ctx context.Context, l Listeners, db ovndb.Database) error {
	_, err := u.Dialer.EnsureConnections(ctx, db, l.wanted(db), "unix:"+u.Paths.Socket(db))
	return err
}
