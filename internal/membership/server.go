package membership

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/raftfile"
)

// joinPatience is how long a joining server that has reached a member may take to become a member, besides the time
// for its database's size ([raft.Patience]).
const joinPatience = 10 * time.Second

// EndJoin stops a joining server, and checks that it has not become a member meanwhile: the others would count it for
// ever. If it has, EndJoin starts it again and returns a [*PendingError].
func (s *Changer) EndJoin(ctx context.Context, d ovndb.Database) error {
	joined := &PendingError{d, finding.Reason{Code: finding.JoinedMeanwhile}}
	if s.joins(ctx, d) {
		return joined
	}
	service := ovndb.ServiceOf(d)
	if err := s.Services.Stop(ctx, service); err != nil {
		return err
	}
	member, err := s.Files.Joined(ctx, d)
	if err == nil && !member {
		return nil
	}
	if started := s.Services.Start(ctx, service); started != nil {
		return fmt.Errorf("cannot start the server of %s again, which has joined: %w", d, started)
	}
	if err != nil {
		return fmt.Errorf("cannot find out whether the server of %s has joined: %w", d, err)
	}
	return joined
}

// joins reports whether a server has become a member. A server that has reached the cluster gets time for it: the
// leader may already count it before the server itself knows.
func (s *Changer) joins(ctx context.Context, d ovndb.Database) bool {
	var l observe.ServerState
	poll.Await(ctx, s.Patience(d, joinPatience), observe.PollInterval, nil, func() bool {
		l = s.Observer.ObserveServer(ctx, d)
		return l.Member() || l.Condition != ovndb.Serving || !l.Status.HasLeader()
	})
	return l.Member()
}

// conversionKey is the key in external_ids of NB_Global and SB_Global for the last conversion that was begun. The
// value is the election timer, and the version of the packages with the schema. With these packages, no unit tries
// again at that timer. The key stays, since dropping it would make ovn-northd compute everything again (rule R17).
const conversionKey = "ovn-central:conversion"

const conversionUnit = " ms, "

// TriedConversion returns the election timer of the last attempt to convert the database to the schema of this version
// of the packages; 0 if there was none.
func (s *Changer) TriedConversion(ctx context.Context, d ovndb.Database, version string) (timer time.Duration,
	err error,
) {
	err = s.onConversion(ctx, d, func(_ context.Context, _ *ovsdb.Global, ids map[string]string) error {
		millis, of, _ := strings.Cut(ids[conversionKey], conversionUnit)
		if n, err := strconv.Atoi(millis); err == nil && of == version {
			timer = time.Duration(n) * time.Millisecond
		}
		return nil
	})
	return timer, err
}

func (s *Changer) onConversion(ctx context.Context, d ovndb.Database,
	do func(context.Context, *ovsdb.Global, map[string]string) error,
) error {
	if err := s.withGlobal(ctx, d, []string{s.socket(d)}, do); err != nil {
		return fmt.Errorf("cannot read or record the conversion of %s: %w", d, err)
	}
	return nil
}

// ErrRaftLeaderLost means that the converting member has lost the leadership. The conversion was ended: otherwise it
// would have run for ever, at full load.
var ErrRaftLeaderLost = finding.Reason{Code: finding.LeadershipLost}.Err()

// raftLeaderInterval is the interval at which a converting member is asked whether it leads. It is silent at times,
// and answers in between.
const raftLeaderInterval = 250 * time.Millisecond

// convertBase and the election timer bound a conversion. Clients wait for about the time of the timer that the
// conversion needs ([plan.ConversionTimer]); the conversion ends in any case if the member loses the leadership.
const convertBase = 2 * time.Minute

// Convert converts the database, which this unit's member leads, to the schema of these packages. It first records
// the attempt and its election timer in the database. It returns [ErrRaftLeaderLost] if the member loses the
// leadership. It holds the database's lock (rule R5): members are silent while they store the converted data, so no
// other member may leave or restart then. If another unit held the lock for too long, the error is a
// [*finding.RefusedError].
func (s *Changer) Convert(ctx context.Context, m observe.Application, d ovndb.Database, version string,
	timer time.Duration,
) error {
	return s.WithLock(ctx, m, d, false, func(ctx context.Context, _ Gate) error {
		return s.convert(ctx, d, version, timer)
	})
}

func (s *Changer) convert(ctx context.Context, d ovndb.Database, version string, timer time.Duration) error {
	begun, err := s.Control.Status(ctx, d)
	if err != nil {
		return fmt.Errorf("cannot convert %s: %w", d, err)
	}
	if begun.Role != raft.Leader {
		return fmt.Errorf("cannot convert %s: %w", d, ErrRaftLeaderLost)
	}
	err = s.onConversion(ctx, d, func(ctx context.Context, g *ovsdb.Global, _ map[string]string) error {
		return g.Put(ctx, map[string]string{conversionKey: fmt.Sprint(timer.Milliseconds(), conversionUnit, version)})
	})
	if err != nil {
		return err
	}
	leading, lost := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		for poll.Wait(leading, raftLeaderInterval) == nil {
			now, err := s.Control.Status(leading, d)
			if err == nil && (now.Role != raft.Leader || now.Term != begun.Term) {
				lost(ErrRaftLeaderLost)
			}
		}
	})
	err = s.Files.Convert(leading, d, convertBase+2*timer)
	switch {
	case err == nil:
	case errors.Is(context.Cause(leading), ErrRaftLeaderLost):
		err = fmt.Errorf("cannot convert %s: %w", d, ErrRaftLeaderLost)
	case ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded): // the timeout was not the cause
		err = errors.Join(err, s.onConversion(ctx, d,
			func(ctx context.Context, g *ovsdb.Global, _ map[string]string) error {
				return g.Drop(ctx, conversionKey)
			}))
	}
	lost(nil)
	watch.Wait()
	return err
}

