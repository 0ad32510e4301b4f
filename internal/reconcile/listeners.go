package reconcile

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// clientTimeout bounds the look at one of this unit's own client ports.
const clientTimeout = 2 * time.Second

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

// served is nil if this unit's own client ports answer, over TLS: all of them if none is named.
func (u *Reconciler) served(ctx context.Context, db ovndb.Database, address netip.Addr, ports ...uint16) error {
	if len(ports) == 0 {
		ports = ovndb.ClientPorts(db)
	}
	for _, port := range ports {
		if err := u.answers(ctx, db, "ssl:"+netip.AddrPortFrom(address, port).String()); err != nil {
			return err
		}
	}
	return nil
}

// reloaded makes the server read its certificate again, and looks once more: one
// that was started while the files were being replaced has none until then.
func (u *Reconciler) reloaded(ctx context.Context, db ovndb.Database, address netip.Addr) error {
	if err := u.credentials().Touch(); err != nil {
		return err
	}
	u.Dialer.Forget()
	return await(ctx, clientTimeout, func() error { return u.served(ctx, db, address) })
}

func (u *Reconciler) answers(ctx context.Context, db ovndb.Database, endpoint string) error {
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	_, err := u.Dialer.Server(ctx, db, endpoint)
	return err
}
