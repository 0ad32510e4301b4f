package membership

import (
	"context"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// ClearEndedIntents drops intents that this unit knows to be over from a lock that no unit holds, if this unit's server
// is a plain member: a restart cancels a leave, a lost kick is never carried out, and the server is back. Until then
// the other units expect these changes.
func (s *Changer) ClearEndedIntents(ctx context.Context) {
	for _, d := range ovndb.Databases() {
		if err := s.clearEndedIntents(ctx, d); err != nil {
			s.Log.DebugContext(ctx, "cannot remove ended changes from the lock", "database", d.Short(), "error", err)
		}
	}
}

func (s *Changer) clearEndedIntents(ctx context.Context, d ovndb.Database) error {
	return s.withGlobal(ctx, d, []string{s.socket(d)}, func(ctx context.Context, g *ovsdb.Global,
		ids map[string]string,
	) error {
		record, err := lease.Parse(ids[observe.LockKey])
		if err != nil || record.Holder != "" || len(record.Intents) == 0 {
			return err
		}
		l := s.Observer.ObserveServer(ctx, d)
		if !l.MemberWithLeader() {
			return nil
		}
		gone, _ := s.provenRemoved(ctx, d, record, ids, map[string]*raft.RemovalWatcher{})
		next, changed := record.WithoutEnded(lease.LiveOwner{
			Unit: s.Env.Unit, Server: string(l.Status.Server), Gone: gone, Now: s.Now(),
		})
		if !changed {
			return nil
		}
		if err := s.recordRemovals(ctx, d, g, s.unrecorded(record, ids, gone)); err != nil {
			return err
		}
		_, err = g.Swap(ctx, observe.LockKey, ids[observe.LockKey], next.String())
		return err
	})
}
