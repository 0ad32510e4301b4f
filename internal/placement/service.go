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

// attempts bounds the plans in a row of which nothing could be written, because others kept
// changing what was read, or a server was lost: the pauses before them, each longer than the
// one before, are a minute.
const attempts = 20

// Planner makes a plan of a state; done is how many gateways were moved already.
type Planner func(s gateway.State, done int) gateway.Plan

// Service shows and changes where gateways are. It keeps its connections until it is
// closed, and may do one thing at a time.
type Service struct {
	Dialer *ovsdb.Dialer
	// NB and SB are endpoints of the databases.
	NB, SB []string
	// By is who asks, for the journal.
	By string
	// Undo is the command that takes a plan back.
	Undo func(plan string) string
	// Progress tells a person how far it is.
	Progress func(ctx context.Context, line string)
	// Catch bounds the wait for ovn-northd between batches, but where it has been known to
	// be slow; 0 doesn't wait.
	Catch time.Duration

	g *ovsdb.Gateways
	// silent are the chassis whose ovn-controllers were when it was last looked.
	silent map[string]bool
	// slowest is the longest that ovn-northd took.
	slowest time.Duration
}

// Close ends the connections.
func (s *Service) Close() {
	if s.g != nil {
		s.g.Close()
		s.g = nil
	}
}

// ask does something with the connections. They are given up where it fails, and made
// again when they are next needed.
func (s *Service) ask(ctx context.Context, question func(*ovsdb.Gateways) error) (err error) {
	if s.g == nil {
		if s.g, err = s.Dialer.Gateways(ctx, s.NB, s.SB); err != nil {
			return err
		}
	}
	if err = question(s.g); err != nil && !errors.Is(err, ovsdb.ErrChanged) {
		s.Close()
	}
	return err
}

// grace is how long an ovn-controller may take to follow nb_cfg until it counts as
// silent; one that lives takes some milliseconds.
const grace = 5 * time.Second

// lookInterval is how often it is looked whether something has come about.
const lookInterval = 250 * time.Millisecond

// Look reads both databases, and once more for a while where some ovn-controller lags.
func (s *Service) Look(ctx context.Context) (c *Cloud, err error) {
	err = s.ask(ctx, func(g *ovsdb.Gateways) error {
		c, err = look(ctx, g)
		return err
	})
	if err != nil {
		return nil, err
	}
	s.silent = map[string]bool{}
	for _, x := range c.State.Chassis {
		s.silent[x.Name] = x.Silent
	}
	return c, nil
}

func look(ctx context.Context, g *ovsdb.Gateways) (*Cloud, error) {
	patience, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for {
		nb, err := g.Northbound(ctx)
		if err != nil {
			return nil, err
		}
		sb, err := g.Southbound(ctx)
		if err != nil {
			return nil, err
		}
		c := Compose(nb, sb)
		lags := func(x gateway.Chassis) bool { return x.Silent && x.Gateway && !x.Remote }
		if !slices.ContainsFunc(c.State.Chassis, lags) || !pause(patience, lookInterval) {
			return c, nil
		}
	}
}

