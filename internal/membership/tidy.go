package membership

import (
	"context"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// TidyLocks takes this unit's own server out of the pending changes of a lock
// that nobody holds, where the server is a plain member again: a restart cancels
// a leave, and a kick that was lost is never carried out. Until then the others
// reckon with its going.
func (s *Service) TidyLocks(ctx context.Context) {
	for _, d := range raft.Databases() {
		if err := s.tidyLock(ctx, d); err != nil {
			s.Log.DebugContext(ctx, "cannot tidy the lock", "database", d.Short(), "error", err)
		}
	}
}

func (s *Service) tidyLock(ctx context.Context, d raft.Database) error {
	l := s.Observe(ctx, d)
	if l.Condition != Serving || l.Status.State != raft.ClusterMember || !l.Status.HasLeader() {
		return nil
	}
	global, err := s.global(ctx, d, "unix:"+s.Control.Paths.Socket(d))
	if err != nil {
		return err
	}
	defer global.Close()
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	ids, err := global.Read(ctx)
	if err != nil {
		return err
	}
	record, err := lease.Parse(ids[lockKey])
	own := string(l.Status.Server)
	if err != nil || record.Holder != "" || !slices.Contains(record.Pending, own) {
		return err
	}
	next := record.WithoutPending(func(id string) bool { return id == own })
	_, err = global.Swap(ctx, lockKey, ids[lockKey], next.String())
	return err
}
