package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// perRow is the number of gateways in one row of the journal: about 50 kB.
const perRow = 100

// attempts bounds the consecutive plans that write nothing. The growing pauses add up to a minute.
const attempts = 20

// Planner makes a plan for a state; done is the number of gateways that have already moved.
type Planner func(s schedule.State, done int) schedule.Plan

// run is one call of [Service.Apply] or one operation on a chassis, with its records in the journal.
type run struct {
	*journal.Run
	plan Planner
	// chassis is the subject of the operation; it may be empty. If cordon is set, the chassis has to stay cordoned.
	chassis string
	cordon  bool
	// read is the input of the first plan. If it is nil, the run reads the databases.
	read    *Inventory
	earlier []journal.Entry
	// drained has the changes that an undrain has to put back, by chassis.
	drained map[string][]schedule.AppliedChange
	// unanswered lists the batches that got no answer. They may have been written.
	unanswered []batch
}

// batch has the changes of one transaction, and the number of their last record.
type batch struct {
	number  int
	changes []schedule.Change
}

// Apply plans and writes until nothing is left to do, and returns the changes. It plans again if another client has
// changed what a batch was planned from, or if a server is lost. After an error each group is as it was or as planned.
// The journal records the changes, and that earlier runs are finished.
func (s *Service) Apply(ctx context.Context, plan Planner, earlier ...journal.Entry) ([]schedule.Change, error) {
	return s.apply(ctx, &run{plan: plan, earlier: earlier})
}

func (s *Service) apply(ctx context.Context, r *run) (changed []schedule.Change, err error) {
	if r.Run = s.run; r.Run == nil {
		r.Run = s.newRun("", r.chassis)
	}
	r.Continue(r.drained)
	for attempt := 0; attempt < attempts; attempt++ {
		var done []schedule.Change
		done, err = s.attempt(ctx, r, moves(changed))
		r.read = nil
		changed = append(changed, done...)
		if len(done) > 0 {
			attempt = 0
		}
		switch {
		case err == nil:
			s.finish(ctx, r, changed)
			return changed, nil
		case ctx.Err() != nil:
			err = context.Cause(ctx)
			return changed, fmt.Errorf("stopped after %s: %w; run it again to continue", counted(changed), err)
		case errors.Is(err, ErrBehind) || errors.Is(err, ovsdb.ErrFenced) || errors.Is(err, ovsdb.ErrUninitialized):
			return changed, err
		case errors.Is(err, ovsdb.ErrChanged):
			s.progress(ctx, "another client changed gateways; planning again")
		default:
			s.progress(ctx, fmt.Sprintf("retrying: %v", err))
			_ = poll.Wait(ctx, time.Duration(1+attempt)*pollInterval) // the next call fails if ctx has ended
		}
	}
	return changed, fmt.Errorf("cannot finish after %s; run it again: %w", counted(changed), err)
}

// finish records that this run and the earlier ones are finished. It only reports a failure to do so.
func (s *Service) finish(ctx context.Context, r *run, changed []schedule.Change) {
	finished := []string{r.ID}
	for _, e := range r.earlier {
		finished = append(finished, e.ID)
	}
	if err := s.Finish(ctx, finished...); err != nil {
		s.progress(ctx, err.Error())
	}
	if len(changed) == 0 {
		s.progress(ctx, "nothing left to do")
		return
	}
	s.progress(ctx, s.result(r, changed))
}

// result describes what was changed, and how to revert it.
func (s *Service) result(r *run, changed []schedule.Change) string {
	line := counted(changed) + " changed"
	switch {
	case s.Undo == nil || r.chassis != "":
		return line
	case slices.ContainsFunc(changed, revertible):
		return line + "; to revert: " + s.Undo(r.ID)
	}
	return line + "; nothing to revert: candidates were only added"
}

// revertible reports whether a revert would change the group. A revert keeps candidates that were only added.
func revertible(c schedule.Change) bool {
	after := c.After[:min(len(c.Before), len(c.After))]
	same := func(a, b schedule.Candidate) bool { return a.Chassis == b.Chassis }
	return len(c.Before) > 0 && !slices.EqualFunc(c.Before, after, same)
}

// Groups counts the changed groups.
func Groups(changed []schedule.Change) int {
	names := map[string]bool{}
	for _, c := range changed {
		names[c.Group] = true
	}
	return len(names)
}

func counted(changed []schedule.Change) string { return schedule.Count(Groups(changed), "gateway") }

func moves(changes []schedule.Change) (n int) {
	for _, c := range changes {
		if c.Interrupts {
			n++
		}
	}
	return n
}

