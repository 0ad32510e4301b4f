package reconcile

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// listeners compares the rows with those wanted, and finds those without TLS. Where they can't be
// read, they are left alone.
func (u *Reconciler) listeners(ctx context.Context, a inputs, m observe.Application, db ovndb.Database) (plan.Drift, []plan.Listener) {
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
	if ovsdb.Satisfied(rows, u.wantedListeners(a, m, db)) {
		return plan.InSync, exposed
	}
	return plan.Drifted, exposed
}

// wantedListeners serve IPv6 where any unit has such an address: the rows are
// those of all units.
func (u *Reconciler) wantedListeners(a inputs, m observe.Application, db ovndb.Database) []ovsdb.Connection {
	ipv6 := a.address.Is6() || slices.ContainsFunc(m.PeerAddresses(), netip.Addr.Is6)
	return ovsdb.WantedConnections(db, a.settings.InactivityProbe, ipv6)
}

// schema compares the database's schema with that of the packages. Where that
// fails, it is left alone.
//
// What was found is remembered for as long as the packages stay the same: only they
// bring a newer schema. A member looks again when it leads anew, since then it is the
// one that converts.
func (u *Reconciler) schema(ctx context.Context, p pass, db ovndb.Database, x plan.Database) plan.Drift {
	r, g := p.record, p.progress
	if drift, known := g.schemas[db]; known {
		return drift
	}
	installed, _, err := r.packages.Installed(ctx)
	if err != nil {
		u.Log.WarnContext(ctx, "cannot compare the schema", "database", db.Short(), "error", err)
		return ""
	}
	compared := installed.String()
	if x.IsRaftLeader() {
		compared += fmt.Sprintf(" term %d", x.Status.Term)
	}
	if r.Compared[db] == compared && !(x.IsRaftLeader() && p.inputs.thorough) {
		return plan.InSync
	}
	needed, err := u.Files.NeedsConversion(ctx, db)
	switch {
	case err != nil:
		u.Log.WarnContext(ctx, "cannot compare the schema", "database", db.Short(), "error", err)
		return ""
	case needed:
		g.schemas[db] = plan.Drifted
	default:
		g.schemas[db] = plan.InSync
		if r.Compared == nil {
			r.Compared = map[ovndb.Database]string{}
		}
		r.Compared[db] = compared
	}
	return g.schemas[db]
}
