package observe

import (
	"context"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// LockKey is the key in external_ids of NB_Global and SB_Global that holds the lock of R5, a [lease.Record].
const LockKey = "ovn-central:membership"

// leavingServers returns the full IDs of the servers that are leaving, according to ids, the external_ids of NB_Global
// or SB_Global; in no order.
func leavingServers(ids map[string]string) (leaving []raft.ID) {
	record, err := lease.Parse(ids[LockKey])
	if err != nil {
		return nil // a malformed lock has no data; its next holder reports it
	}
	for _, i := range record.Intents {
		if i.Kind == lease.Leave {
			leaving = append(leaving, raft.ID(i.ID))
		}
	}
	return leaving
}

// anotherUnit is returned if an unknown unit changed the membership during the observation.
const anotherUnit = "another unit"

// changedBy is the unit that changes the membership, according to external_ids of NB_Global or SB_Global from before
// and after the observation of the cluster; empty if none does.
func changedBy(before, after map[string]string, now time.Time) string {
	first, _ := lease.Parse(before[LockKey]) // a malformed one has no data; its next holder reports it
	last, _ := lease.Parse(after[LockKey])
	switch {
	case before == nil || after == nil: // unreadable, for example without a leader
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

// Global opens NB_Global or SB_Global of d at the endpoints, within the timeout for a database of its size. The caller
// closes it.
func (s *Machine) Global(ctx context.Context, d ovndb.Database, endpoints ...string) (*ovsdb.Global, error) {
	ctx, cancel := context.WithTimeout(ctx, s.StorePatience(d))
	defer cancel()
	return s.Dialer.Global(ctx, d, endpoints...)
}

// StorePatience limits one read or write of the lock.
func (s *Machine) StorePatience(d ovndb.Database) time.Duration {
	return s.Patience(d, storeTimeout)
}
