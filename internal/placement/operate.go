package placement

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway"
)

// DefaultWait bounds the wait for the data plane. A move takes it about a second; where
// the chassis of a group have yet to hear one another, some more.
const DefaultWait = 60 * time.Second

// Request is what somebody wants to be done to gateways.
type Request struct {
	Options gateway.Options
	// Seed is what the random scheduler chooses by.
	Seed uint64
	// Revert is the name of a plan that a rebalancing is to take back.
	Revert string
	// DryRun shows the plan only. Confirmed allows a rebalancing to interrupt traffic.
	DryRun, Confirmed bool
	// Wait is how long to wait for gateways to be active where they should be; 0 doesn't
	// look.
	Wait time.Duration
	// Show is given the first plan, before anything is done.
	Show func(gateway.Plan) error
}

// UnconfirmedError says that traffic would be interrupted, and nobody has agreed.
type UnconfirmedError struct{ Moves int }

// Error says what would be interrupted; how to agree depends on who is asked.
func (e *UnconfirmedError) Error() string {
	if e.Moves == 1 {
		return "1 gateway would lose its traffic for about a second"
	}
	return fmt.Sprintf("%d gateways would lose their traffic for about a second", e.Moves)
}

// ErrMisplaced is wrapped where gateways are not where they should be in the end.
var ErrMisplaced = errors.New("not all gateways are where they should be")

// Status looks how gateways are spread.
func (s *Service) Status(ctx context.Context, o gateway.Options) (gateway.Status, error) {
	cloud, err := s.Look(ctx)
	if err != nil {
		return gateway.Status{}, err
	}
	status := gateway.Look(cloud.State, o)
	status.Problems = append(status.Problems, cloud.Problems...)
	return status, nil
}

// Reschedule gives every gateway its candidates. It finishes what earlier runs have begun.
func (s *Service) Reschedule(ctx context.Context, r Request) error {
	earlier, err := s.History(ctx, "")
	if err != nil {
		return err
	}
	added, finished := map[string]bool{}, []string{}
	for _, e := range earlier.Plans {
		if e.unfinished() {
			finished = append(finished, e.ID)
			note(added, e.Added)
		}
	}
	r.Options.Draw = rand.New(rand.NewPCG(r.Seed, 0)).IntN //nolint:gosec // a schedule is no secret
	r.Confirmed = true                                     // it interrupts nothing
	return s.operate(ctx, r, func(state gateway.State, _ int) gateway.Plan {
		o := r.Options
		for _, c := range state.Chassis {
			if added[c.Name] {
				o.Added = append(o.Added, c.Name)
			}
		}
		p := gateway.Reschedule(state, o)
		note(added, p.Added) // where this plan is given up, the next one is to finish it
		return p
	}, finished...)
}

func note(all map[string]bool, names []string) {
	for _, name := range names {
		all[name] = true
	}
}

// Rebalance moves gateways, or takes a plan back. Where traffic would be interrupted and
// nobody has agreed it is an [*UnconfirmedError]; where there is no such plan an
// [*UnknownPlanError].
func (s *Service) Rebalance(ctx context.Context, r Request) error {
	plan := gateway.Rebalance
	if r.Revert != "" {
		h, err := s.History(ctx, r.Revert)
		if err != nil {
			return err
		}
		plan = func(state gateway.State, o gateway.Options) gateway.Plan {
			return gateway.Revert(state, o, h.Plans[0].Changes)
		}
	}
	return s.operate(ctx, r, func(state gateway.State, done int) gateway.Plan {
		o := r.Options
		if o.MaxMoves > 0 {
			if o.MaxMoves -= done; o.MaxMoves <= 0 {
				return gateway.Plan{}
			}
		}
		return plan(state, o)
	})
}

func (s *Service) operate(ctx context.Context, r Request, plan Planner, finished ...string) error {
	// An ovn-controller that died since the last sign of life looks as if it lived, and
	// takes over nothing. Without ovn-northd there is no use in changing anything.
	if r.Wait > 0 && r.Confirmed && !r.DryRun {
		if err := s.catchUp(ctx); err != nil {
			return err
		}
	}
	cloud, err := s.Look(ctx)
	if err != nil {
		return err
	}
	p := plan(cloud.State, 0)
	p.Problems = append(p.Problems, cloud.Problems...)
	if err := r.Show(p); err != nil {
		return err
	}
	switch {
	case p.Empty() && (r.DryRun || len(finished) == 0):
		return nil
	case r.DryRun:
		s.tell(ctx, "nothing was changed: it was a dry run")
		return nil
	case !r.Confirmed && p.Moves() > 0:
		return &UnconfirmedError{p.Moves()}
	}
	changed, err := s.Apply(ctx, plan, finished...)
	if err != nil {
		return err
	}
	if r.Wait == 0 || len(changed) == 0 {
		return nil
	}
	missing, err := s.Prove(ctx, changed, r.Wait)
	if err != nil {
		return err
	}
	for _, m := range missing {
		s.tell(ctx, m.Where+": "+m.Text)
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %d after %s", ErrMisplaced, len(missing), r.Wait)
	}
	s.tell(ctx, "every gateway is active where it should be")
	return nil
}
