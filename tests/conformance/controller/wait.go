package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/juju/juju/rpc/params"
)

// waitFacade has what a real agent gets from other facades: leadership, the
// clock of update-status; and the report of hooks, which only we want.
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
	case "Starts":
		return struct{}{}, c.Starts(r.Unit)
	case "Runs", "Ran":
		var hook string
		if err := json.Unmarshal(r.Params, &hook); err != nil {
			return nil, err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if u := c.state.Units[r.Unit]; u != nil {
			u.note(r.Request, hook)
			c.called = time.Now()
			c.save()
		}
		return struct{}{}, nil
	}
	return nil, errNotFound
}

// note keeps the history of hooks.
func (u *Unit) note(what, hook string) {
	if what == "Runs" {
		u.running = hook
		return
	}
	u.running = ""
	u.Hooks = append(u.Hooks, hook)
}

// claim makes a unit the leader where there is none.
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
	u.leads = c.state.Leader == unit
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

// How long no agent may have called before all is taken to be settled. An agent
// needs a few ms from an event to its next call; on a machine that is busy with
// other things as many times more as others wait for a processor.
const (
	leastQuiet = 300 * time.Millisecond
	mostQuiet  = 5 * time.Second
)

func quiet() time.Duration {
	var load float64 // of the last minute; see proc_loadavg(5)
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(text), &load)
	}
	waiting := 1 + load/float64(runtime.NumCPU())
	return min(time.Duration(float64(leastQuiet)*waiting), mostQuiet)
}

// Settled waits until every agent that is there has nothing more to do, or is in
// error. A unit whose agent was never started isn't settled; one whose agent is
// gone is as it will be. The answer has the units in error with their messages.
func (c *Controller) Settled(ctx context.Context) (map[string]string, error) {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		failed, busy := c.look()
		if busy == "" {
			return failed, nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return failed, fmt.Errorf("not settled: %s: %w", busy, context.Cause(ctx))
		}
	}
}

func (c *Controller) look() (failed map[string]string, busy string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	failed = map[string]string{}
	behind, there := map[string]bool{}, map[string]bool{}
	for _, w := range c.watches {
		there[w.unit] = true
		behind[w.unit] = behind[w.unit] || !w.waiting
	}
	for _, u := range c.state.ordered() {
		inError := u.Agent.Status == "error"
		if inError {
			failed[u.Name] = u.Agent.Info
		}
		switch {
		case u.Agent.Status == "allocating":
			return failed, u.Name + " has no agent yet"
		case u.starting && !there[u.Name]:
			return failed, "the agent of " + u.Name + " is starting"
		case !there[u.Name]:
		case u.running != "":
			return failed, u.Name + " runs " + u.running
		case u.UpdateAsked > u.updateSeen:
			return failed, u.Name + " is to run update-status"
		case u.leads != (u.Name == c.state.Leader):
			return failed, u.Name + " doesn't know who leads"
		case !inError && u.CharmURL != c.state.charmURL():
			return failed, u.Name + " is to be upgraded"
		case behind[u.Name]:
			return failed, u.Name + " has news"
		case u.Agent.Status != "idle" && !inError:
			return failed, u.Name + " is " + u.Agent.Status + ": " + u.Agent.Info
		case u.Life == "dying" && !inError:
			return failed, u.Name + " is dying"
		}
	}
	pending := slices.ContainsFunc(c.pendingActions(), func(a *Action) bool { return there[a.Unit] })
	switch {
	case pending:
		return failed, "an action is pending"
	case time.Since(c.called) < quiet():
		return failed, "the last call was just now"
	}
	return failed, ""
}

func (c *Controller) pendingActions() (pending []*Action) {
	for _, a := range c.state.Actions {
		if a.Status == "pending" || a.Status == "running" {
			pending = append(pending, a)
		}
	}
	return pending
}
