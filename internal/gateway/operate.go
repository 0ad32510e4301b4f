package gateway

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// DefaultWait bounds the wait for the data plane. A move takes about a second, and longer if the chassis of a group do
// not hear each other yet.
const DefaultWait = 60 * time.Second

// Request is a request to change gateways.
type Request struct {
	Options schedule.Options
	// Seed is the seed of the random scheduler.
	Seed uint64
	// Revert is the name of the plan to revert.
	Revert string
	// Target is the version, or the ID, of the layout to go back to.
	Target journal.Version
	// ReviewID names the reviewed plan: no other plan is carried out, unless AllowIntermediate is set.
	ReviewID          string
	AllowIntermediate bool
	// DryRun only shows the plan. Confirmed allows the plan to interrupt traffic.
	DryRun, Confirmed bool
	// Wait is how long to wait until gateways are bound as expected; 0 skips the proof.
	Wait time.Duration
}

// Operation is a request with its plan.
type Operation struct {
	// Plan is what [Operation.Apply] does, but Apply plans again if other clients change gateways meanwhile.
	Plan schedule.Plan

	service *Service
	request Request
	planner Planner
	earlier []journal.Entry
}

// Status evaluates how gateways are spread ([schedule.Evaluate]).
func (s *Service) Status(ctx context.Context, o schedule.Options) (schedule.Status, error) {
	inventory, j, err := s.observeWithJournal(ctx)
	if err != nil {
		return schedule.Status{}, err
	}
	status := schedule.Evaluate(inventory.State, o)
	for i, step := range status.Next {
		if s.DryRun != nil {
			status.Next[i].Command = s.DryRun(step.Operation)
		}
	}
	status.Findings = schedule.SortFindings(slices.Concat(status.Findings, inventory.Findings, inventory.incomplete()))
	for _, e := range j.Unfinished() {
		status.Findings = append(status.Findings, e.Interrupted())
	}
	return status.OnNetworks(inventory.State, o.Networks), nil
}

// Reschedule plans to give every gateway its candidates, and to finish earlier runs.
func (s *Service) Reschedule(ctx context.Context, r Request) (*Operation, error) {
	earlier, err := s.unfinished(ctx, "reschedule")
	if err != nil {
		return nil, err
	}
	var added []string
	for _, e := range earlier {
		added = append(added, e.Added...)
	}
	first := true
	return s.plan(ctx, r, !r.DryRun, func(state schedule.State, _ int) schedule.Plan {
		o := r.Options
		// Each plan draws the same numbers, so that the plan that is shown is the plan that is applied.
		o.Draw = rand.New(rand.NewPCG(r.Seed, 0)).IntN //nolint:gosec // a schedule is no secret
		for _, c := range state.Chassis {
			if slices.Contains(added, c.Name) {
				o.Added = append(o.Added, c.Name)
			}
		}
		p := schedule.Reschedule(state, o)
		if !first && !r.Confirmed && p.Moves() > 0 { // another client has changed something
			s.progress(ctx, finding.Reason{Code: finding.PlanInterrupts}.String())
			return schedule.Plan{}
		}
		first = false
		added = append(added, p.Added...) // if this plan is interrupted, the next one finishes it
		return p
	}, earlier...)
}

// Rebalance plans to move gateways, to revert a plan, or to go back to a layout. It refuses a layout that is not kept.
func (s *Service) Rebalance(ctx context.Context, r Request) (*Operation, error) {
	earlier, err := s.unfinished(ctx, "rebalance", "revert", "restore")
	if err != nil {
		return nil, err
	}
	plan := schedule.Rebalance
	switch {
	case r.Revert != "" && r.Target != "":
		return nil, answer.Refuse(answer.BadRequest, finding.Reason{Code: finding.RevertOrRestore})
	case r.Target != "":
		if plan, err = s.restoring(ctx, r.Target); err != nil {
			return nil, err
		}
	case r.Revert != "":
		if plan, err = s.reverting(ctx, r.Revert); err != nil {
			return nil, err
		}
	}
	shown := -1
	o, err := s.plan(ctx, r, !r.DryRun && r.Confirmed, func(state schedule.State, done int) schedule.Plan {
		p := plan(state, r.Options)
		switch left := shown - done; {
		case shown < 0:
			shown = p.Moves()
		case p.Moves() > left: // another client has changed something
			more := finding.Reason{Code: finding.PlanExceeds, Value: schedule.Count(shown, "move")}
			s.progress(ctx, more.String())
			if left == 0 {
				return schedule.Plan{}
			}
			o := r.Options
			o.MaxMoves = left
			return plan(state, o)
		}
		return p
	}, earlier...)
	if err == nil {
		o.Plan.Next = s.drains(o.Plan.Findings)
	}
	return o, err
}

