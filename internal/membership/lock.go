package membership

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// Keys in external_ids of NB_Global and SB_Global.
const (
	// lockKey holds the lock of rule R5, a lease.Record.
	lockKey = "ovn-central:membership"
	// removedPrefix, followed by a full server ID, says which unit's server was
	// removed, when and by which unit. It outlives the unit and its relation, so
	// that a server that was down when it was kicked can learn of it.
	removedPrefix = "ovn-central:removed/"
)

// lockBase and the election timer decide how long a lock may go without renewal:
// a leader's own leave takes one election timer, a failed election two.
const lockBase = 15 * time.Second

func lockTTL(electionTimer time.Duration) time.Duration { return lockBase + 2*electionTimer }

// endingTimeout is how long to look for the end of a removal that is in the log
// already, before the lock is taken with it still pending.
const endingTimeout = 2 * time.Second

// errLockLost means that another unit has taken the lock over.
var errLockLost = errors.New("another unit has taken over the lock")

// BusyError means that another unit held the lock for too long.
type BusyError struct {
	Database raft.Database
	Holder   string
}

// Error names the holder.
func (e *BusyError) Error() string {
	return fmt.Sprintf("%s: %s is changing the membership and was not done in time", e.Database.Short(), e.Holder)
}

// lock is the right to change one database's membership, held by this unit.
type lock struct {
	service  *Service
	database raft.Database
	global   *ovsdb.Global
	// others are the endpoints of other members, once the lock goes through them.
	others []string
	held   lease.Held
}

// lock takes the lock of a database, through the unit's own server. It waits
// while another unit holds it, until that unit releases it, the change that it
// was taken for is seen to be done, or its time is over. interrupted is asked
// during the wait and ends it with an error.
func (s *Service) lock(ctx context.Context, l Local, interrupted func(context.Context) error) (*lock, error) {
	global, err := s.global(ctx, l.Database, "unix:"+s.Control.Paths.Socket(l.Database))
	if err != nil {
		return nil, fmt.Errorf("cannot take the lock of %s: %w", l.Database, err)
	}
	k := &lock{service: s, database: l.Database, global: global}
	if err := k.take(ctx, l.Status, interrupted); err != nil {
		global.Close()
		return nil, err
	}
	return k, nil
}

func (s *Service) global(ctx context.Context, d raft.Database, endpoints ...string) (*ovsdb.Global, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return s.Dialer.Global(ctx, d, endpoints...)
}

func (k *lock) take(ctx context.Context, status raft.Status, interrupted func(context.Context) error) error {
	var watch lease.Watch
	ttl := lockTTL(status.ElectionTimer)
	begun, proofs := k.service.Now(), map[string]*raft.Proof{}
	var until, told time.Time
	for {
		ids, value, record, err := k.read(ctx)
		if err != nil {
			return fmt.Errorf("cannot take the lock of %s: %w", k.database, err)
		}
		remaining := watch.Observe(value, k.service.Now())
		if until.IsZero() {
			// Long enough to see one dead holder's time pass, and then a living one's.
			until = k.service.Now().Add(max(remaining, ttl) + ttl)
		}
		pending, ending := k.unfinished(ctx, record, ids, proofs)
		if ending && k.service.Now().Before(begun.Add(endingTimeout)) {
			if err := wait(ctx, pollInterval); err != nil {
				return &BusyError{Database: k.database, Holder: record.Holder}
			}
			continue
		}
		free := remaining == 0 ||
			record.Holder == k.service.Env.Unit || // of an earlier hook, cut off: Juju runs one at a time
			len(record.Pending) > 0 && len(pending) == 0
		if free {
			next := record.Taken(k.service.Env.Unit, ttl)
			next.Pending = pending
			ok, err := k.swap(ctx, value, next)
			if err != nil {
				return fmt.Errorf("cannot take the lock of %s: %w", k.database, err)
			}
			if ok {
				return nil
			}
		}
		if k.service.Now().After(until) {
			return &BusyError{Database: k.database, Holder: record.Holder}
		}
		if now := k.service.Now(); now.After(told.Add(tellInterval)) {
			told = now
			k.service.Progress(ctx, fmt.Sprintf("%s: waiting for %s, which is changing the membership", k.database.Short(), record.Holder))
		}
		if err := interrupted(ctx); err != nil {
			return err
		}
		if err := wait(ctx, lockInterval); err != nil {
			return &BusyError{Database: k.database, Holder: record.Holder}
		}
	}
}

func (k *lock) read(ctx context.Context) (ids map[string]string, value string, r lease.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if ids, err = k.global.Read(ctx); err != nil {
		return nil, "", r, err
	}
	value = ids[lockKey]
	if r, err = lease.Parse(value); err != nil {
		k.service.Log.WarnContext(ctx, "the lock's value is damaged; waiting for its time to pass", "database", k.database.Short(), "value", value)
		r.Holder = "somebody"
	}
	return ids, value, r, nil
}

