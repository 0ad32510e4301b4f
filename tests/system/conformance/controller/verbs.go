package controller

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"
)

// arguments are those of all verbs.
type arguments struct {
	Unit      string            `json:"unit"`
	Units     int               `json:"units"`
	Addresses []string          `json:"addresses"`
	Values    map[string]string `json:"values"`
	Data      map[string]string `json:"data"`
	Endpoint  string            `json:"endpoint"`
	App       string            `json:"app"`
	Relation  int               `json:"relation"`
	Action    string            `json:"action"`
	Args      []string          `json:"args"`
	Charm     string            `json:"charm"`
	Force     bool              `json:"force"`
	Timeout   string            `json:"timeout"`
}

// defaultTimeout is for the verbs that wait.
const defaultTimeout = 10 * time.Minute

func (a arguments) timeout() time.Duration {
	if d, err := time.ParseDuration(a.Timeout); err == nil {
		return d
	}
	return defaultTimeout
}

type verb func(ctx context.Context, c *Controller, a arguments) (any, error)

// simply is a verb that only does something.
func simply(f func(c *Controller, a arguments) error) verb {
	return func(_ context.Context, c *Controller, a arguments) (any, error) { return nil, f(c, a) }
}

var verbs = map[string]verb{
	"add-unit": func(_ context.Context, c *Controller, a arguments) (any, error) {
		unit, err := c.AddUnit(a.Addresses...)
		return map[string]string{"unit": unit}, err
	},
	"config":             simply(func(c *Controller, a arguments) error { return c.Configure(a.Values) }),
	"leader-settings":    simply(func(c *Controller, a arguments) error { return c.SetLeaderSettings(a.Values) }),
	"set-leader":         simply(func(c *Controller, a arguments) error { return c.SetLeader(a.Unit) }),
	"remove-unit":        simply(func(c *Controller, a arguments) error { return c.RemoveUnit(a.Unit, a.Force) }),
	"remove-application": simply(func(c *Controller, _ arguments) error { return c.RemoveApplication() }),
	"refresh":            simply(func(c *Controller, a arguments) error { return c.Refresh(a.Charm) }),
	"update-status":      simply(func(c *Controller, a arguments) error { return c.UpdateStatus(a.Unit) }),
	"remote-set":         simply(func(c *Controller, a arguments) error { return c.RemoteSet(a.Relation, a.Unit, a.Data) }),
	"set-data":           simply(func(c *Controller, a arguments) error { return c.SetData(a.Relation, a.Unit, a.Data) }),
	"relate": func(_ context.Context, c *Controller, a arguments) (any, error) {
		id, err := c.Relate(a.Endpoint, a.App, cmp.Or(a.Units, 1))
		return map[string]int{"relation": id}, err
	},
	"run": func(ctx context.Context, c *Controller, a arguments) (any, error) {
		given, err := Params(a.Unit, a.Action, a.Args)
		if err != nil {
			return nil, err
		}
		return c.Run(ctx, a.Unit, a.Action, given)
	},
	"data":   func(_ context.Context, c *Controller, a arguments) (any, error) { return c.Data(a.Relation) },
	"status": func(_ context.Context, c *Controller, _ arguments) (any, error) { return c.Status(), nil },
	"settled": func(ctx context.Context, c *Controller, _ arguments) (any, error) {
		failed, err := c.Settled(ctx)
		return map[string]any{"errors": failed}, err
	},
}

// RelationData is what our side has put on a relation: the application, and its units that are in it.
type RelationData struct {
	App   map[string]string            `json:"app"`
	Units map[string]map[string]string `json:"units"`
}

// Data is what our side has put on a relation.
func (c *Controller) Data(id int) (RelationData, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.state.relation(id)
	if r == nil {
		return RelationData{}, fmt.Errorf("relation %d not found", id)
	}
	data := RelationData{App: maps.Clone(r.App.Settings), Units: map[string]map[string]string{}}
	for unit, bag := range r.Units {
		if bag.InScope {
			data.Units[unit] = maps.Clone(bag.Settings)
		}
	}
	return data, nil
}
