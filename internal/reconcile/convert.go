package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// convert brings a database to the schema of the packages. It compares once more right
// before: what a hook that was killed has begun may have ended since.
func (u *Reconciler) convert(ctx context.Context, p pass, s plan.Step) error {
	db, o := s.Database, p.result
	x := o.state.Databases[db]
	delete(p.progress.schemas, db)
	needed, err := u.Files.NeedsConversion(ctx, db)
	if err != nil || !needed {
		return err
	}
	most := plan.ConversionTimer(x.Size, x.Runs)
	if err := u.Tools.StatusSet(ctx, juju.Maintenance, fmt.Sprintf("%s: its schema is being converted; its clients may wait for up to %d s", db.Short(), most/time.Second)); err != nil {
		u.Log.WarnContext(ctx, "cannot set the status", "error", err)
	}
	return u.Members.Convert(ctx, o.Snapshot.Application, db, o.state.Packages.Version.String(), s.Timer)
}