// unfinished keeps those pending changes whose server still stands in the
// committed configuration. ending says that one is absent already by an entry that
// is not seen committed yet, which is worth another look.
func (k *lock) unfinished(ctx context.Context, r lease.Record, ids map[string]string, proofs map[string]*raft.Proof) (pending []string, ending bool) {
	if len(r.Pending) == 0 {
		return nil, false
	}
	status, err := k.service.Control.Status(ctx, k.database)
	if err != nil {
		return r.Pending, false
	}
	removed := removedServers(ids)
	for _, id := range r.Pending {
		if proofs[id] == nil {
			proofs[id] = &raft.Proof{Target: raft.ID(id).Short()}
		}
		if removed[raft.ID(id)] == "" && !proofs[id].Observe(status) {
			pending = append(pending, id)
			ending = ending || proofs[id].Absent()
		}
	}
	return pending, ending
}

// swap writes the record if the store still has old. A failure of the call is
// settled by reading again.
func (k *lock) swap(ctx context.Context, old string, next lease.Record) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	begun := k.service.Now()
	ok, err := k.global.Swap(ctx, lockKey, old, next.String())
	if err != nil || !ok {
		return false, err
	}
	k.held = lease.Held{Record: next, Written: begun}
	return true, nil
}

// pending are the changes that earlier holders did not see finished.
func (k *lock) pending() []raft.ID {
	ids := make([]raft.ID, len(k.held.Pending))
	for i, id := range k.held.Pending {
		ids[i] = raft.ID(id)
	}
	return ids
}

// begin notes that the removal of id is about to be begun. It proves, by a
// write, that the lock is still this unit's and that a majority stores it. What
// it returns is the last moment at which to begin.
func (k *lock) begin(ctx context.Context, id string) error {
	if err := k.renewTo(ctx, k.held.WithPending(id)); err != nil {
		return err
	}
	if !k.held.MayAct(k.service.Now()) {
		return fmt.Errorf("%s: %w", k.database.Short(), errLockLost)
	}
	return nil
}

// renew keeps the lock while the change is awaited.
func (k *lock) renew(ctx context.Context) error {
	if k.service.Now().Before(k.held.Written.Add(k.held.TTL() / 3)) {
		return nil
	}
	return k.renewTo(ctx, k.held.Renewed())
}

func (k *lock) renewTo(ctx context.Context, next lease.Record) error {
	ok, err := k.swap(ctx, k.held.String(), next)
	if err != nil {
		return fmt.Errorf("cannot renew the lock of %s: %w", k.database, err)
	}
	if !ok {
		return fmt.Errorf("%s: %w", k.database.Short(), errLockLost)
	}
	return nil
}

// release gives the lock up, and records what was removed under it. The record is
// not bound to the lock: once the removal is seen by all, another unit may have
// taken it. Where the lock can't be released, it ends by itself.
func (k *lock) release(ctx context.Context, removed map[raft.ID]string) {
	defer func() { k.global.Close() }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*storeTimeout)
	defer cancel()
	err := k.releaseOnce(ctx, removed)
	// The member that this goes through may be leaving too: the rest have the same row.
	for err != nil && len(k.others) > 0 && wait(ctx, pollInterval) == nil {
		if err = k.reconnect(ctx); err == nil {
			err = k.releaseOnce(ctx, removed)
		}
	}
	if err != nil {
		k.service.Log.WarnContext(ctx, "cannot release the lock; it ends by itself",
			"database", k.database.Short(), "ttl", k.held.TTL(), "error", err)
	}
}

func (k *lock) releaseOnce(ctx context.Context, removed map[raft.ID]string) error {
	records := map[string]string{}
	for id, text := range removed {
		records[removedPrefix+string(id)] = text
	}
	if len(records) > 0 {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		if err := k.global.Put(ctx, records); err != nil {
			return fmt.Errorf("cannot record the removal: %w", err)
		}
	}
	next := k.held.WithoutPending(func(id string) bool { return removed[raft.ID(id)] != "" }).Released()
	_, err := k.swap(ctx, k.held.String(), next)
	return err
}

// moveTo lets the lock be kept and released through other members: this unit's own
// server has left, or is about to be taken down.
func (k *lock) moveTo(ctx context.Context, addresses []string) error {
	k.others = nil
	for _, a := range addresses {
		k.others = append(k.others, ovsdb.Endpoints(k.database, a)...)
	}
	return k.reconnect(ctx)
}

func (k *lock) reconnect(ctx context.Context) error {
	global, err := k.service.global(ctx, k.database, k.others...)
	if err != nil {
		return err
	}
	k.global.Close()
	k.global = global
	return nil
}

// removedServers picks the records of removals out of external_ids.
func removedServers(ids map[string]string) map[raft.ID]string {
	all := map[raft.ID]string{}
	for key, text := range ids {
		if id, found := strings.CutPrefix(key, removedPrefix); found {
			all[raft.ID(id)] = text
		}
	}
	return all
}

// removedText is what a record of a removal says: for people, not for programs.
func (s *Service) removedText(unit string, how string) string {
	if unit == "" {
		unit = "unknown unit"
	}
	return fmt.Sprintf("%s, %s by %s at %s", unit, how, s.Env.Unit, s.Now().UTC().Format(time.RFC3339))
}
