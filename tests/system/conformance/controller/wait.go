package controller

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/juju/juju/rpc/params"
)

// waitFacade has what a real agent gets from other facades: leadership, the
// clock of update-status, its presence; and the report of hooks, which only we
// want.
const waitFacade = "Runner"

// wait answers the calls of [waitFacade]. Those with an argument that is a count
// block.
func (c *Controller) wait(ctx context.Context, r Request) (any, error) {
	switch r.Request {
	case "Claim":
		return struct{}{}, c.claim(r.Unit)
	case "Released":
		return struct{}{}, c.until(ctx, func() bool { return c.state.Leader == "" || c.state.Leader == r.Unit })
	case "UpdateStatus":
		// An agent says how many it has had, and gets the next.
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
			c.save()
		}
		return struct{}{}, nil
	}
	return nil, errNotFound
}

// stays returns when the agent is gone. Until then it is that of its unit.
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

// until waits for a condition, which is asked with the model locked.
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