// arrived returns the changes of the unanswered batches that were written: those with records in the journal.
func (s *Service) arrived(ctx context.Context, r *run) (done []schedule.Change, err error) {
	if len(r.unanswered) == 0 {
		return nil, nil
	}
	j, err := s.journal(ctx)
	if err != nil {
		return nil, err
	}
	r.unanswered = slices.DeleteFunc(r.unanswered, func(b batch) bool {
		written := j.Has(r.ID, b.number)
		if written {
			done = append(done, b.changes...)
		}
		return written
	})
	return done, nil
}

// attempt makes one plan and writes as much of it as it can. It also returns the changes that an earlier attempt wrote
// without getting an answer. It looks for these after it has read the state, so that it finds every one that the state
// contains.
func (s *Service) attempt(ctx context.Context, r *run, moved int) (done []schedule.Change, err error) {
	inventory := r.read
	if inventory == nil {
		if inventory, err = s.Observe(ctx); err != nil {
			return nil, err
		}
	}
	if done, err = s.arrived(ctx, r); err != nil {
		return nil, err
	}
	p := r.plan(inventory.State, moved+moves(done))
	for written := 0; written < len(p.Changes); {
		some := p.Changes[written:]
		some = some[:min(s.pace.next(), len(some))]
		texts := r.records(p, some, len(p.Changes)-written, s.Now())
		last := written+len(some) == len(p.Changes)
		asked, err := s.Write(ctx, ovsdb.Change{
			Guard: guard(r, inventory.State, some), Notes: ovsdb.Notes{Added: texts}, Lists: inventory.lists(some),
			Ask: !last && s.NorthdTimeout > 0,
		})
		if err != nil {
			if !errors.Is(err, ovsdb.ErrChanged) {
				r.unanswered = append(r.unanswered, batch{r.Number, some})
			}
			return done, err
		}
		done, written = append(done, some...), written+len(some)
		s.progress(ctx, fmt.Sprintf("%d of %s written", written, schedule.Count(len(p.Changes), "gateway")))
		if last {
			break // the caller reads SB next
		}
		if err := s.followed(ctx, asked, len(some)); err != nil {
			return done, err
		}
	}
	return done, nil
}

// records returns the records of some changes of a plan. Before these changes, left groups remain to be changed.
func (r *run) records(p schedule.Plan, some []schedule.Change, left int, now time.Time) (texts []string) {
	for part := range slices.Chunk(some, perRow) {
		left -= len(part)
		texts = append(texts, r.Batch(p, part, left, now))
	}
	return texts
}

// guard makes a transaction fail if the run's chassis is no longer cordoned, or if a chassis that gets a better rank
// has been cordoned since the plan was made.
func guard(run *run, state schedule.State, changes []schedule.Change) ovsdb.Guard {
	g := ovsdb.Guard{Has: map[string]string{}, Lacks: map[string]string{}}
	if run.cordon {
		key, value := cordon.Pair(run.chassis)
		g.Has[key] = value
	}
	open := map[string]bool{}
	for _, c := range state.Chassis {
		open[c.Name] = !c.Cordoned
	}
	for _, c := range changes {
		for _, r := range c.Rows {
			if open[r.Chassis] && r.After != nil && (r.Before == nil || *r.After > *r.Before) {
				key, value := cordon.Pair(r.Chassis)
				g.Lacks[key] = value
			}
		}
	}
	return g
}

// lists returns the lists of candidates to write for changes. Rows that stay keep their UUIDs.
func (inv *Inventory) lists(changes []schedule.Change) (all []ovsdb.Candidates) {
	for _, change := range changes {
		x := inv.stored[change.Group].Candidates
		for _, r := range x.Before { // a row that goes leaves its name
			if !slices.ContainsFunc(change.After, func(c schedule.Candidate) bool { return c.Chassis == r.Chassis }) {
				delete(inv.named, r.Name)
			}
		}
		for _, after := range change.After {
			row := ovsdb.CandidateRow{Chassis: after.Chassis, Priority: after.Priority}
			same := func(r ovsdb.CandidateRow) bool { return r.Chassis == after.Chassis }
			if i := slices.IndexFunc(x.Before, same); i >= 0 {
				row.UUID = x.Before[i].UUID
			} else if x.Port {
				row.Name = inv.freeName(x.Name + "_" + after.Chassis)
			}
			x.After = append(x.After, row)
		}
		all = append(all, x)
	}
	return all
}

// freeName returns the name for a new row of Gateway_Chassis, by which Neutron finds its port. Another row may have it,
// and OVSDB would refuse a second one. Then a number follows; Neutron still finds the port (RE_PORT_FROM_GWC in
// neutron/common/ovn/constants.py).
func (inv *Inventory) freeName(name string) string {
	free := name
	for n := 2; ; n++ {
		if _, taken := inv.named[free]; !taken {
			inv.named[free] = ""
			return free
		}
		free = fmt.Sprintf("%s.%d", name, n)
	}
}