// drains returns the commands that drain the dead masters of gateways which a rebalancing leaves.
func (s *Service) drains(all []finding.Finding) (commands []string) {
	for _, f := range all {
		if f.Code == finding.GatewaysOnBackups && s.OnNode != nil {
			commands = append(commands, s.OnNode(command.Command{
				Action: maintenance.OperationDrain,
				Params: []command.Param{
					{Key: "node", Value: maintenance.ByChassis(f.Subject.Name)}, {Key: "i-really-mean-it", Value: "true"},
				},
			}))
		}
	}
	return commands
}

// reverting returns what plans the revert of a plan. If a later plan has changed a gateway since, the finding names it.
func (s *Service) reverting(
	ctx context.Context, id string,
) (func(schedule.State, schedule.Options) schedule.Plan, error) {
	h, err := s.History(ctx, id)
	if err != nil {
		return nil, err
	}
	j, err := s.journal(ctx)
	if err != nil {
		return nil, err
	}
	return func(state schedule.State, o schedule.Options) schedule.Plan {
		p := schedule.Revert(state, o, h.Plans[0].Changes)
		for i, f := range p.Findings {
			named := func(g schedule.Group) bool { return g.Name == f.Subject.Name }
			if f.Code == finding.CandidatesChanged {
				now := state.Groups[slices.IndexFunc(state.Groups, named)]
				p.Findings[i].Args.Reasons = []finding.Reason{s.changedBy(j, id, now)}
			}
		}
		return p
	}, nil
}

// changedBy describes what has changed a group after a plan.
func (s *Service) changedBy(j journal.Journal, plan string, now schedule.Group) finding.Reason {
	later, found := j.ChangedSince(plan, now)
	if !found {
		return finding.Reason{Code: finding.ByOtherClient}
	}
	why := finding.Reason{Code: finding.ByPlan, Name: later.ID, Value: later.At.UTC().Format(time.RFC3339)}
	if s.Show != nil {
		why.Code, why.Because = finding.ByPlanShown, []finding.Reason{finding.Quote(s.Show(later.ID))}
	}
	return why
}

// plan makes a plan; acts reports whether it may be carried out.
func (s *Service) plan(
	ctx context.Context, r Request, acts bool, planner Planner, earlier ...journal.Entry,
) (*Operation, error) {
	// An ovn-controller that died since the last sign of life looks alive, but takes over nothing. Without ovn-northd
	// changes have no effect. If nothing has used NB yet, there is nothing to change.
	if r.Wait > 0 && acts {
		if err := s.syncWithin(ctx, r.Wait); err != nil && !errors.Is(err, ovsdb.ErrUninitialized) {
			return nil, err
		}
	}
	inventory, err := s.Observe(ctx)
	if err != nil {
		return nil, err
	}
	p := planner(inventory.State, 0)
	if planner, err = s.reviewed(ctx, r, inventory, &p, planner); err != nil {
		return nil, err
	}
	p.Findings = append(p.Findings, inventory.Findings...)
	if outage := schedule.FindOutage(inventory.State); outage != nil { // a reader of "nothing to do" must see it
		p.Findings = append(p.Findings, outage.Finding())
	}
	p.Findings = schedule.SortFindings(p.Findings)
	return &Operation{Plan: p, service: s, request: r, planner: planner, earlier: earlier}, nil
}

// Apply carries the plan out, unless it is a dry run, and proves it as [Service.Prove] does. It refuses to interrupt
// traffic without a confirmation ([finding.WouldInterrupt]).
func (o *Operation) Apply(ctx context.Context) error {
	s, r := o.service, o.request
	switch {
	case o.Plan.Empty() && (r.DryRun || len(o.earlier) == 0):
		return nil
	case r.DryRun:
		s.progress(ctx, "dry run: nothing changed")
		return nil
	case !r.Confirmed && o.Plan.Moves() > 0:
		return finding.Refuse([]finding.Finding{finding.About(finding.WouldInterrupt, "",
			finding.Args{Count: o.Plan.Moves()})})
	}
	var err error
	s.Operate(ctx, o.Plan.Operation, "", func() bool {
		err = o.carryOut(ctx)
		return err == nil
	})
	return err
}

func (o *Operation) carryOut(ctx context.Context) error {
	s, r := o.service, o.request
	changed, err := s.Apply(ctx, o.planner, o.earlier...)
	if err != nil {
		return err
	}
	if r.Wait == 0 || len(changed) == 0 {
		return nil
	}
	err = s.Prove(ctx, changed, r.Wait)
	if unproved := new(UnprovedError); errors.As(err, &unproved) && s.Undo != nil {
		unproved.Undo = s.Undo(s.run.ID)
	}
	if err == nil {
		s.progress(ctx, "every changed gateway is bound as expected")
	}
	return err
}
