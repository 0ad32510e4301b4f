package gateway

import (
	"context"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// PlanDrain returns what is left to write for a drain of a chassis.
func (s *Service) PlanDrain(ctx context.Context, inventory *Inventory, chassis string) (schedule.Plan, error) {
	j, err := s.journal(ctx)
	return schedule.Drain(inventory.State, chassis, j.Drained()[chassis]), err
}

// Drain moves every gateway off a chassis while it is cordoned, and returns the changes. Gateways that no other chassis
// can host stay. The first plan is made from read, unless read is nil. A drain also finishes an interrupted undrain.
func (s *Service) Drain(ctx context.Context, read *Inventory, chassis string) ([]schedule.Change, error) {
	return s.onChassis(ctx, run{chassis: chassis, cordon: true, read: read}, schedule.Drain)
}

// Demote moves off a cordoned chassis the gateways that it has got since it was cordoned, except the groups in stay.
func (s *Service) Demote(
	ctx context.Context, read *Inventory, chassis string, stay []string,
) ([]schedule.Change, error) {
	plan := func(state schedule.State, _ int) schedule.Plan { return schedule.Demote(state, chassis, stay) }
	return s.apply(ctx, &run{chassis: chassis, cordon: true, read: read, plan: plan})
}

// Clear removes a chassis from all lists of candidates while it is cordoned.
func (s *Service) Clear(ctx context.Context, chassis string) ([]schedule.Change, error) {
	plan := func(state schedule.State, chassis string, _ []schedule.AppliedChange) schedule.Plan {
		return schedule.Clear(state, chassis)
	}
	return s.onChassis(ctx, run{chassis: chassis, cordon: true}, plan)
}

// onChassis carries out a run on a chassis, and finishes the earlier runs on that chassis. plan gets the changes that
// an undrain has to put back.
func (s *Service) onChassis(ctx context.Context, r run,
	plan func(state schedule.State, chassis string, was []schedule.AppliedChange) schedule.Plan,
) ([]schedule.Change, error) {
	j, err := s.journal(ctx)
	if err != nil {
		return nil, err
	}
	r.earlier = slices.DeleteFunc(j.Unfinished(), func(e journal.Entry) bool { return e.Chassis != r.chassis })
	r.drained = j.Drained()
	r.plan = func(state schedule.State, _ int) schedule.Plan { return plan(state, r.chassis, r.drained[r.chassis]) }
	return s.apply(ctx, &r)
}

// Undrain gives a chassis back the ranks that drains have changed. Blocked of the first plan lists what can't be put
// back. Undrain returns an error if, at its last plan, the chassis can take nothing over. The caller ends the undrain
// by writing the result of [Service.Forgetting].
func (s *Service) Undrain(
	ctx context.Context, chassis string,
) (changed []schedule.Change, first schedule.Plan, err error) {
	planned, unavailable := false, finding.Reason{}
	plan := func(state schedule.State, chassis string, was []schedule.AppliedChange) schedule.Plan {
		p := schedule.Undrain(state, chassis, was)
		if !planned {
			first, planned = p, true
		}
		unavailable = state.Unavailable(chassis)
		return p
	}
	changed, err = s.onChassis(ctx, run{chassis: chassis}, plan)
	if err == nil && !unavailable.IsZero() {
		why := finding.Reason{Code: finding.TakesNoneBack, Name: chassis, Because: []finding.Reason{unavailable}}
		err = why.Err()
	}
	return changed, first, err
}

// PlanUndrain returns the plan of [Service.Undrain].
func (s *Service) PlanUndrain(ctx context.Context, inventory *Inventory, chassis string) (schedule.Plan, error) {
	j, err := s.journal(ctx)
	return schedule.Undrain(inventory.State.WithCordon(chassis, false), chassis, j.Drained()[chassis]), err
}

// Forgetting returns the write that discards the records which drains have kept for a chassis that was undrained or is
// gone.
func (s *Service) Forgetting(ctx context.Context, chassis string) (journal.Writing, error) {
	j, err := s.journal(ctx)
	return j.Forget(chassis), err
}
