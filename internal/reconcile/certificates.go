package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/certificates"
	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// certificatesSnapshot is what the certificate follows from.
func (p pass) certificatesSnapshot() certificates.Snapshot {
	a := p.inputs
	return certificates.Snapshot{
		Thorough: a.thorough, Providers: p.result.Snapshot.Application.Remote[relation.Certificates],
		Addresses: a.addresses, Primary: a.primary, Hosts: a.hosts,
	}
}

// installCertificate writes the certificates' files, under the lock of both databases if the servers are members: no
// other unit's server may be down meanwhile.
func (u *Reconciler) installCertificate(ctx context.Context, p pass, kind plan.Kind) error {
	o := p.result
	locked := true
	var served []ovndb.Database
	for _, db := range ovndb.Databases() {
		if o.state.Databases[db].ClientsServed {
			served = append(served, db)
		}
		locked = locked && server(o, db).Member() && server(o, db).Status.HasLeader()
	}
	install := func(ctx context.Context) error {
		return p.record.certificates.Install(ctx, kind, p.inputs.address, served)
	}
	if !locked {
		return install(ctx) // nothing is lost that way, and maybe everything won
	}
	return u.Members.WithLocks(ctx, o.Snapshot.Application, ovndb.Databases(), false, func(ctx context.Context, _ membership.Gate) error { return install(ctx) })
}
