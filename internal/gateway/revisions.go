package gateway

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/revision"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Layout is what stands in the databases.
func (inv *Inventory) Layout() revision.Layout {
	return revision.Of(inv.State, cordon.Names(inv.NB.IDs))
}

// book reads what is kept of revisions.
func (s *Service) book(ctx context.Context, ids map[string]string) (revision.Book, error) {
	rows, err := Ask(ctx, s, (*ovsdb.Gateways).Revisions)
	texts := map[string]string{}
	for _, r := range rows {
		texts[r.UUID] = r.Text
	}
	return revision.Read(texts, ids), err
}

// Ended is an operation that has got past its checks, and has ended.
type Ended struct {
	// ID is empty for one that is not in the journal.
	ID, Operation string
	// Chassis is that of the node that it was about.
	Chassis string
	Begun   time.Time
	OK      bool
}

// Bounds of the tagging of a revision: it reads both databases. What was cut short is not to take
// much longer.
const (
	tagTimeout      = time.Minute
	cutShortTimeout = 10 * time.Second
)

// Tag tags the revision that an operation leaves behind. Where it can't, a line of progress says so:
// the operation has not failed.
func (s *Service) Tag(ctx context.Context, e Ended) {
	timeout := tagTimeout
	if ctx.Err() != nil {
		timeout = cutShortTimeout
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	err := s.With(ctx, func(g *ovsdb.Gateways) error {
		inventory, err := ReadInventory(ctx, g)
		if err != nil {
			return err
		}
		tagged, err := s.Tagging(ctx, inventory, inventory.Layout(), e)
		if err != nil || len(tagged.Put) == 0 {
			return err
		}
		return g.AmendIDs(ctx, ovsdb.Guard{}, tagged)
	})
	if err != nil {
		s.progress(ctx, fmt.Sprintf("cannot tag the revision: %v", err))
	}
}

// Tagging is what to write to tag a layout. Where it stands there already that is nothing.
func (s *Service) Tagging(ctx context.Context, inventory *Inventory, l revision.Layout, e Ended) (ovsdb.Amendment, error) {
	book, err := s.book(ctx, inventory.NB.IDs)
	if err != nil {
		return ovsdb.Amendment{}, err
	}
	record := newRecord(s.By, s.Now())
	t := revision.Tag{ID: e.ID, Operation: e.Operation, Node: e.Chassis, By: s.By, Begun: e.Begun.UTC(), At: record.At, Outcome: revision.Failed}
	if e.ID == "" {
		t.ID = record.ID
	}
	if e.OK {
		t.Outcome = revision.Succeeded
	}
	w := book.Tag(t, l)
	return ovsdb.Amendment{Put: w.Put, Added: w.Added, Dropped: w.Dropped}, nil
}

// RefusedError is a refusal, in the form of the specification.
type RefusedError struct{ Status answer.Status }

// Error is its message.
func (e *RefusedError) Error() string { return e.Status.Message }

// missing has a layout that is not there fail a precondition.
func missing(err error) error {
	if errors.As(err, new(*revision.MissingError)) {
		return &RefusedError{answer.New(answer.PreconditionFailed, err.Error())}
	}
	return err
}

// layout is that of a version, by what there is now.
func (s *Service) layout(ctx context.Context, inventory *Inventory, v revision.Version) (revision.Layout, error) {
	if v == revision.Committed {
		return inventory.Layout(), nil
	}
	book, err := s.book(ctx, inventory.NB.IDs)
	if err != nil {
		return revision.Layout{}, err
	}
	l, err := book.Layout(v)
	return l, missing(err)
}

// restoring makes plans that bring a layout back. Cordons are not: they are of the machines.
func (s *Service) restoring(ctx context.Context, v revision.Version) (func(schedule.State, schedule.Options) schedule.Plan, error) {
	inventory, err := s.Observe(ctx)
	if err != nil {
		return nil, err
	}
	target, err := s.layout(ctx, inventory, v)
	if err != nil {
		return nil, err
	}
	return func(state schedule.State, o schedule.Options) schedule.Plan {
		p := schedule.Restore(state, o, target.Gateways)
		for _, d := range revision.Diff(revision.Layout{Cordons: target.Cordons}, revision.Layout{Cordons: inventory.Layout().Cordons}) {
			p.Findings = append(p.Findings, schedule.Finding{Where: d.Chassis, Text: d.Text + " since; cordons are left as they are"})
		}
		return p
	}, nil
}

// operations are those that have changed the layout, the newest first.
func (s *Service) operations(ctx context.Context, inventory *Inventory) ([]revision.Operation, error) {
	book, err := s.book(ctx, inventory.NB.IDs)
	if err != nil {
		return nil, err
	}
	h, err := s.History(ctx, "")
	if err != nil {
		return nil, err
	}
	var runs []revision.Operation
	for _, e := range h.Plans {
		runs = append(runs, revision.Operation{ID: e.ID, Name: e.Operation, Node: e.Chassis, By: e.By, At: e.At})
	}
	return book.Operations(runs), nil
}

// reviewed names a plan that is only shown, and refuses one that is not as it was reviewed. What it
// returns plans nothing that was not reviewed.
func (s *Service) reviewed(ctx context.Context, r Request, inventory *Inventory, p *schedule.Plan, plan Planner) (Planner, error) {
	shows := r.DryRun || !r.Confirmed && p.Moves() > 0
	if !shows && r.ReviewID == "" {
		return plan, nil
	}
	operations, err := s.operations(ctx, inventory)
	if err != nil {
		return nil, err
	}
	if r.ReviewID != "" {
		review, err := revision.ParseReview(r.ReviewID)
		if err != nil {
			return nil, &RefusedError{answer.New(answer.BadRequest, err.Error())}
		}
		since := review.Since(inventory.Layout(), operations, *p)
		switch {
		case r.AllowIntermediate:
			s.progress(ctx, since.Skipped())
		case !since.None():
			return nil, &RefusedError{since.Refusal()}
		default:
			plan = s.onlyReviewed(ctx, *p, plan)
		}
	}
	if shows && !p.Empty() {
		p.ReviewID = revision.NewReview(inventory.Layout(), operations, *p).String()
	}
	return plan, nil
}

// onlyReviewed leaves out of later plans what is not in the reviewed one.
func (s *Service) onlyReviewed(ctx context.Context, reviewed schedule.Plan, plan Planner) Planner {
	after := map[string][]schedule.Candidate{}
	for _, c := range reviewed.Changes {
		after[c.Group] = c.After
	}
	return func(state schedule.State, done int) schedule.Plan {
		p := plan(state, done)
		all := len(p.Changes)
		p.Changes = slices.DeleteFunc(p.Changes, func(c schedule.Change) bool { return !slices.Equal(after[c.Group], c.After) })
		if left := all - len(p.Changes); left > 0 {
			s.progress(ctx, fmt.Sprintf("%d gateways are left: what is planned for them now was not reviewed; review it with a dry run", left))
		}
		return p
	}
}

// RevisionsRequest says which layouts are to be compared. Where neither is given, revisions are listed.
type RevisionsRequest struct {
	// Base is committed where only Diff is given, Diff the plan where only Base is.
	Base, Diff revision.Version
	// Reschedule has the plan be that of a reschedule, not of a rebalancing.
	Reschedule bool
	Options    schedule.Options
}

// Revisions lists revisions, or compares two layouts.
func (s *Service) Revisions(ctx context.Context, r RevisionsRequest) answer.Status {
	base, diff := r.Base, r.Diff
	if base == "" {
		base = revision.Committed
	}
	if diff == "" {
		diff = revision.Planned
	}
	named := []revision.Version{revision.Committed, revision.Successful, revision.Last}
	switch {
	case !slices.Contains(named, base):
		return answer.New(answer.BadRequest, fmt.Sprintf("base is %q: it takes %s, %s or %s", base, named[0], named[1], named[2]))
	case diff != revision.Planned && !slices.Contains(named, diff):
		return answer.New(answer.BadRequest, fmt.Sprintf("diff is %q: it takes %s, %s, %s or %s", diff, revision.Planned, named[0], named[1], named[2]))
	case base == diff:
		return answer.New(answer.BadRequest, fmt.Sprintf("base and diff are both %s: there is nothing to compare", base))
	}
	if lists := r.Base == "" && r.Diff == ""; (lists || diff != revision.Planned) && (r.Reschedule || len(r.Options.Networks) > 0) {
		return answer.New(answer.BadRequest, fmt.Sprintf("networks and a plan can only be given where diff is %s", revision.Planned))
	}
	inventory, err := s.Observe(ctx)
	if err != nil {
		return refusedBy(err)
	}
	if r.Base == "" && r.Diff == "" {
		book, err := s.book(ctx, inventory.NB.IDs)
		if err != nil {
			return refusedBy(err)
		}
		return book.List(inventory.Layout())
	}
	from, err := s.layout(ctx, inventory, base)
	if err != nil {
		return refusedBy(err)
	}
	to := inventory.Layout()
	if diff == revision.Planned {
		plan := schedule.Rebalance
		if r.Reschedule {
			plan = schedule.Reschedule
		}
		to = to.WithPlan(plan(inventory.State, r.Options))
	} else if to, err = s.layout(ctx, inventory, diff); err != nil {
		return refusedBy(err)
	}
	return revision.Compare(base, diff, from, to)
}

func refusedBy(err error) answer.Status {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Status
	}
	return answer.New(answer.ClusterNotAccessible, err.Error())
}
