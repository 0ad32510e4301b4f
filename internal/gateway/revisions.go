package gateway

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

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
			skipped := finding.Reason{Code: finding.CheckSkipped, Because: finding.Because(finding.NoIntermediate)}
			s.progress(ctx, skipped.String())
		case r.AllowIntermediate && refused.Reason == answer.Conflict:
			skipped := finding.Reason{Code: finding.CheckSkipped, Because: []finding.Reason{finding.Quote(refused.Message)}}
			for _, m := range refused.Details.MessageList {
				skipped.Because = append(skipped.Because, finding.Quote(m.Name+" "+m.Message))
			}
			s.progress(ctx, skipped.String())
		case refused.Reason == answer.Conflict:
			refused.Message += "; " + finding.Reason{Code: finding.ReviewAgain}.String()
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
			why := finding.Reason{Code: finding.LeftUnreviewed, Value: schedule.Count(left, "gateway")}
			s.progress(ctx, why.String())
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

// wrong returns why these layouts can't be compared; no reason if they can.
func (r RevisionsRequest) wrong(base, diff journal.Version) finding.Reason {
	takes := fmt.Sprintf("%s, %s, %s", journal.Committed, journal.Successful, journal.Last)
	is := func(name string, version journal.Version, takes string) finding.Reason {
		return finding.Reason{
			Code: finding.ValueIs, Name: name, Value: strconv.Quote(string(version)),
			Because: []finding.Reason{{Code: finding.TakesVersion, Value: takes}},
		}
	}
	switch {
	case !base.Valid():
		return is("base", base, takes)
	case diff != journal.Planned && !diff.Valid():
		return is("diff", diff, string(journal.Planned)+", "+takes)
	case base == diff:
		return finding.Reason{Code: finding.SameVersion, Value: string(base)}
	case (r.Reschedule || len(r.Options.Networks) > 0) && (r.lists() || diff != journal.Planned):
		return finding.Reason{Code: finding.OnlyPlanned, Value: string(journal.Planned)}
	}
	return finding.Reason{}
}

// Revisions lists revisions, or compares two layouts.
func (s *Service) Revisions(ctx context.Context, r RevisionsRequest) answer.Status {
	base, diff := cmp.Or(r.Base, journal.Committed), cmp.Or(r.Diff, journal.Planned)
	if wrong := r.wrong(base, diff); !wrong.IsZero() {
		return answer.New(answer.BadRequest, wrong.String())
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