// rewritePatience is how long a server may take to replace the old file with the new one after it has reported that
// it compacts.
const rewritePatience = 5 * time.Second

const rewriteInterval = 50 * time.Millisecond

// DamagedFileError is returned if a server's file lacks entries of its log and could not be rewritten. The server must
// not be stopped.
type DamagedFileError struct {
	Database ovndb.Database
	// Missing describes the lacking entries. Err explains why the file was not rewritten.
	Missing finding.Reason
	Err     error
}

func (e *DamagedFileError) Error() string {
	return fmt.Sprintf("%s: the file of this unit's server lacks entries, so it must not be stopped (%s): %v",
		e.Database.Short(), e.Missing, e.Err)
}

// Unwrap returns the reason why the file could not be rewritten.
func (e *DamagedFileError) Unwrap() error { return e.Err }

// RewriteFile makes a server whose file lacks entries write it again from memory, and proves with ovsdb-tool that the
// new file can be loaded. It does nothing if the file is whole. Call it before a server is stopped. The error is a
// [*DamagedFileError] if the file still lacks entries.
func (s *Changer) RewriteFile(ctx context.Context, d ovndb.Database) error {
	l := s.Observer.ObserveServer(ctx, d)
	lost, err := s.Observer.MissingEntries(ctx, l)
	if err != nil {
		return fmt.Errorf("cannot find out whether the file of %s is whole: %w", d, err)
	}
	if lost.IsZero() && l.Condition == ovndb.Hung {
		log, err := raftfile.ReadLog(ctx, s.Files.Paths, d)
		if err == nil && log.Damage != "" {
			return &DamagedFileError{d, finding.Quote(log.Damage), l.Err}
		}
	}
	if lost.IsZero() {
		return nil
	}
	s.Log.WarnContext(ctx, "the server's file lacks entries; the server rewrites it", "database", d.Short(), "lost", lost)
	if err := s.Control.Compact(ctx, d); err != nil {
		return &DamagedFileError{d, lost, err}
	}
	// The server may write the file a moment later.
	poll.Await(ctx, s.Patience(d, rewritePatience), rewriteInterval, nil, func() bool {
		lost, err = s.Observer.MissingEntries(ctx, s.Observer.ObserveServer(ctx, d))
		return err != nil || lost.IsZero()
	})
	if err == nil && lost.IsZero() {
		var damage string
		damage, err = s.Files.Damaged(ctx, d)
		lost = finding.Quote(damage)
	}
	switch {
	case err != nil:
		return &DamagedFileError{d, lost, err}
	case !lost.IsZero():
		return &DamagedFileError{d, lost, finding.Reason{Code: finding.FileNotRewritten}.Err()}
	}
	s.Log.InfoContext(ctx, "the server has rewritten its file, which is whole", "database", d.Short())
	return nil
}

// PublishDamage records for the other units whether this unit's server has lost entries; lost describes them, and is
// empty if there are none. It writes only if that changes the record (rule R17). If its own server can't write, it
// writes through another member. It removes the record only if ovsdb-tool finds no damage in the file.
func (s *Changer) PublishDamage(ctx context.Context, l observe.ServerState, lost string) error {
	if !l.Member() || !l.Status.HasLeader() {
		return nil
	}
	endpoints := [][]string{{s.socket(l.Database)}}
	for _, address := range observe.OtherAddresses(l.Status) {
		endpoints = append(endpoints, ovsdb.Endpoints(l.Database, address))
	}
	key := observe.DamagedPrefix + string(l.Status.Server)
	var err error
	for _, e := range endpoints {
		err = s.withGlobal(ctx, l.Database, e, func(limited context.Context, g *ovsdb.Global, ids map[string]string) error {
			switch _, told := ids[key]; {
			case told == (lost != ""):
				return nil
			case lost != "":
				text := fmt.Sprintf("%s, %s: %s", s.Env.Unit, s.Now().UTC().Format(time.RFC3339), lost)
				return g.Put(limited, map[string]string{key: text})
			}
			if damage, err := s.Files.Damaged(ctx, l.Database); err != nil || damage != "" {
				return err
			}
			return g.Drop(limited, key)
		})
		if err == nil {
			return nil
		}
	}
	return fmt.Errorf("cannot record for the other units how this unit's server of %s is: %w", l.Database, err)
}
