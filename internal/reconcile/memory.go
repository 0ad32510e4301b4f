package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// trimMemory has servers that don't do it by themselves give memory back after each
// compaction. A server that was started since forgets it, and can't be asked: so they are
// told in every hook. What goes wrong with it fails no hook.
func (u *Reconciler) trimMemory(ctx context.Context, r *record, o Result) {
	for _, db := range ovndb.Databases() {
		if server(o, db).Condition != ovndb.Serving || plan.TrimsMemory(r.Running[ovndb.ServiceOf(db)].OVS) {
			continue
		}
		if err := u.Control.TrimMemory(ctx, db); err != nil {
			u.Log.WarnContext(ctx, "cannot have the server give memory back after compactions", "database", db.Short(), "error", err)
		}
	}
}
