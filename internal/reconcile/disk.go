package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// rewriteFile has a server whose file lacks entries write it anew. What hinders it is kept
// for the decision, which then says so.
func (u *Reconciler) rewriteFile(ctx context.Context, g *progress, db ovndb.Database) error {
	err := u.Members.RewriteFile(ctx, db)
	lost := (*membership.DamagedFileError)(nil)
	if err == nil {
		return u.Members.PublishDamage(ctx, u.Observer.ObserveServer(ctx, db), "")
	} else if !errors.As(err, &lost) {
		return err
	}
	u.Log.ErrorContext(ctx, "the server's file lacks entries", "database", db.Short(), "error", err)
	g.unmended[db] = lost.Err.Error()
	return nil
}

// rewriteFiles makes sure of the files of all servers that are about to be stopped.
func (u *Reconciler) rewriteFiles(ctx context.Context) error {
	for _, db := range ovndb.Databases() {
		if err := u.Members.RewriteFile(ctx, db); err != nil {
			return err
		}
	}
	return nil
}

// withLost adds to restarts that are due what stands against them.
func (u *Reconciler) withLost(ctx context.Context, pending map[ovndb.Service]string) (map[ovndb.Service]string, error) {
	for _, db := range ovndb.Databases() {
		reason, due := pending[ovndb.ServiceOf(db)]
		if !due {
			continue
		}
		lost, err := u.Observer.MissingEntries(ctx, u.Observer.ObserveServer(ctx, db))
		if err != nil {
			return nil, err
		}
		if lost != "" {
			pending[ovndb.ServiceOf(db)] = reason + "; its file lacks entries and must be rewritten first"
		}
	}
	return pending, nil
}

// publishDamage has the other units know of a server that could not be mended, and of one
// that was.
func (u *Reconciler) publishDamage(ctx context.Context, o Result) {
	for _, c := range o.Report.Clusters {
		l := server(o, c.Database)
		found, observed := o.state.Databases[c.Database]
		if !observed { // of what was not looked at nothing is taken back
			continue
		}
		lost, told := found.Damage, c.Condition == ovndb.Serving && slices.Contains(c.View.Lost, c.Status.Server)
		if l.Condition != ovndb.Serving || lost == "" && !told {
			continue
		}
		if err := u.Members.PublishDamage(ctx, l, lost); err != nil {
			u.Log.WarnContext(ctx, "cannot publish the state of the server's file", "database", c.Database.Short(), "missing", lost, "error", err)
		}
	}
}
