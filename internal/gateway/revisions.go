package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// layout returns the layout of a version; the committed one is that of the inventory.
func (inv *Inventory) layout(j journal.Journal, v journal.Version) (journal.Layout, error) {
	if v == journal.Committed {
		return inv.Layout(), nil
	}
	return j.Layout(v)
}

func (s *Service) observeWithJournal(ctx context.Context) (*Inventory, journal.Journal, error) {
	inventory, err := s.Observe(ctx)
	if err != nil {
		return nil, journal.Journal{}, err
	}
	j, err := s.journal(ctx)
	return inventory, j, err
}

// restoring returns a planner that goes back to a layout. It does not change cordons: they are about machines.
func (s *Service) restoring(
	ctx context.Context, v journal.Version,
) (func(schedule.State, schedule.Options) schedule.Plan, error) {
	inventory, j, err := s.observeWithJournal(ctx)
	if err != nil {
		return nil, err
	}
	target, err := inventory.layout(j, v)
	if err != nil {
		return nil, err
	}
	was, is := journal.Layout{Cordons: target.Cordons}, journal.Layout{Cordons: inventory.Layout().Cordons}
	return func(state schedule.State, o schedule.Options) schedule.Plan {
		p := schedule.Restore(state, o, target.Gateways)
		for _, d := range journal.Diff(was, is) {
			p.Findings = append(p.Findings, finding.About(finding.CordonKept, d.Name, finding.Quote(d.Message).Args()))
		}
		return p
	}, nil
}

const skipping = "skipping the check for intermediate commits: "

// reviewed gives a plan that is only shown its review ID, and refuses a plan that differs from the reviewed one. The
// returned planner plans nothing that was not reviewed.
func (s *Service) reviewed(
	ctx context.Context, r Request, inventory *Inventory, p *schedule.Plan, plan Planner,
) (Planner, error) {
	shows := r.DryRun || !r.Confirmed && p.Moves() > 0
	if !shows && r.ReviewID == "" {
		return plan, nil
	}
	j, err := s.journal(ctx)
	if err != nil {
		return nil, err
	}
	if r.ReviewID != "" {
		refused := j.CheckReview(r.ReviewID, inventory.Layout(), *p)
		switch {
		case refused == nil && !r.AllowIntermediate:
			plan = s.onlyReviewed(ctx, *p, plan)
		case refused == nil:
			s.progress(ctx, skipping+"there are none")
		case r.AllowIntermediate && refused.Reason == answer.Conflict:
			line := skipping + refused.Message
			for _, m := range refused.Details.MessageList {
				line += "; " + m.Name + " " + m.Message
			}
			s.progress(ctx, line)
		case refused.Reason == answer.Conflict:
			refused.Message += "; nothing is changed: review the plan again with a dry run, or allow intermediate commits"
			fallthrough
		default:
			return nil, &answer.RefusedError{Status: *refused}
		}
	}
	if shows && !p.Empty() {
		p.ReviewID = j.ReviewID(inventory.Layout(), *p)
	}
	return plan, nil
}

// onlyReviewed drops from later plans the changes that are not in the reviewed plan.
func (s *Service) onlyReviewed(ctx context.Context, reviewed schedule.Plan, plan Planner) Planner {
	after := map[string][]schedule.Candidate{}
	for _, c := range reviewed.Changes {
		after[c.Group] = c.After
	}
	return func(state schedule.State, done int) schedule.Plan {
		p := plan(state, done)
		all := len(p.Changes)
		p.Changes = slices.DeleteFunc(p.Changes, func(c schedule.Change) bool {
			return !slices.Equal(after[c.Group], c.After)
		})
		if left := all - len(p.Changes); left > 0 {
			s.progress(ctx, "left: "+schedule.Count(left, "gateway")+
				": their plan was not reviewed; review it with a dry run")
		}
		return p
	}
}

// RevisionsRequest names two layouts to compare. Without any, revisions are listed.
type RevisionsRequest struct {
	// Base is committed if only Diff is given; Diff is the plan if only Base is given.
	Base, Diff journal.Version
	// Reschedule compares with the plan of a reschedule instead of a rebalancing.
	Reschedule bool
	Options    schedule.Options
}

func (r RevisionsRequest) lists() bool { return r.Base == "" && r.Diff == "" }

// wrong returns why these layouts can't be compared; empty if they can.
func (r RevisionsRequest) wrong(base, diff journal.Version) string {
	named := fmt.Sprintf("%s, %s, %s or an ID from the list", journal.Committed, journal.Successful, journal.Last)
	switch {
	case !base.Valid():
		return fmt.Sprintf("base is %q: it takes %s", base, named)
	case diff != journal.Planned && !diff.Valid():
		return fmt.Sprintf("diff is %q: it takes %s, %s", diff, journal.Planned, named)
	case base == diff:
		return fmt.Sprintf("base and diff are both %s: there is nothing to compare", base)
	case (r.Reschedule || len(r.Options.Networks) > 0) && (r.lists() || diff != journal.Planned):
		return fmt.Sprintf("networks and a plan can only be given where diff is %s", journal.Planned)
	}
	return ""
}

// Revisions lists revisions, or compares two layouts.
func (s *Service) Revisions(ctx context.Context, r RevisionsRequest) answer.Status {
	base, diff := cmp.Or(r.Base, journal.Committed), cmp.Or(r.Diff, journal.Planned)
	if wrong := r.wrong(base, diff); wrong != "" {
		return answer.New(answer.BadRequest, wrong)
	}
	inventory, j, err := s.observeWithJournal(ctx)
	if err != nil {
		return refusedBy(err)
	}
	if r.lists() {
		return j.List(inventory.Layout())
	}
	from, err := inventory.layout(j, base)
	if err != nil {
		return refusedBy(err)
	}
	plan, to := schedule.Rebalance, inventory.Layout()
	if r.Reschedule {
		plan = schedule.Reschedule
	}
	if diff == journal.Planned {
		to = to.WithPlan(plan(inventory.State, r.Options))
	} else if to, err = inventory.layout(j, diff); err != nil {
		return refusedBy(err)
	}
	return journal.Compare(base, diff, from, to)
}

func refusedBy(err error) answer.Status {
	var refused *answer.RefusedError
	if errors.As(err, &refused) {
		return refused.Status
	}
	return answer.New(answer.ClusterNotAccessible, err.Error())
}
