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

// conversionKey is the key of external_ids of NB_Global and SB_Global for the last conversion that was begun: its
// election timer, and the version of the packages with the schema. With these packages, no unit tries again at that
// timer. The key stays, since dropping it would make ovn-northd compute everything again (rule R17).
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

// ErrRaftLeaderLost means that the member that converts the database has lost the leadership. The conversion was ended:
// it would have run for ever, at full load.
var ErrRaftLeaderLost = errors.New("the server has lost the leadership; the next try uses a larger election timer")

// raftLeaderInterval is how often a member that converts is asked whether it leads. It is silent at times, and
// answers in between.
const raftLeaderInterval = 250 * time.Millisecond

// convertBase and the election timer bound a conversion. Clients wait for about as long
// as the timer that it needs ([plan.ConversionTimer]); it ends with the lead in any case.
const convertBase = 2 * time.Minute

// Convert converts the database, which this unit's member leads, to the schema of these packages. It first records the
// attempt and its election timer in the database. It ends with [ErrRaftLeaderLost] if the member loses the leadership.
// It holds the database's lock (rule R5): members are silent while they store the converted data, so no other one may
// leave or restart then. If another unit held the lock for too long, the error is a [*finding.RefusedError].
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
