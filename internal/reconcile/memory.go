package reconcile

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// trimMemory has servers that don't do it by themselves give memory back after each
// compaction. A server that was started since forgets it, and can't be asked: so they are
// told in every hook. One that did not say yet which version it is waits for the hook in
// which it does ([restarts.Manager.Complete]). What goes wrong with it fails no hook.
func (u *Reconciler) trimMemory(ctx context.Context, r *record, o Result) {
	for _, db := range ovndb.Databases() {
		runs, _ := r.restarts.Runs(ovndb.ServiceOf(db))
		if server(o, db).Condition != ovndb.Serving || runs.OVS == "" || plan.TrimsMemory(runs.OVS) {
			continue
		}
		if err := u.Control.TrimMemory(ctx, db); err != nil {
			u.Log.WarnContext(ctx, "cannot enable memory trimming on compaction", "database", db.Short(), "error", err)
		}
	}
}
