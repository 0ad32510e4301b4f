package gateway

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// PlanDrain is what is left to write for a drain of a chassis.
func (s *Service) PlanDrain(ctx context.Context, inventory *Inventory, chassis string) (schedule.Plan, error) {
	was, err := s.ranks(ctx)
	if err != nil {
		return schedule.Plan{}, err
	}
	return schedule.Drain(inventory.State, schedule.Options{}, chassis, was), nil
}

// Drain moves every gateway off a chassis, for as long as it is cordoned, and says what it
// has changed. Those that could go nowhere stay. The first plan is made of what was read: what has
// changed since fails its transaction. What an undrain has left undone is finished by it too.
func (s *Service) Drain(ctx context.Context, read *Inventory, chassis string) ([]schedule.Change, error) {
	was, err := s.ranks(ctx)
	if err != nil {
		return nil, err
	}
	earlier, err := s.unfinishedOf(ctx, chassis, schedule.OperationDrain, schedule.OperationUndrain)
	if err != nil {
		return nil, err
	}
	return s.whileCordoned(ctx, read, chassis, func(state schedule.State, _ int) schedule.Plan {
		return schedule.Drain(state, schedule.Options{}, chassis, was)
	}, earlier...)
}

// Demote moves off a chassis what has come to be hosted there since it was cordoned, for as long as
// it is; the groups that stay are left alone.
func (s *Service) Demote(ctx context.Context, read *Inventory, chassis string, stay []string) ([]schedule.Change, error) {
	return s.whileCordoned(ctx, read, chassis, func(state schedule.State, _ int) schedule.Plan { return schedule.Demote(state, chassis, stay) })
}

// Clear takes a chassis out of all lists of candidates, for as long as it is cordoned.
func (s *Service) Clear(ctx context.Context, chassis string) ([]schedule.Change, error) {
	earlier, err := s.unfinishedOf(ctx, chassis, schedule.OperationClear)
	if err != nil {
		return nil, err
	}
	return s.whileCordoned(ctx, nil, chassis, func(state schedule.State, _ int) schedule.Plan { return schedule.Clear(state, chassis) }, earlier...)
}

// unfinishedOf are the earlier runs of operations on a chassis that were not finished.
func (s *Service) unfinishedOf(ctx context.Context, chassis string, operations ...string) ([]Entry, error) {
	earlier, err := s.unfinished(ctx, operations...)
	return slices.DeleteFunc(earlier, func(e Entry) bool { return e.Chassis != chassis }), err
}

func (s *Service) whileCordoned(ctx context.Context, read *Inventory, chassis string, plan Planner, earlier ...Entry) ([]schedule.Change, error) {
	key, value := cordon.Pair(chassis)
	s.cordon = map[string]string{key: value}
	defer func() { s.cordon = nil }()
	return s.applyFrom(ctx, read, plan, earlier...)
}

// Undrain puts the ranks of a chassis back that drains have changed. Its plan, as it was at
// first, says in Blocked what could not be put back. It has failed where the chassis can take
// nothing by the last plan. They are put back once: what [Service.Forgetting] returns ends it.
func (s *Service) Undrain(ctx context.Context, chassis string) (changed []schedule.Change, first schedule.Plan, err error) {
	was, err := s.ranks(ctx)
	if err != nil {
		return nil, first, err
	}
	earlier, err := s.unfinishedOf(ctx, chassis, schedule.OperationUndrain)
	if err != nil {
		return nil, first, err
	}
	shown, shut := false, ""
	changed, err = s.Apply(ctx, func(state schedule.State, _ int) schedule.Plan {
		p := schedule.Undrain(state, schedule.Options{}, chassis, was[chassis])
		if !shown {
			first, shown = p, true
		}
		shut = state.Unavailable(chassis)
		return p
	}, earlier...)
	if err == nil && shut != "" {
		err = fmt.Errorf("%s cannot take its gateways back: %s", chassis, shut)
	}
	return changed, first, err
}

// PlanUndrain is what there is to put back.
func (s *Service) PlanUndrain(ctx context.Context, inventory *Inventory, chassis string) (schedule.Plan, error) {
	was, err := s.ranks(ctx)
	if err != nil {
		return schedule.Plan{}, err
	}
	state := inventory.State
	state.Chassis = slices.Clone(state.Chassis)
	for i := range state.Chassis {
		if state.Chassis[i].Name == chassis {
			state.Chassis[i].Cordoned = false
		}
	}
	return schedule.Undrain(state, schedule.Options{}, chassis, was[chassis]), nil
}

// ranks are those before the drains that are not undone, by the chassis that was drained.
func (s *Service) ranks(ctx context.Context) (map[string][]schedule.Ranks, error) {
	all, _, err := s.journal(ctx)
	if err != nil {
		return nil, err
	}
	return ranksOf(all), nil
}

// ranksOf reads the ranks out of the journal, the newest run first. Where another client has
// changed a group between two drains of a chassis, what that wrote is what counts as before.
func ranksOf(all []journalRecord) map[string][]schedule.Ranks {
	found, last := map[string]map[string]*schedule.Ranks{}, map[string][]schedule.Candidate{}
	for _, run := range slices.Backward(byRun(all)) {
		for _, p := range run {
			for _, c := range p.Changes {
				if p.Kept {
					if found[p.Chassis] == nil {
						found[p.Chassis] = map[string]*schedule.Ranks{}
					}
					base := c.Before
					if len(c.Base) > 0 {
						base = c.Base
					}
					was, again := found[p.Chassis][c.Group]
					if !again || !slices.Equal(was.Last, c.Before) {
						found[p.Chassis][c.Group] = &schedule.Ranks{Group: c.Group, Base: base}
					}
				}
				last[c.Group] = nil
				if p.Chassis != "" { // what a rebalancing wrote is as good as another client's
					last[c.Group] = c.After
				}
				for _, ranks := range found {
					if r, is := ranks[c.Group]; is {
						r.Last = last[c.Group]
					}
				}
			}
		}
	}
	ranks := map[string][]schedule.Ranks{}
	for chassis, groups := range found {
		for _, r := range groups {
			ranks[chassis] = append(ranks[chassis], *r)
		}
		slices.SortFunc(ranks[chassis], func(a, b schedule.Ranks) int { return cmp.Compare(a.Group, b.Group) })
	}
	return ranks
}

// Forgetting is what to write to give up the ranks before the drains of a chassis: it was undrained, or is
// gone.
func (s *Service) Forgetting(ctx context.Context, chassis string) (a ovsdb.Amendment, err error) {
	all, _, err := s.journal(ctx)
	if err != nil {
		return a, err
	}
	for _, p := range all {
		if p.Kept && p.Chassis == chassis {
			p.Kept, p.Left = false, 0
			a.Noted = append(a.Noted, ovsdb.JournalRow{UUID: p.uuid, Text: p.text()})
		}
	}
	return a, nil
}
