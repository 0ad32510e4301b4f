package gateway

import (
	"context"
	"fmt"
	"slices"

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
	r, err := s.onChassis(ctx, chassis)
	if err != nil {
		return nil, err
	}
	r.read, r.cordon = read, true
	r.plan = func(state schedule.State, _ int) schedule.Plan {
		return schedule.Drain(state, chassis, r.drained[chassis])
	}
	return s.apply(ctx, r)
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
	r, err := s.onChassis(ctx, chassis)
	if err != nil {
		return nil, err
	}
	r.cordon, r.plan = true, func(state schedule.State, _ int) schedule.Plan { return schedule.Clear(state, chassis) }
	return s.apply(ctx, r)
}

// onChassis returns a run on a chassis that finishes the earlier runs on that chassis.
func (s *Service) onChassis(ctx context.Context, chassis string) (*run, error) {
	j, err := s.journal(ctx)
	earlier := slices.DeleteFunc(j.Unfinished(), func(e journal.Entry) bool { return e.Chassis != chassis })
	return &run{chassis: chassis, earlier: earlier, drained: j.Drained()}, err
}

// Undrain gives a chassis back the ranks that drains have changed. Blocked of the first plan lists what can't be put
// back. Undrain returns an error if, at its last plan, the chassis can take nothing over. The caller ends the undrain
// by writing the result of [Service.Forgetting].
func (s *Service) Undrain(
	ctx context.Context, chassis string,
) (changed []schedule.Change, first schedule.Plan, err error) {
	r, err := s.onChassis(ctx, chassis)
	if err != nil {
		return nil, first, err
	}
	planned, unavailable := false, ""
	r.plan = func(state schedule.State, _ int) schedule.Plan {
		p := schedule.Undrain(state, chassis, r.drained[chassis])
		if !planned {
			first, planned = p, true
		}
		unavailable = state.Unavailable(chassis)
		return p
	}
	changed, err = s.apply(ctx, r)
	if err == nil && unavailable != "" {
		err = fmt.Errorf("%s cannot take its gateways back: %s", chassis, unavailable)
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
