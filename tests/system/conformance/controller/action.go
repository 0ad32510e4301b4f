package controller

import (
	"strings"

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
