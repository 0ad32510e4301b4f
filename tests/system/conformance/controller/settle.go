package controller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/juju/juju/core/network"
	"github.com/juju/juju/worker/uniter/operation"
	"gopkg.in/yaml.v3"
)

// BeatInterval is how often an agent reports that it gets to run.
const BeatInterval = 50 * time.Millisecond

// enoughBeats of every agent without another call mean that no agent has anything to do: between an event and its next
// call an agent needs a few ms. Beats are counted, not time, because an agent that gets no processor doesn't beat
// either.
const enoughBeats = 6

// stir notes an event that may give an agent something to do. The model is locked.
func (c *Controller) stir() {
	for _, u := range c.state.Units {
		u.beats = 0
	}
}

// unfinished returns what, by its record, an agent without an error has not finished, or "".
func (u *Unit) unfinished() string {
	var state operation.State
	if u.Kept.UniterState != nil {
		if err := yaml.Unmarshal([]byte(*u.Kept.UniterState), &state); err != nil {
			return "has an unreadable state: " + err.Error()
		}
	}
	switch {
	case state.Kind != operation.Continue:
		return fmt.Sprintf("is in the middle of an operation (%s)", state.Kind)
	case u.Life == "alive" && state.Leader != u.leads:
		return "has not acted on the leadership"
	}
	return ""
}

// Settled waits until every present agent has nothing to do, or is in error, and returns the units in error with their
// messages. A unit whose agent was never started isn't settled; one whose agent is gone is.
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
	behind, watches := map[string]bool{}, map[string]bool{}
	for _, w := range c.watches {
		watches[w.agent] = watches[w.agent] || w.last
		behind[w.agent] = behind[w.agent] || !w.waiting
	}
	for _, u := range c.state.ordered() {
		inError := u.Agent.Status == "error"
		if inError {
			failed[u.Name] = u.Agent.Info
		}
		switch {
		case u.Agent.Status == "allocating":
			return failed, u.Name + " has no agent yet"
		case u.starting:
			return failed, "the agent of " + u.Name + " is starting"
		case u.agent == "":
		case !watches[u.agent]:
			return failed, u.Name + " doesn't watch everything yet"
		case u.running != "":
			return failed, u.Name + " runs " + u.running
		case u.UpdateAsked > u.updateSeen:
			return failed, u.Name + " has not run update-status"
		case u.leads != (u.Name == c.state.Leader):
			return failed, u.Name + " doesn't know the leader"
		case !inError && u.unfinished() != "":
			return failed, u.Name + " " + u.unfinished()
		case !inError && u.CharmURL != c.state.charmURL():
			return failed, u.Name + " is not upgraded yet"
		case behind[u.agent]:
			return failed, u.Name + " has news"
		case u.Agent.Status != "idle" && !inError:
			return failed, u.Name + " is " + u.Agent.Status + ": " + u.Agent.Info
		case u.Life == "dying" && !inError:
			return failed, u.Name + " is dying"
		case u.beats < enoughBeats:
			return failed, u.Name + " has hardly run since the last call"
		}
	}
	if slices.ContainsFunc(c.pendingActions(), func(a *Action) bool { u := c.state.Units[a.Unit]; return u != nil && u.agent != "" }) {
		return failed, "an action is pending"
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

// Status is the model as people see it.
type Status struct {
	Leader         string                `json:"leader"`
	AppVersion     string                `json:"app-version"`
	LeaderSettings map[string]string     `json:"leader-settings"`
	Units          map[string]UnitStatus `json:"units"` // those that were removed are dead
}

// UnitStatus is a unit in it.
type UnitStatus struct {
	Workload StatusWord `json:"workload"`
	Agent    StatusWord `json:"agent"`
	Life     string     `json:"life"`
	Ports    []string   `json:"ports"`
	Hooks    []string   `json:"hooks"`
}

// StatusWord is a status with its message.
type StatusWord struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

// Status returns the model's status.
func (c *Controller) Status() Status {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := Status{
		Leader: c.state.Leader, AppVersion: c.state.Version, LeaderSettings: maps.Clone(c.state.LeaderSettings),
		Units: map[string]UnitStatus{},
	}
	for _, u := range c.state.Units {
		one := u.status()
		if u.agent == "" && u.Agent.Status != "allocating" {
			one.Agent = StatusWord{"lost", "agent is not communicating with the server"}
		}
		all.Units[u.Name] = one
	}
	for _, u := range c.state.Gone {
		all.Units[u.Name] = u.status()
	}
	return all
}

func (u *Unit) status() UnitStatus {
	ports := []string{}
	for _, p := range u.Ports {
		one := network.PortRange{FromPort: p.FromPort, ToPort: p.ToPort, Protocol: p.Protocol}
		ports = append(ports, one.String())
	}
	workload, agent := u.visible(), u.Agent
	if agent.Status == "error" {
		agent.Status, agent.Info = "idle", ""
	}
	return UnitStatus{
		Workload: StatusWord{workload.Status, workload.Info}, Agent: StatusWord{agent.Status, agent.Info},
		Life: u.Life, Ports: ports, Hooks: slices.Clone(u.Hooks),
	}
}
