package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// trimMemory has servers that don't do it by themselves give memory back after each
// compaction. A server that was started since forgets it, and can't be asked: so they are
// told in every hook. One that did not say yet which version it is waits for the hook in
// which it does ([Reconciler.complete]). What goes wrong with it fails no hook.
func (u *Reconciler) trimMemory(ctx context.Context, r *record, o Result) {
	for _, db := range ovndb.Databases() {
		ovs := r.Running[ovndb.ServiceOf(db)].OVS
		if server(o, db).Condition != ovndb.Serving || ovs == "" || plan.TrimsMemory(ovs) {
			continue
		}
		if err := u.Control.TrimMemory(ctx, db); err != nil {
			u.Log.WarnContext(ctx, "cannot enable memory trimming on compaction", "database", db.Short(), "error", err)
		}
	}
}
