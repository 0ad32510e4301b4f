package membership

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/lease"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// lockBase is how long a lock that needs no renewal lasts.
const lockBase = 15 * time.Second

// lockTTL is how long a lock may go without renewal. A renewal is due after a third of that, and may take as long as
// a write to a database of this size. An election may take two election timers.
func (s *Changer) lockTTL(d ovndb.Database, electionTimer time.Duration) time.Duration {
	return s.StorePatience(d)*3/2 + 2*electionTimer
}

// endingTimeout is how long to wait until a removal in the log is committed, before the lock is taken with the
// removal pending.
const endingTimeout = 2 * time.Second

// errLockLost means that another unit has taken over the lock.
var errLockLost = finding.Reason{Code: finding.LockLost}.Err()

// errTooLate means that the lock may have expired, so nothing was begun under it.
var errTooLate = finding.Reason{Code: finding.LockExpired}.Err()

// busy refuses because another unit held the lock for too long.
func busy(db ovndb.Database, holder string) error {
	return finding.Refuse([]finding.Finding{finding.Of(finding.ChangedElsewhere, db, finding.Args{Unit: holder})})
}

// lock is this unit's exclusive right to change one database's membership.
type lock struct {
	changer  *Changer
	database ovndb.Database
	global   *ovsdb.Global
	// others are the endpoints of other members, set once the lock is renewed through them.
	others []string
	// server is this unit's server.
	server raft.ID
	mu     sync.Mutex // guards held, which is renewed while an act runs
	held   lease.Held
}

// lock takes the lock of a database through the unit's own server.
func (s *Changer) lock(ctx context.Context, l observe.ServerState,
	interrupted func(context.Context) error,
) (*lock, error) {
	k := &lock{changer: s, database: l.Database, server: l.Status.Server}
	if err := k.takeThrough(ctx, []string{s.socket(l.Database)}, l.Status, interrupted); err != nil {
		return nil, err
	}
	return k, nil
}

// takeThrough connects to the first endpoint that serves the database, and takes the lock once it is free. While it
// waits, it calls interrupted, and returns its error if there is one.
func (k *lock) takeThrough(ctx context.Context, endpoints []string, status raft.Status,
	interrupted func(context.Context) error,
) (err error) {
	if k.global, err = k.changer.Global(ctx, k.database, endpoints...); err != nil {
		return fmt.Errorf("cannot take the lock of %s: %w", k.database, err)
	}
	if err = k.take(ctx, status, interrupted); err != nil {
		k.global.Close()
	}
	return err
}

func (k *lock) take(ctx context.Context, status raft.Status, interrupted func(context.Context) error) error {
	s := k.changer
	t := attempt{
		lock: k, ttl: s.lockTTL(k.database, status.ElectionTimer), leads: status.Role == raft.Leader,
		begun: s.Now(), proofs: map[string]*raft.RemovalWatcher{},
	}
	progress, until := s.progressSince(time.Time{}), time.Time{}
	for {
		taken, err := t.take(ctx)
		if err != nil {
			return fmt.Errorf("cannot take the lock of %s: %w", k.database, err)
		}
		if taken {
			return nil
		}
		if until.IsZero() {
			// The wait suffices for the time of a dead holder to pass, and then for that of a living one.
			until = s.Now().Add(max(t.remaining, t.ttl) + t.ttl)
		}
		if s.Now().After(until) {
			return busy(k.database, t.record.Holder)
		}
		if t.remaining > 0 {
			progress(ctx, fmt.Sprintf(
				"%s: waiting for %s to release the lock; the lock expires in %s unless that unit renews it",
				k.database.Short(), t.record.Holder, t.remaining.Round(time.Second)))
		}
		if err := interrupted(ctx); err != nil {
			return err
		}
		if err := poll.Wait(ctx, lockInterval); err != nil {
			return busy(k.database, t.record.Holder)
		}
	}
}

type attempt struct {
	*lock
	ttl    time.Duration
	leads  bool
	begun  time.Time
	watch  lease.Watch
	proofs map[string]*raft.RemovalWatcher
	// record is the value that was last read, remaining the time for which it must stay unchanged until it expires.
	record    lease.Record
	remaining time.Duration
}

