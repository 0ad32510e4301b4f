package controller

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/juju/juju/rpc/params"
)

// waitFacade has the calls that wait for events of other components: leadership, update-status and presence. It also
// has our report of hooks.
const waitFacade = "Runner"

// wait answers the calls of [waitFacade].
func (c *Controller) wait(ctx context.Context, r Request) (any, error) {
	switch r.Request {
	case "Claim":
		return struct{}{}, c.claim(r.Unit)
	case "Released":
		return struct{}{}, c.until(ctx, func() bool { return c.state.Leader == "" || c.state.Leader == r.Unit })
	case "UpdateStatus":
		// An agent passes the number of the events that it has seen, and gets the next one.
		var seen, asked int
		if err := json.Unmarshal(r.Params, &seen); err != nil {
			return nil, err
		}
		err := c.until(ctx, func() bool {
			if u := c.state.Units[r.Unit]; u != nil {
				asked, u.updateSeen = u.UpdateAsked, max(seen, 0)
			}
			return asked > seen
		})
		return asked, err
	case "Beat":
		c.mu.Lock()
		defer c.mu.Unlock()
		if u := c.state.Units[r.Unit]; u != nil {
			u.beats++
		}
		return struct{}{}, nil
	case "Stays":
		return struct{}{}, c.stays(ctx, r)
	case "Runs", "Ran":
		var hook string
		if err := json.Unmarshal(r.Params, &hook); err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if u := c.state.Units[r.Unit]; u != nil {
			u.running = hook
			if r.Request == "Ran" {
				u.running, u.Hooks = "", append(u.Hooks, hook)
			}
		}
		return struct{}{}, nil
	}
	return nil, errNotFound
}

// stays returns when the agent has ended. Until then the agent is its unit's agent.
func (c *Controller) stays(ctx context.Context, r Request) error {
	err := c.of(r.Unit, func(_ *State, u *Unit) error {
		u.agent, u.starting = r.Agent, false
		return nil
	})
	if err != nil {
		return err
	}
	<-ctx.Done()
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.watches, func(_ string, w *watch) bool { return w.agent == r.Agent })
	if u := c.state.Units[r.Unit]; u != nil && u.agent == r.Agent {
		u.agent, u.running = "", ""
	}
	return context.Cause(ctx)
}

// claim makes a unit the leader if there is none.
func (c *Controller) claim(unit string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.state.Units[unit]
	switch {
	case u == nil:
		return errPermission
	case c.state.Leader == "" && u.Life == "alive":
		c.state.Leader = unit
		c.notify()
	}
	led := u.leads
	u.leads = c.state.Leader == unit
	if u.leads != led {
		c.stir()
	}
	if !u.leads {
		return fault{params.CodeLeadershipClaimDenied, "leadership claim denied"}
	}
	return nil
}

// until waits for a condition, which it checks with the model locked.
func (c *Controller) until(ctx context.Context, condition func() bool) error {
	for {
		c.mu.Lock()
		next, met := c.changed, condition()
		c.mu.Unlock()
		if met {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

var hookMethods = map[string]method{
	"Uniter.CommitHookChanges": plain(commit),
	"Uniter.GoalStates":        each(goalState),
	"Uniter.Merge":             plain(mergeLeaderSettings),
	"Uniter.Read": each(func(s session, _ string) (any, error) {
		return params.GetLeadershipSettingsResult{Settings: maps.Clone(s.state.LeaderSettings)}, nil
	}),
}

// commit writes what a successful hook has held back.
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