// pause waits for a moment, and says whether there is still time.
func pause(ctx context.Context, moment time.Duration) bool {
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// Apply carries plans out until there is nothing left to do, and returns what it has
// changed of groups. Where somebody else has changed what a batch was planned from, or
// a server is lost, a new plan is made of what there is then. After an error each group
// is as it was or as it was planned. What is changed is noted in the journal, and that
// earlier runs are finished by it.
func (s *Service) Apply(ctx context.Context, plan Planner, earlier ...Entry) (changed []gateway.Change, err error) {
	note, err := newPage(s.By)
	if err != nil {
		return nil, err
	}
	for attempt := 0; attempt < attempts; attempt++ {
		var done []gateway.Change
		done, err = s.apply(ctx, plan, &note, moves(changed))
		if changed = append(changed, done...); len(done) > 0 {
			attempt = 0
		}
		switch {
		case err == nil:
			s.finish(ctx, note, changed, earlier)
			return changed, nil
		case ctx.Err() != nil:
			return changed, fmt.Errorf("stopped after %d gateways (%w); run it again, and it goes on from there", groups(changed), context.Cause(ctx))
		case errors.Is(err, errBehind):
			return changed, err
		case errors.Is(err, ovsdb.ErrChanged):
			s.tell(ctx, "somebody else has changed gateways meanwhile; planning again")
		default:
			s.tell(ctx, fmt.Sprintf("trying again: %v", err))
			pause(ctx, time.Duration(1+attempt)*lookInterval)
		}
	}
	return changed, fmt.Errorf("cannot finish after %d gateways; run it again: %w", len(changed), err)
}

// finish ends what was noted. The gateways are as they should be even if it fails.
func (s *Service) finish(ctx context.Context, note page, changed []gateway.Change, earlier []Entry) {
	finished := []string{note.ID}
	for _, e := range earlier {
		finished = append(finished, e.ID)
	}
	if err := s.tidy(ctx, finished...); err != nil {
		s.tell(ctx, err.Error())
	}
	if len(changed) == 0 {
		s.tell(ctx, "nothing is left to do")
		return
	}
	line := fmt.Sprintf("%d gateways changed", groups(changed))
	if s.Undo != nil && slices.ContainsFunc(changed, revertible) {
		line += "; to take it back: " + s.Undo(note.ID)
	}
	s.tell(ctx, line)
}

// revertible says whether there would be anything to take back: candidates that were only
// added stay.
func revertible(c gateway.Change) bool {
	return len(c.Before) > 0 && !slices.EqualFunc(c.Before, c.After[:min(len(c.Before), len(c.After))], func(a, b gateway.Candidate) bool {
		return a.Chassis == b.Chassis
	})
}

// groups counts what was changed, each group once.
func groups(changed []gateway.Change) int {
	names := map[string]bool{}
	for _, c := range changed {
		names[c.Group] = true
	}
	return len(names)
}

func moves(changes []gateway.Change) (n int) {
	for _, c := range changes {
		if c.Interrupts {
			n++
		}
	}
	return n
}

// apply makes one plan and writes it, as far as it gets.
func (s *Service) apply(ctx context.Context, plan Planner, note *page, moved int) (done []gateway.Change, err error) {
	cloud, err := s.Look(ctx)
	if err != nil {
		return nil, err
	}
	p := plan(cloud.State, moved)
	for some := range slices.Chunk(p.Changes, batch) {
		text := note.next(p, some, len(p.Changes)-len(done)-len(some))
		if err := s.ask(ctx, func(g *ovsdb.Gateways) error { return g.Write(ctx, text, cloud.lists(some)...) }); err != nil {
			return done, err
		}
		done = append(done, some...)
		s.tell(ctx, fmt.Sprintf("%d of %d gateways written", len(done), len(p.Changes)))
		if len(done) == len(p.Changes) {
			break // whoever wants to know looks at SB
		}
		if err := s.catchUp(ctx); err != nil {
			return done, err
		}
	}
	return done, nil
}

func (s *Service) tell(ctx context.Context, line string) {
	if s.Progress != nil {
		s.Progress(ctx, line)
	}
}

// errBehind says that ovn-northd takes nothing up: it would be of no use to write more.
var errBehind = errors.New("ovn-northd has not taken the changes up")

// slower is how many times as long as at its slowest ovn-northd may take before it counts as
// gone. With 10,000 routers and other work on its machine 20 s became more than 2 minutes.
const slower = 10

// catchUp waits for ovn-northd.
func (s *Service) catchUp(ctx context.Context) error {
	if s.Catch == 0 {
		return nil
	}
	bound := max(s.Catch, slower*s.slowest)
	patience, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	begun := time.Now()
	err := s.ask(ctx, func(g *ovsdb.Gateways) error {
		_, err := g.Barrier(patience)
		return err
	})
	if err != nil && patience.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w in %s; see that it runs, and in its log what it is busy with, then run this again", errBehind, bound.Round(time.Second))
	}
	if err == nil {
		s.slowest = max(s.slowest, time.Since(begun))
	}
	return err
}

func (c *Cloud) lists(changes []gateway.Change) (all []ovsdb.Candidates) {
	for _, change := range changes {
		all = append(all, c.list(change))
	}
	return all
}

// list is what to write of a change: rows that stay keep their UUIDs.
func (c *Cloud) list(change gateway.Change) ovsdb.Candidates {
	was := c.stored[change.Group]
	x := ovsdb.Candidates{Port: was.storage == gateway.GatewayChassis, Holder: was.holder, Name: change.Group, Before: was.rows, Routers: was.routers, Create: was.create}
	for _, after := range change.After {
		row := ovsdb.CandidateRow{Chassis: after.Chassis, Priority: after.Priority}
		if i := slices.IndexFunc(was.rows, func(r ovsdb.CandidateRow) bool { return r.Chassis == after.Chassis }); i >= 0 {
			row.UUID = was.rows[i].UUID
		}
		x.After = append(x.After, row)
	}
	return x
}
