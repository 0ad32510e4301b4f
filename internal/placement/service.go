package placement

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// batch is how many lists of candidates are written in one transaction. Measured with
// ovn-northd 23.03 and 10,000 routers: it takes 6.2 s after 1 and 6.9 s after 100, and
// 15 s after 1,000, for which everybody's changes wait.
const batch = 100

// attempts bounds the plans that are made because others kept changing what was read.
const attempts = 20

// Planner makes a plan of a state; left is how many moves it may still make, where the
// options bound them.
type Planner func(s gateway.State, done int) gateway.Plan

// Service shows and changes where gateways are.
type Service struct {
	Dialer *ovsdb.Dialer
	// NB and SB are endpoints of the databases.
	NB, SB []string
	// Progress tells a person how far it is.
	Progress func(ctx context.Context, line string)
	// Catch bounds the wait for ovn-northd after each batch; 0 doesn't wait, and the
	// batches follow one another.
	Catch time.Duration
}

// Look reads both databases.
func (s *Service) Look(ctx context.Context) (*Cloud, error) {
	nb, err := s.Dialer.Northbound(ctx, s.NB...)
	if err != nil {
		return nil, err
	}
	sb, err := s.Dialer.Southbound(ctx, s.SB...)
	if err != nil {
		return nil, err
	}
	return Compose(nb, sb), nil
}

// Apply carries plans out until there is nothing left to do, and returns how many groups
// it has changed. Where somebody else has changed what a batch was planned from, nothing
// of the batch is written, and a new plan is made of what there is then. After an error
// each group is as it was or as it was planned.
func (s *Service) Apply(ctx context.Context, plan Planner) (changed int, err error) {
	w, err := s.Dialer.Gateways(ctx, s.NB...)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	moved := 0
	for range attempts {
		cloud, err := s.Look(ctx)
		if err != nil {
			return changed, err
		}
		p := plan(cloud.State, moved)
		if p.Empty() {
			return changed, nil
		}
		s.tell(ctx, fmt.Sprintf("%s of %d gateways", p.Operation, len(p.Changes)))
		written := 0
		for some := range slices.Chunk(p.Changes, batch) {
			if err := s.write(ctx, w, cloud, some); errors.Is(err, ovsdb.ErrChanged) {
				s.tell(ctx, "somebody else has changed gateways meanwhile; planning again")
				break
			} else if err != nil {
				return changed, fmt.Errorf("cannot go on after %d of %d gateways: %w", changed, changed+len(p.Changes)-written, err)
			}
			for _, c := range some {
				if c.Interrupts {
					moved++
				}
			}
			written += len(some)
			changed += len(some)
			s.tell(ctx, fmt.Sprintf("%d of %d gateways written", written, len(p.Changes)))
		}
		if written == len(p.Changes) {
			return changed, nil
		}
	}
	return changed, fmt.Errorf("cannot finish: others keep changing the gateways; %d were changed, run it again", changed)
}

func (s *Service) tell(ctx context.Context, line string) {
	if s.Progress != nil {
		s.Progress(ctx, line)
	}
}

func (s *Service) write(ctx context.Context, w *ovsdb.Gateways, c *Cloud, changes []gateway.Change) error {
	lists := make([]ovsdb.Candidates, len(changes))
	for i, change := range changes {
		lists[i] = c.list(change)
	}
	if err := w.Write(ctx, lists...); err != nil || s.Catch == 0 {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.Catch)
	defer cancel()
	_, err := w.Barrier(ctx)
	return err
}

// list is what to write of a change: rows that stay keep their UUIDs.
func (c *Cloud) list(change gateway.Change) ovsdb.Candidates {
	was := c.stored[change.Group]
	x := ovsdb.Candidates{Port: was.storage == gateway.GatewayChassis, Holder: was.holder, Name: change.Group, Before: was.rows}
	for _, after := range change.After {
		row := ovsdb.CandidateRow{Chassis: after.Chassis, Priority: after.Priority}
		if i := slices.IndexFunc(was.rows, func(r ovsdb.CandidateRow) bool { return r.Chassis == after.Chassis }); i >= 0 {
			row.UUID = was.rows[i].UUID
		}
		x.After = append(x.After, row)
	}
	return x
}
