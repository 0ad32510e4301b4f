package controller

import (
	"maps"
	"slices"

	"github.com/juju/juju/rpc/params"
)

var hookMethods = map[string]method{
	"Uniter.CommitHookChanges": plain(commit),
	"Uniter.GoalStates":        each(goalState),
	"Uniter.Merge":             plain(mergeLeaderSettings),
	"Uniter.Read": each(func(s session, _ string) (any, error) {
		return params.GetLeadershipSettingsResult{Settings: maps.Clone(s.state.LeaderSettings)}, nil
	}),
}

// commit is what a hook that ended well has held back.
func commit(s session, args params.CommitHookChangesArgs) (any, error) {
	answer := results(args.Args, func(one params.CommitHookChangesArg) (any, error) {
		if one.UpdateNetworkInfo {
			for _, r := range s.state.Relations {
				if bag := r.Units[s.unit.Name]; bag != nil && bag.InScope {
					bag.write(addressSettings(s.unit.Addresses))
				}
			}
		}
		for _, changes := range one.RelationUnitSettings {
			r, err := s.relationByTag(changes.Relation)
			if err != nil {
				return nil, err
			}
			if bag := r.Units[s.unit.Name]; bag != nil {
				bag.write(changes.Settings)
			}
			if len(changes.ApplicationSettings) > 0 {
				if s.state.Leader != s.unit.Name {
					return nil, errPermission
				}
				r.App.write(changes.ApplicationSettings)
			}
		}
		if one.SetUnitState != nil {
			s.unit.keep(*one.SetUnitState)
		}
		s.unit.commitPorts(one.OpenPorts, one.ClosePorts)
		return nil, nil
	})
	s.notify()
	return answer, nil
}

func (u *Unit) commitPorts(opened, closed []params.EntityPortRange) {
	ranged := func(p params.EntityPortRange) params.PortRange {
		return params.PortRange{FromPort: p.FromPort, ToPort: p.ToPort, Protocol: p.Protocol}
	}
	for _, p := range closed {
		u.Ports = slices.DeleteFunc(u.Ports, func(known params.PortRange) bool { return known == ranged(p) })
	}
	for _, p := range opened {
		if !slices.Contains(u.Ports, ranged(p)) {
			u.Ports = append(u.Ports, ranged(p))
		}
	}
}

func goalState(s session, _ string) (any, error) {
	goal := &params.GoalState{Units: params.UnitsGoalState{}, Relations: map[string]params.UnitsGoalState{}}
	for _, u := range s.state.Units {
		status := u.visible()
		if u.Life == "dying" {
			status.Status = "dying"
		}
		goal.Units[u.Name] = params.GoalStateStatus{Status: status.Status, Since: status.Since}
	}
	for _, r := range s.state.Relations {
		if r.peer() {
			continue
		}
		units := goal.Relations[r.Endpoint.Name]
		if units == nil {
			units = params.UnitsGoalState{}
			goal.Relations[r.Endpoint.Name] = units
		}
		status, since := "joined", s.state.Status.Since
		if r.Life != "alive" {
			status = "broken"
		}
		units[r.Remote] = params.GoalStateStatus{Status: status, Since: since}
		for name, bag := range r.RemoteUnits {
			if bag.InScope {
				units[name] = params.GoalStateStatus{Status: "active", Since: since}
			}
		}
	}
	return params.GoalStateResult{Result: goal}, nil
}

func mergeLeaderSettings(s session, args params.MergeLeadershipSettingsBulkParams) (any, error) {
	answer := results(args.Params, func(one params.MergeLeadershipSettingsParam) (any, error) {
		if s.state.Leader != s.unit.Name {
			return nil, errPermission
		}
		s.state.writeLeaderSettings(one.Settings)
		return nil, nil
	})
	s.notify()
	return answer, nil
}

func (s *State) writeLeaderSettings(changes map[string]string) {
	bag := Bag{Settings: s.LeaderSettings}
	bag.write(changes)
	if bag.Version > 0 {
		s.LeaderVersion++
	}
}
