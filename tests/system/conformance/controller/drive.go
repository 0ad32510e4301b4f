package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/juju/juju/rpc/params"
)

// change changes the model, and notifies the agents.
func (c *Controller) change(f func(s *State) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := f(&c.state)
	c.stir()
	c.notify()
	return err
}

func (c *Controller) of(unit string, f func(s *State, u *Unit) error) error {
	return c.change(func(s *State) error {
		u := s.Units[unit]
		if u == nil {
			return fmt.Errorf("unit %q not found", unit)
		}
		return f(s, u)
	})
}

// AddUnit adds a unit with its machine's addresses, the preferred one first. The first unit is the leader.
func (c *Controller) AddUnit(addresses ...string) (name string, err error) {
	if len(addresses) == 0 {
		return "", fmt.Errorf("cannot add a unit: its machine has no address")
	}
	err = c.change(func(s *State) error {
		if s.Dying {
			return fmt.Errorf("application %q is being removed", s.App)
		}
		name = fmt.Sprintf("%s/%d", s.App, s.NextUnit)
		s.Units[name] = &Unit{
			Name: name, Number: s.NextUnit, Life: "alive", Addresses: slices.Clone(addresses),
			Workload: now("waiting", "agent initialising"), Agent: now("allocating", ""),
		}
		s.NextUnit++
		if s.Leader == "" {
			s.Leader = name
		}
		return nil
	})
	return name, err
}

// SetAddresses changes a machine's addresses.
func (c *Controller) SetAddresses(unit string, addresses ...string) error {
	return c.of(unit, func(_ *State, u *Unit) error { u.Addresses = slices.Clone(addresses); return nil })
}

// RemoveUnit is `juju remove-unit`; with force the unit is gone at once.
func (c *Controller) RemoveUnit(unit string, force bool) error {
	return c.of(unit, func(s *State, u *Unit) error {
		u.Life = "dying"
		if force {
			s.remove(unit)
		}
		return nil
	})
}

// RemoveApplication is `juju remove-application`.
func (c *Controller) RemoveApplication() error {
	return c.change(func(s *State) error {
		s.Dying = true
		for _, u := range s.Units {
			u.Life = "dying"
		}
		for _, r := range slices.Clone(s.Relations) {
			r.Life = "dying"
			s.dropRelation(r)
		}
		return nil
	})
}

// SetLeader gives the leadership to a unit.
func (c *Controller) SetLeader(unit string) error {
	return c.of(unit, func(s *State, _ *Unit) error { s.Leader = unit; return nil })
}

// SetLeaderSettings is leader-set of a leader.
func (c *Controller) SetLeaderSettings(values map[string]string) error {
	return c.change(func(s *State) error { s.writeLeaderSettings(values); return nil })
}

// Configure is `juju config`.
func (c *Controller) Configure(values map[string]string) error {
	settings, err := c.charm.Config().ParseSettingsStrings(values)
	if err != nil {
		return err
	}
	return c.change(func(s *State) error { maps.Copy(s.Config, settings); return nil })
}

// Refresh is `juju refresh` to another charm.
func (c *Controller) Refresh(dir string) error {
	c.mu.Lock()
	revision := len(c.state.Charms)
	c.mu.Unlock()
	ch, archive, err := c.pack(dir, revision)
	if err != nil {
		return err
	}
	return c.change(func(s *State) error {
		c.charm = ch
		s.Charms = append(s.Charms, archive)
		return nil
	})
}

// Resolved is `juju resolved`.
func (c *Controller) Resolved(unit string, noRetry bool) error {
	return c.of(unit, func(_ *State, u *Unit) error {
		if u.Agent.Status != "error" {
			return fmt.Errorf("unit %q is not in an error state", unit)
		}
		u.Resolved = params.ResolvedRetryHooks
		if noRetry {
			u.Resolved = params.ResolvedNoHooks
		}
		return nil
	})
}

// UpdateStatus makes the unit's update-status due.
func (c *Controller) UpdateStatus(unit string) error {
	return c.of(unit, func(_ *State, u *Unit) error { u.UpdateAsked = u.updateSeen + 1; return nil })
}

// Run runs an action with a client's parameters, and waits for its end. It checks what a real controller checks before
// it enqueues: the schema, before defaults are inserted (state/unit.go, PrepareActionPayload).
func (c *Controller) Run(ctx context.Context, unit, action string, given map[string]any) (Action, error) {
	spec, found := c.charm.Actions().ActionSpecs[action]
	if !found {
		return Action{}, fmt.Errorf("action %q not defined on unit %q", action, unit)
	}
	if err := spec.ValidateParams(given); err != nil {
		return Action{}, err
	}
	full, err := spec.InsertDefaults(given)
	if err != nil {
		return Action{}, err
	}
	a := &Action{Unit: unit, Name: action, Params: full, Status: "pending"}
	err = c.of(unit, func(s *State, _ *Unit) error {
		s.Actions[strconv.Itoa(len(s.Actions)+1)] = a
		return nil
	})
	if err != nil {
		return Action{}, err
	}
	err = c.until(ctx, func() bool { return a.Status != "pending" && a.Status != "running" })
	c.mu.Lock()
	defer c.mu.Unlock()
	return *a, err
}

// Starts notes that the agent of a unit is being started. Until the agent is connected, nothing is settled.
func (c *Controller) Starts(unit string) error {
	return c.of(unit, func(_ *State, u *Unit) error { u.starting = true; return nil })
}

// Look calls a function with the state.
func (c *Controller) Look(f func(State)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.state)
}
