package hook

import (
	"context"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
)

// stop is a finalizer (rule R9): while leaving would break a quorum it fails, the
// servers go on serving, and Juju tries again.
func stop(ctx context.Context, u Unit) error {
	sight := u.Service.Look(ctx, u.Tools)
	if sight.Model.OthersStay() {
		u.Deployment.Admit(ctx, sight.Model)
	}
	fates, err := u.Service.Stop(ctx, sight.Model, sight.Memory)
	for _, f := range fates {
		u.Log.InfoContext(ctx, f.Database.Short()+": "+f.Text)
		if f.Gone {
			delete(sight.Own, f.Database)
		}
	}
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		if failed := u.Tools.StatusSet(ctx, juju.Blocked, "waits to leave: "+first); failed != nil {
			u.Log.WarnContext(ctx, "cannot set the status", "error", failed)
		}
		return err
	}
	u.Service.Forget(ctx, sight)
	// The servers are gone; where the relation still is, so are the identities.
	for _, id := range sight.Model.Relations {
		if err := u.Tools.RelationSet(ctx, id, sight.Own.Bag()); err != nil {
			u.Log.WarnContext(ctx, "cannot take back what this unit has published", "error", err)
		}
	}
	return nil
}