// take reads the lock, and takes it if it is free: no unit holds it, it has expired, an earlier hook of this unit
// held it, or it was taken for removals that are proved to be done.
func (t *attempt) take(ctx context.Context) (taken bool, err error) {
	s := t.changer
	ids, value, record, err := t.read(ctx)
	if err != nil {
		return false, err
	}
	t.record, t.remaining = record, t.watch.Observe(value, s.Now())
	gone, ending := s.provenRemoved(ctx, t.database, record, ids, t.proofs)
	if ending && s.Now().Before(t.begun.Add(endingTimeout)) ||
		t.remaining > 0 && record.Holder != s.Env.Unit && !record.HolderIsDone(gone) {
		return false, nil
	}
	if err := s.recordRemovals(ctx, t.database, t.global, s.unrecorded(record, ids, gone)); err != nil {
		return false, err
	}
	next := record.Taken(s.Env.Unit, t.ttl)
	next.Intents = record.UnfinishedIntents(gone)
	if t.leads {
		next = next.Padded() // a member without space on its disk lags behind in the judgement that follows
	}
	return t.swap(ctx, value, next)
}

func (k *lock) read(ctx context.Context) (ids map[string]string, value string, r lease.Record, err error) {
	ctx, cancel := context.WithTimeout(ctx, k.changer.StorePatience(k.database))
	defer cancel()
	if ids, err = k.global.Read(ctx); err != nil {
		return nil, "", r, err
	}
	value = ids[observe.LockKey]
	if r, err = lease.Parse(value); err != nil {
		k.changer.Log.WarnContext(ctx, "the lock's value is damaged; waiting until it expires", "database",
			k.database.Short(), "value", foreign.Name(value))
		r.Holder = "another unit"
	}
	return ids, value, r, nil
}

// provenRemoved reports which of the servers named by the record's intents are proved to be removed. ending reports
// whether the removal of one of them is in the log and not committed yet.
func (s *Changer) provenRemoved(ctx context.Context, d ovndb.Database, r lease.Record, ids map[string]string,
	proofs map[string]*raft.RemovalWatcher,
) (gone func(string) bool, ending bool) {
	known := map[string]bool{}
	gone = func(id string) bool { return known[id] }
	if len(r.Intents) == 0 {
		return gone, false
	}
	removed := observe.RemovedServers(ids)
	status, err := s.Control.Status(ctx, d)
	for _, m := range r.Intents {
		for _, id := range []string{m.ID, m.From} {
			if id == "" {
				continue
			}
			if proofs[id] == nil {
				proofs[id] = &raft.RemovalWatcher{Target: raft.ID(id).Short()}
			}
			known[id] = removed[raft.ID(id)] != "" || err == nil && proofs[id].Observe(status)
			ending = ending || id == m.ID && !known[id] && err == nil && proofs[id].Absent()
		}
	}
	return gone, ending
}

// unrecorded returns the texts to record for the removals in r that are proved and have no record in ids. The record
// replaces the intent: either shows that the server was a member.
func (s *Changer) unrecorded(r lease.Record, ids map[string]string, gone func(string) bool) map[raft.ID]string {
	removed, texts := observe.RemovedServers(ids), map[raft.ID]string{}
	for _, m := range r.Intents {
		id, full := raft.ParseID(m.ID)
		if full && removed[id] == "" && gone(m.ID) && (m.Kind == lease.Leave || m.Kind == lease.Kick) {
			texts[id] = s.removedText("", "gone")
		}
	}
	return texts
}

func (s *Changer) recordRemovals(ctx context.Context, d ovndb.Database, g *ovsdb.Global,
	texts map[raft.ID]string,
) error {
	if len(texts) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, s.StorePatience(d))
	defer cancel()
	records := map[string]string{}
	for id, text := range texts {
		records[observe.RemovedPrefix+string(id)] = text
	}
	if err := g.Put(ctx, records); err != nil {
		return fmt.Errorf("cannot record the removal: %w", err)
	}
	return nil
}

// swap writes the record if the store still has old. After an error it may be written nevertheless. Then the next hook
// of this unit takes the lock again, and other units wait until it expires.
func (k *lock) swap(ctx context.Context, old string, next lease.Record) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, k.changer.StorePatience(k.database))
	defer cancel()
	begun := k.changer.Now()
	if next.Holder != "" {
		next.At = begun.Unix()
	}
	ok, err := k.global.Swap(ctx, observe.LockKey, old, next.String())
	if err != nil || !ok {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.held = lease.Held{Record: next, Written: begun}
	return true, nil
}

// pending returns the servers that earlier holders have begun to remove. The lock may be nil.
func (k *lock) pending() []raft.ID { return k.withIntent(lease.Leave, lease.Kick) }

// down returns the servers of other units that are down according to the lock's record, or may be taken down at any
// moment. The lock may be nil.
func (k *lock) down() []raft.ID {
	return slices.DeleteFunc(k.withIntent(lease.Down), func(id raft.ID) bool { return id == k.server })
}

