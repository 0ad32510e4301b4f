package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/juju/juju/rpc/params"
)

// Request is one call of the API by the agent of a unit.
type Request struct {
	// Agent is different for each start of an agent: its watchers end with it.
	Agent   string          `json:"agent"`
	Unit    string          `json:"unit"`
	Facade  string          `json:"facade"`
	ID      string          `json:"id"`
	Request string          `json:"request"`
	Params  json.RawMessage `json:"params"`
}

// Response is the answer to a [Request].
type Response struct {
	Result json.RawMessage `json:"result"`
	Error  *params.Error   `json:"error,omitempty"`
}

// session is the call of one unit's agent, with the model locked.
type session struct {
	*Controller
	unit  *Unit
	agent string
}

type method func(s session, params json.RawMessage) (any, error)

type fault struct{ code, message string }

func (f fault) Error() string { return f.message }

var (
	errNotFound   = fault{params.CodeNotFound, "not found"}
	errPermission = fault{params.CodeUnauthorized, "permission denied"}
)

func toParams(err error) *params.Error {
	var f fault
	if errors.As(err, &f) {
		return &params.Error{Message: f.message, Code: f.code}
	}
	return &params.Error{Message: err.Error()}
}

var methods = func() map[string]method {
	all := map[string]method{}
	for _, some := range []map[string]method{unitMethods, charmMethods, relationMethods, hookMethods, actionMethods, watchMethods, modelMethods} {
		maps.Copy(all, some)
	}
	return all
}()

// call answers the call of an agent.
func (c *Controller) call(ctx context.Context, r Request) Response {
	// The lease is renewed all the time: claim says itself when it means anything.
	if r.Request != "Beat" && r.Request != "Claim" {
		c.mu.Lock()
		c.stir()
		c.mu.Unlock()
	}
	var result any
	var err error
	switch r.Facade {
	case "NotifyWatcher", "StringsWatcher", "RelationUnitsWatcher":
		result, err = c.watcher(ctx, r)
	case waitFacade:
		result, err = c.wait(ctx, r)
	default:
		result, err = c.do(r)
	}
	if err != nil {
		return Response{Error: toParams(err)}
	}
	text, err := json.Marshal(result)
	if err != nil {
		return Response{Error: toParams(err)}
	}
	return Response{Result: text}
}

func (c *Controller) do(r Request) (any, error) {
	answer := methods[r.Facade+"."+r.Request]
	if answer == nil {
		return nil, fault{params.CodeNotImplemented, fmt.Sprintf("this controller doesn't play %s.%s", r.Facade, r.Request)}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	u := c.state.Units[r.Unit]
	if u == nil {
		u = c.state.Gone[r.Unit]
	}
	if u == nil || u.Life == "dead" && r.Request != "EnsureDead" {
		return nil, errPermission // its credentials are gone with it
	}
	return answer(session{c, u, r.Agent}, r.Params)
}

func plain[A, R any](f func(s session, args A) (R, error)) method {
	return func(s session, text json.RawMessage) (any, error) {
		var args A
		if len(text) > 0 {
			if err := json.Unmarshal(text, &args); err != nil {
				return nil, err
			}
		}
		return f(s, args)
	}
}

func results[A any](all []A, f func(A) (any, error)) any {
	answers := make([]any, len(all))
	for i, one := range all {
		answer, err := f(one)
		switch {
		case err != nil:
			answers[i] = params.ErrorResult{Error: toParams(err)}
		case answer == nil:
			answers[i] = params.ErrorResult{}
		default:
			answers[i] = answer
		}
	}
	return map[string]any{"results": answers}
}

// each is a method about entities, given by tags.
func each(f func(s session, tag string) (any, error)) method {
	return plain(func(s session, args params.Entities) (any, error) {
		return results(args.Entities, func(e params.Entity) (any, error) { return f(s, e.Tag) }), nil
	})
}

// always is a method about entities with the same answer for all.
func always(answer any) method {
	return each(func(session, string) (any, error) { return answer, nil })
}

// notify wakes all watchers after a change. The model is locked.
func (c *Controller) notify() {
	close(c.changed)
	c.changed = make(chan struct{})
}
