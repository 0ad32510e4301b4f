package steps

import (
	"context"
	"errors"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/membership"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// rewriteFile makes a server rewrite its file that lacks entries. If it can't, the next decision reports that.
func (u *Unit) rewriteFile(ctx context.Context, _ Snapshot, s plan.Step) error {
	db := s.Database
	err := u.Members.RewriteFile(ctx, db)
	damaged := (*membership.DamagedFileError)(nil)
	if err == nil {
		return u.Members.PublishDamage(ctx, u.Observer.ObserveServer(ctx, db), "")
	}
	if !errors.As(err, &damaged) {
		return err
	}
	u.Log.ErrorContext(ctx, "the server's file lacks entries", "database", db.Short(), "error", err)
	if u.unmended == nil {
		u.unmended = map[ovndb.Database]string{}
	}
	u.unmended[db] = damaged.Err.Error()
	return nil
}

// PublishDamage publishes to the other units which servers' files lack entries.
func (u *Unit) PublishDamage(ctx context.Context, o Snapshot) {
	for _, c := range o.Report.Clusters {
		l := o.Servers[c.Database]
		found, observed := o.State.Databases[c.Database]
		if !observed { // its damage stays published
			continue
		}
		lost, published := found.Damage, c.Condition == ovndb.Serving && slices.Contains(c.View.Lost, c.Status.Server)
		if l.Condition != ovndb.Serving || lost == "" && !published {
			continue
		}
		if err := u.Members.PublishDamage(ctx, l, lost); err != nil {
			u.Log.WarnContext(ctx, "cannot publish the state of the server's file",
				"database", c.Database.Short(), "missing", lost, "error", err)
		}
	}
}

// TrimMemory makes servers that don't do it by themselves return memory after each compaction. A restarted server
// forgets the setting and can't be asked for it, so each hook sets it. A server that has not reported its version
// yet waits for the hook in which it does ([restarts.Manager.Complete]). A failure fails no hook.
func (u *Unit) TrimMemory(ctx context.Context, servers map[ovndb.Database]observe.ServerState) {
	for _, db := range ovndb.Databases() {
		runs, _ := u.Restarts.Runs(ovndb.ServiceOf(db))
		if servers[db].Condition != ovndb.Serving || runs.OVS == "" || plan.TrimsMemory(runs.OVS) {
			continue
		}
		if err := u.Control.TrimMemory(ctx, db); err != nil {
			u.Log.WarnContext(ctx, "cannot enable memory trimming on compaction", "database", db.Short(), "error", err)
		}
	}
}
