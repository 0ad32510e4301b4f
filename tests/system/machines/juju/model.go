package juju

import (
	"context"
	"fmt"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
)

// Status is what `juju status` shows.
type Status struct {
	Leader         string                `json:"leader"`
	AppVersion     string                `json:"app-version"`
	LeaderSettings map[string]string     `json:"leader-settings"`
	Units          map[string]UnitStatus `json:"units"`
}

// UnitStatus is one unit's part of [Status].
type UnitStatus struct {
	Workload Word     `json:"workload"`
	Agent    Word     `json:"agent"`
	Life     string   `json:"life"` // alive, dying or dead
	Ports    []string `json:"ports"`
	Hooks    []string `json:"hooks"` // all that were run, in their order
}

// Word is a status with its message.
type Word struct{ Status, Message string }

// Status returns the model's present status.
func (c *Controller) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.do(ctx, "status", struct{}{}, &s)
	return s, err
}

// Settled waits until every agent is up to date and idle, and returns the agents' errors by unit.
func (c *Controller) Settled(ctx context.Context, limit time.Duration) (map[string]string, error) {
	var answer struct{ Errors map[string]string }
	err := c.do(ctx, "settled", map[string]any{"timeout": limit.String()}, &answer)
	return answer.Errors, err
}

// Configure implements [cluster.Application].
func (c *Controller) Configure(ctx context.Context, options map[string]string) error {
	return c.do(ctx, "config", map[string]any{"values": options}, nil)
}

// Relate implements [cluster.Application]. The other application has one unit.
func (c *Controller) Relate(ctx context.Context, endpoint, other string) error {
	var answer struct{ Relation int }
	err := c.do(ctx, "relate", map[string]any{"endpoint": endpoint, "app": other}, &answer)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.relations[endpoint] = answer.Relation
	}
	return err
}

// relation returns the number of an endpoint's relation, or 0.
func (c *Controller) relation(endpoint string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.relations[endpoint]
}

// RemoteSet sets data of a unit of the other application; an empty value deletes.
func (c *Controller) RemoteSet(ctx context.Context, endpoint, unit string, data map[string]string) error {
	return c.do(ctx, "remote-set", map[string]any{"relation": c.relation(endpoint), "unit": unit, "data": data}, nil)
}

// Data returns what the units of ovn-central have published on a relation, by unit.
func (c *Controller) Data(ctx context.Context, endpoint string) (map[string]map[string]string, error) {
	var answer struct{ Units map[string]map[string]string }
	err := c.do(ctx, "data", map[string]any{"relation": c.relation(endpoint)}, &answer)
	return answer.Units, err
}

// Run implements [cluster.Application]: it takes arguments as `juju run` does.
func (c *Controller) Run(ctx context.Context, unit, action string, args ...string) (map[string]any, error) {
	var result struct {
		Status, Message string
		Results         map[string]any
	}
	question := map[string]any{"unit": unit, "action": action, "args": args, "timeout": "5m"}
	err := c.do(ctx, "run", question, &result)
	if err == nil && result.Status != "completed" {
		err = fmt.Errorf("%s of %s: %w: %s", action, unit, cluster.ErrAction, result.Message)
	}
	return result.Results, err
}

// Destroy implements [cluster.Application].
func (c *Controller) Destroy(ctx context.Context) error {
	return c.do(ctx, "remove-application", struct{}{}, nil)
}

// UpdateStatus has a unit run update-status, which Juju itself does every five minutes.
func (c *Controller) UpdateStatus(ctx context.Context, unit string) error {
	return c.do(ctx, "update-status", map[string]any{"unit": unit}, nil)
}

// SetData sets what a unit of ovn-central has published, as an older charm did.
func (c *Controller) SetData(ctx context.Context, endpoint, unit string, data map[string]string) error {
	return c.do(ctx, "set-data", map[string]any{"relation": c.relation(endpoint), "unit": unit, "data": data}, nil)
}

// LeaderSettings are set as by leader-set.
func (c *Controller) LeaderSettings(ctx context.Context, values map[string]string) error {
	return c.do(ctx, "leader-settings", map[string]any{"values": values}, nil)
}

// Refresh replaces the charm, as `juju refresh`.
func (c *Controller) Refresh(ctx context.Context, charm string) error {
	return c.do(ctx, "refresh", map[string]any{"charm": charm}, nil)
}

// SetLeader gives the leadership to a unit, as Juju does a while after the leader is gone.
func (c *Controller) SetLeader(ctx context.Context, unit string) error {
	return c.do(ctx, "set-leader", map[string]any{"unit": unit}, nil)
}
