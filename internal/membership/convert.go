package membership

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
)

// conversionKey is the key of external_ids of NB_Global and SB_Global that records at which election timer a
// conversion of the database was last begun, and to the schema of which packages: no unit tries again at that timer.
// It stays there, since dropping it would make ovn-northd compute everything again (rule R17). It does not count for
// other packages.
const conversionKey = "ovn-central:conversion"

const conversionUnit = " ms, "

// TriedConversion returns the election timer at which any unit has last begun to convert the database to the schema of
// that version of the packages; 0 if none has.
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

// ErrRaftLeaderLost means that another member leads, or none does, since this one has begun to convert the database.
// The conversion was ended: it would have run for ever, at full load.
var ErrRaftLeaderLost = errors.New("the server has lost the leadership; the next try uses a larger election timer")

// raftLeaderInterval is how often a member that converts is asked whether it leads. It is silent at times, and
// answers in between.
const raftLeaderInterval = 250 * time.Millisecond

// convertBase and the election timer bound a conversion. Clients wait for about as long
// as the timer that it needs ([plan.ConversionTimer]); it ends with the lead in any case.
const convertBase = 2 * time.Minute

// Convert brings the database, which this unit's member leads, to the schema of these packages. It ends with
// [ErrRaftLeaderLost] if the member no longer leads. Before it begins, it records in the database at which election
// timer it tries. It has the database's lock meanwhile (rule R5): members are silent while they store what was
// converted, so that another one that leaves or restarts then could be one too many. If another unit held the lock
// for too long, the error is a [*finding.RefusedError].
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
	case ctx.Err() == nil && !errors.Is(err, context.DeadlineExceeded): // the time was not why
		err = errors.Join(err, s.onConversion(ctx, d,
			func(ctx context.Context, g *ovsdb.Global, _ map[string]string) error {
				return g.Drop(ctx, conversionKey)
			}))
	}
	lost(nil)
	watch.Wait()
	return err
}
