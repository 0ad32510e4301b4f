package lab

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"strconv"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// ActionResult is the outcome of an action.
type ActionResult struct {
	// ID is the task's number.
	ID string
	// Status is completed or failed.
	Status string
	// Message is the message of action-fail, or "exit status N" if the action exited so: Juju then drops the message of
	// action-fail.
	Message string
	// Results are those of action-set, nested keys joined by dots, and Juju's return-code, stdout and stderr.
	Results map[string]string
	// Log are the messages of action-log.
	Log []string
}

// RunAction is `juju run UNIT ACTION key=value…`. The error is the reason why Juju refused the action, or that of a
// hook which the action caused on another unit. A failed action is no error. RunAction also works on a dying unit or
// a unit in error, but not while a hook runs on it.
func (l *Lab) RunAction(ctx context.Context, u *Unit, action string, args ...string) (ActionResult, error) {
	result, _, err := l.act(ctx, u, action, args, neverKill)
	if err != nil {
		return ActionResult{}, err
	}
	return result, l.settleStarted(ctx)
}

// RunActionKilledAt kills an action at a call, as [Lab.RunHookKilledAt] kills a hook. Juju doesn't run it again.
func (l *Lab) RunActionKilledAt(ctx context.Context, u *Unit, call int, action string, args ...string) (Killed, error) {
	_, killed, err := l.act(ctx, u, action, args, killAt(call))
	return killed, err
}

func (l *Lab) act(ctx context.Context, u *Unit, action string, args []string, kill killPlan) (ActionResult, Killed, error) {
	spec, found := l.spec().Actions().ActionSpecs[action]
	if !found {
		return ActionResult{}, Killed{}, fmt.Errorf("action %q not defined on unit %q", action, u.name)
	}
	params, err := actionParams(spec, args)
	if err != nil {
		return ActionResult{}, Killed{}, err
	}
	if _, err := u.take(ctx); err != nil {
		return ActionResult{}, Killed{}, fmt.Errorf("cannot run %s on %s: %w", action, u.name, err)
	}
	defer u.release()
	id := ""
	l.model.Do(func(s *model.State) {
		id = strconv.Itoa(s.NextAction)
		s.NextAction++
	})
	c := l.newContext(u, model.Hook{})
	c.Action = &hooktool.Action{Params: params, Results: map[string]any{}}
	env := append(l.environment(u, c, "actions/"+action),
		"JUJU_ACTION_NAME="+action, "JUJU_ACTION_UUID="+id, "JUJU_ACTION_TAG=action-"+id)
	run := l.execute(ctx, u, c, env, kill)

	result := ActionResult{ID: id, Status: "completed", Message: c.Action.Message, Log: c.Action.Log}
	if c.Action.Failed {
		result.Status = "failed"
	}
	switch {
	case run.err != nil:
		result.Status, result.Message = "failed", "terminated"
	case run.code != 0:
		result.Status, result.Message = "failed", fmt.Sprintf("exit status %d", run.code)
	default:
		c.Commit()
	}
	c.Action.Results["return-code"] = run.code
	addOutput(c.Action.Results, "stdout", run.stdout)
	addOutput(c.Action.Results, "stderr", run.stderr)
	result.Results = flatten("", c.Action.Results)
	l.tellRemotes()
	return result, Killed{Killed: run.killed, Calls: run.calls}, nil
}

// addOutput adds the action's output. Juju loses what follows the last end of a line, since it holds open the pipe on
// which it waits for more (worker/uniter/runner, runCharmProcessOnLocal).
func addOutput(results map[string]any, key string, text []byte) {
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	if len(text) > 0 {
		results[key] = string(text)
	}
}

func flatten(prefix string, tree map[string]any) map[string]string {
	flat := map[string]string{}
	for key, value := range tree {
		if branch, is := value.(map[string]any); is {
			maps.Copy(flat, flatten(prefix+key+".", branch))
		} else {
			flat[prefix+key] = fmt.Sprint(value)
		}
	}
	return flat
}

// JujuExec is `juju exec --unit`, which libraries call "run on unit": a bash script in the charm's directory with a
// hook's tools, without a hook's name and JUJU_DISPATCH_PATH (RunCommands of Juju's worker/uniter/runner). Its changes
// are committed if it exits with 0. It returns the script's stdout.
func (l *Lab) JujuExec(ctx context.Context, u *Unit, script string) (string, error) {
	stdout, err := l.execScript(ctx, u, script)
	if err != nil {
		return stdout, fmt.Errorf("cannot run a script on %s: %w", u.name, err)
	}
	return stdout, l.settleStarted(ctx)
}

func (l *Lab) execScript(ctx context.Context, u *Unit, script string) (string, error) {
	if _, err := u.take(ctx); err != nil {
		return "", err
	}
	defer u.release()
	c := l.newContext(u, model.Hook{})
	run := l.execute(ctx, u, c, l.environment(u, c, ""), neverKill, "/bin/bash", "-c", script)
	switch {
	case run.err != nil:
		return string(run.stdout), run.err
	case run.code != 0:
		return string(run.stdout), fmt.Errorf("exit status %d: %s", run.code, run.output)
	}
	c.Commit()
	l.tellRemotes()
	return string(run.stdout), nil
}
