package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// until waits until missing returns "".
func (s *Story) until(ctx context.Context, missing func(map[string]Unit) string) error {
	what := ""
	for {
		units, err := s.App.Units(ctx)
		if err == nil {
			if what = missing(units); what == "" {
				return nil
			}
		}
		if poll.Wait(ctx, s.Every) != nil {
			return fmt.Errorf("waited in vain: %s (%w)", what, errors.Join(err, context.Cause(ctx)))
		}
	}
}

func (s *Story) active(ctx context.Context, n int) error {
	return s.until(ctx, func(units map[string]Unit) string {
		for name, u := range units {
			well := fmt.Sprintf("%d of %d up", n, n)
			if u.Workload.Current != "active" || u.Agent.Current != "idle" || !strings.Contains(u.Workload.Message, well) {
				return fmt.Sprintf("%s is %s, %s: %s", name, u.Agent.Current, u.Workload.Current, u.Workload.Message)
			}
		}
		return number(units, n)
	})
}

func number(units map[string]Unit, n int) string {
	if len(units) == n {
		return ""
	}
	return fmt.Sprintf("there are %d units: %v", len(units), slices.Sorted(maps.Keys(units)))
}

// members waits until cluster-status of each unit shows n members that are up, and prints no command.
func (s *Story) members(ctx context.Context, n int) error {
	return s.reports(ctx, func(results map[string]any) string {
		if next := findings(results).Next(); len(next) > 0 {
			return "it prints " + strings.Join(next, "; ")
		}
		if !complete(results, n) {
			return "it says " + text(results["fault-tolerance"])
		}
		return ""
	})
}

// findings returns the findings of cluster-status with format=json.
func findings(results map[string]any) Findings {
	all, _ := ReadFindings(results["findings"])
	return all
}

func complete(results map[string]any, n int) bool {
	all := fmt.Sprintf("of %d members may fail (%d up)", n, n)
	return strings.Count(text(results["fault-tolerance"]), all) == 2
}

// reports waits until missing returns "" for cluster-status of each unit.
func (s *Story) reports(ctx context.Context, missing func(results map[string]any) string) error {
	return s.until(ctx, func(units map[string]Unit) string {
		err := atOnce(ctx, slices.Collect(maps.Keys(units)), func(ctx context.Context, unit string) error {
			results, err := s.App.Run(ctx, unit, "cluster-status", "format=json")
			if what := missing(results); err == nil && what != "" {
				err = fmt.Errorf("%s: %s", unit, what)
			}
			return err
		})
		if err != nil {
			return err.Error()
		}
		return ""
	})
}

// unitOf returns Juju's leader, or the last unit that is not.
func (s *Story) unitOf(ctx context.Context, leader bool) (name string, err error) {
	units, err := s.App.Units(ctx)
	if err != nil {
		return "", err
	}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		if units[unit].Leader == leader {
			name = unit
		}
	}
	if name == "" {
		return "", fmt.Errorf("no unit has leader=%t: %v", leader, units)
	}
	return name, nil
}

func (s *Story) leads(ctx context.Context, db string) (string, error) {
	return s.find(ctx, func(_ Unit, results map[string]any) bool { return isLeader(results, db) })
}

// follower returns a unit that leads neither the application nor a database. Among three units there may be none.
func (s *Story) follower(ctx context.Context) (string, error) {
	return s.find(ctx, func(u Unit, results map[string]any) bool {
		return !u.Leader && !isLeader(results, "ovnnb") && !isLeader(results, "ovnsb")
	})
}

func isLeader(results map[string]any, db string) bool {
	return strings.Contains(text(results[db]), "Role: leader")
}

// find waits for a unit for which is returns true.
func (s *Story) find(ctx context.Context, is func(u Unit, results map[string]any) bool) (found string, err error) {
	err = s.until(ctx, func(units map[string]Unit) string {
		for name, u := range units {
			results, err := s.App.Run(ctx, name, "cluster-status")
			if err != nil {
				return err.Error()
			}
			if is(u, results) {
				found = name
				return ""
			}
		}
		return "no unit is it"
	})
	return found, err
}

// removeUnit removes a unit, and waits until the model has dropped it.
func (s *Story) removeUnit(ctx context.Context, unit string) error {
	gone := func() error { return nil }
	if s.Leaving != nil {
		var err error
		if gone, err = s.Leaving(ctx, unit); err != nil {
			return err
		}
	}
	if err := s.App.Remove(ctx, unit, false); err != nil {
		return err
	}
	err := s.until(ctx, func(units map[string]Unit) string {
		if _, there := units[unit]; there {
			return unit + " is still there"
		}
		return ""
	})
	if err != nil {
		return err
	}
	return gone()
}

func text(result any) string {
	if result == nil {
		return ""
	}
	return fmt.Sprint(result)
}
