package controller

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"unsafe"

	"github.com/juju/cmd/v3"
	"github.com/juju/gnuflag"
	actionapi "github.com/juju/juju/api/client/action"
	"github.com/juju/juju/cmd/juju/action"
	"github.com/juju/juju/cmd/modelcmd"
	"github.com/juju/juju/rpc/params"
)

var actionMethods = map[string]method{
	"Uniter.Actions":            each(func(s session, tag string) (any, error) { return s.describeAction(tag) }),
	"Uniter.ActionStatus":       each(func(s session, tag string) (any, error) { return s.actionStatus(tag) }),
	"Uniter.BeginActions":       each(func(s session, tag string) (any, error) { return nil, s.beginAction(tag) }),
	"Uniter.FinishActions":      plain(finishActions),
	"Uniter.LogActionsMessages": plain(logActions),
}

func (s session) action(tag string) (*Action, error) {
	a := s.state.Actions[strings.TrimPrefix(tag, "action-")]
	if a == nil || a.Unit != s.unit.Name {
		return nil, errNotFound
	}
	return a, nil
}

func (s session) describeAction(tag string) (any, error) {
	a, err := s.action(tag)
	if err != nil {
		return nil, err
	}
	if a.Status != "pending" && a.Status != "running" {
		return nil, fault{params.CodeActionNotAvailable, "action no longer available"}
	}
	parallel, group := false, ""
	return params.ActionResult{Status: a.Status, Action: &params.Action{
		Tag: tag, Receiver: unitTag(a.Unit), Name: a.Name, Parameters: a.Params, Parallel: &parallel, ExecutionGroup: &group,
	}}, nil
}

func (s session) actionStatus(tag string) (any, error) {
	a, err := s.action(tag)
	if err != nil {
		return nil, err
	}
	return params.StringResult{Result: a.Status}, nil
}

func (s session) beginAction(tag string) error {
	a, err := s.action(tag)
	if err == nil {
		a.Status = "running"
	}
	return err
}

func finishActions(s session, args params.ActionExecutionResults) (any, error) {
	answer := results(args.Results, func(one params.ActionExecutionResult) (any, error) {
		a, err := s.action(one.ActionTag)
		if err == nil {
			a.Status, a.Message, a.Results = one.Status, one.Message, one.Results
		}
		return nil, err
	})
	s.notify()
	return answer, nil
}

func logActions(s session, args params.ActionMessageParams) (any, error) {
	return results(args.Messages, func(one params.EntityString) (any, error) {
		a, err := s.action(one.Tag)
		if err == nil {
			a.Log = append(a.Log, one.Value)
		}
		return nil, err
	}), nil
}

// Params returns the parameters that `juju run UNIT ACTION ARGS` sends, by the command itself.
func Params(unit, name string, args []string) (map[string]any, error) {
	command := modelcmd.InnerCommand(action.NewRunCommand())
	sink := &sink{}
	// The field for the API's client is set by Juju's tests alone, from inside.
	field := reflect.ValueOf(command).Elem().FieldByName("runCommandBase").FieldByName("api")
	reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Set(reflect.ValueOf(sink))

	flags := gnuflag.NewFlagSet("run", gnuflag.ContinueOnError)
	command.SetFlags(flags)
	if err := flags.Parse(true, append([]string{unit, name}, args...)); err != nil {
		return nil, err
	}
	if err := command.Init(flags.Args()); err != nil {
		return nil, err
	}
	ctx, err := cmd.DefaultContext()
	if err != nil {
		return nil, err
	}
	err = command.Run(ctx)
	switch {
	case sink.err != nil:
		return nil, sink.err
	case sink.params == nil:
		return nil, err
	}
	return sink.params, nil
}

// sink is an API client that keeps what is enqueued.
type sink struct {
	action.APIClient
	params map[string]any
	err    error
}

var errKept = errors.New("kept")

// EnqueueOperation implements [action.APIClient]. The parameters go through JSON, as on their way to a controller.
func (s *sink) EnqueueOperation(actions []actionapi.Action) (actionapi.EnqueuedActions, error) {
	text, err := json.Marshal(actions[0].Parameters)
	if err == nil {
		s.params = map[string]any{}
		err = json.Unmarshal(text, &s.params)
	}
	s.err = err
	return actionapi.EnqueuedActions{}, errKept
}

// Close implements [action.APIClient].
func (s *sink) Close() error { return nil }
