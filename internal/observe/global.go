package observe

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// LockKey is the key in external_ids of NB_Global and SB_Global that holds the lock of rule
// R5, a [lease.Record].
const LockKey = "ovn-central:membership"

// leavingServers returns the full IDs of the servers of which ids, the external_ids of
// NB_Global or SB_Global, say that their own units have them leave; in no order.
func leavingServers(ids map[string]string) (leaving []raft.ID) {
	record, err := lease.Parse(ids[LockKey])
	if err != nil {
		return nil // a lock that is damaged tells nothing; its next holder says so
	}
	for _, i := range record.Intents {
		if i.Kind == lease.Leave {
			leaving = append(leaving, raft.ID(i.ID))
		}
	}
	return leaving
}

// anotherUnit has changed the membership while it was looked at, and is done.
const anotherUnit = "another unit"

// changedBy is the unit that changes the membership, by external_ids of NB_Global or SB_Global as they
// stood before the cluster was looked at and after it; "" where none does.
func changedBy(before, after map[string]string, now time.Time) string {
	first, _ := lease.Parse(before[LockKey]) // a damaged one tells nothing; its next holder says so
	last, _ := lease.Parse(after[LockKey])
	switch {
	case before == nil || after == nil: // not to be read, as while no leader is known
		return ""
	case last.HeldAt(now):
		return last.Holder
	case first.HeldAt(now):
		return first.Holder
	case last.Term != first.Term:
		return anotherUnit
	}
	return ""
}

// Global opens NB_Global or SB_Global of d at the endpoints, within the time that a
// database of its size is given; the caller closes it.
func (s *Machine) Global(ctx context.Context, d ovndb.Database, endpoints ...string) (*ovsdb.Global, error) {
	ctx, cancel := context.WithTimeout(ctx, s.StorePatience(d))
	defer cancel()
	return s.Dialer.Global(ctx, d, endpoints...)
}

// StorePatience is how long one read or write of the lock may take.
func (s *Machine) StorePatience(d ovndb.Database) time.Duration {
	return s.Patience(d, storeTimeout)
}