func (k *lock) withIntent(kinds ...lease.Kind) (ids []raft.ID) {
	if k == nil {
		return nil
	}
	for _, m := range k.held.Intents {
		if slices.Contains(kinds, m.Kind) {
			ids = append(ids, raft.ID(m.ID))
		}
	}
	return ids
}

// recordIntent records that a change of the server id is about to begin. The write proves that this unit still has
// the lock, and that a majority stores the intent. The returned context ends when it is too late to begin. A command
// that runs under it then ends too, even if this process was stopped meanwhile.
func (k *lock) recordIntent(ctx context.Context, kind lease.Kind,
	id string,
) (context.Context, context.CancelFunc, error) {
	if err := k.renewTo(ctx, k.held.WithIntent(k.intent(kind, id))); err != nil {
		return nil, nil, err
	}
	until, err := k.mayAct()
	if err != nil {
		return nil, nil, err
	}
	limited, cancel := context.WithDeadline(ctx, until)
	return limited, cancel, nil
}

func (k *lock) intent(kind lease.Kind, id string) lease.Intent {
	return lease.Intent{ID: id, Kind: kind, By: k.changer.Env.Unit, From: string(k.server)}
}

// mayAct is called right before an irreversible command. It returns the time until which the command may begin.
func (k *lock) mayAct() (until time.Time, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.held.MayAct(k.changer.Now()) {
		return time.Time{}, fmt.Errorf("%s: %w", k.database.Short(), errTooLate)
	}
	return k.held.Until(), nil
}

func (k *lock) renew(ctx context.Context) error {
	if k.changer.Now().Before(k.held.Written.Add(k.held.TTL() / 3)) {
		return nil
	}
	next := k.held.Renewed()
	if k.held.Pad != "" { // the change is still being judged: no short write may come in between
		next = next.Padded()
	}
	return k.renewTo(ctx, next)
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

// release records the removed servers, releases the lock, and drops this unit's own intents for which over returns
// true. The lock and over may be nil. It records the removals even if another unit has taken over the lock. A lock
// that can't be released expires by itself.
func (k *lock) release(ctx context.Context, removed map[raft.ID]string, over func(lease.Intent) bool) {
	if k == nil {
		return
	}
	defer func() { k.global.Close() }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*k.changer.StorePatience(k.database))
	defer cancel()
	err := k.releaseOnce(ctx, removed, over)
	// The member through which this is written may be leaving, too.
	for err != nil && len(k.others) > 0 && poll.Wait(ctx, observe.PollInterval) == nil {
		if err = k.reconnect(ctx); err == nil {
			err = k.releaseOnce(ctx, removed, over)
		}
	}
	if err != nil {
		k.changer.Log.WarnContext(ctx, "cannot release the lock; it expires by itself",
			"database", k.database.Short(), "ttl", k.held.TTL(), "error", err)
	}
}

func (k *lock) releaseOnce(ctx context.Context, removed map[raft.ID]string, over func(lease.Intent) bool) error {
	if err := k.changer.recordRemovals(ctx, k.database, k.global, removed); err != nil {
		return err
	}
	next := k.held.WithoutIntents(func(m lease.Intent) bool {
		return removed[raft.ID(m.ID)] != "" || over != nil && m.By == k.changer.Env.Unit && over(m)
	}).Released()
	_, err := k.swap(ctx, k.held.String(), next)
	return err
}

// releaseDown calls [lock.release] after this unit's server was taken down. ended reports whether that was not begun,
// or the server is back or down for good.
func (k *lock) releaseDown(ctx context.Context, ended bool) {
	k.release(ctx, nil, func(m lease.Intent) bool {
		return ended && m.Kind == lease.Down && m.ID == string(k.server)
	})
}

// switchEndpoints continues through other members, because this unit's server has left or is about to be taken down.
func (k *lock) switchEndpoints(ctx context.Context, addresses []string) error {
	k.others = nil
	for _, a := range addresses {
		k.others = append(k.others, ovsdb.Endpoints(k.database, a)...)
	}
	return k.reconnect(ctx)
}

func (k *lock) reconnect(ctx context.Context) error {
	global, err := k.changer.Global(ctx, k.database, k.others...)
	if err != nil {
		return err
	}
	k.global.Close()
	k.global = global
	return nil
}

// removedText returns the text of the record of a removal, for people.
func (s *Changer) removedText(unit string, how string) string {
	if unit == "" {
		unit = "unknown unit"
	}
	return fmt.Sprintf("%s, %s by %s at %s", unit, how, s.Env.Unit, s.Now().UTC().Format(time.RFC3339))
}
