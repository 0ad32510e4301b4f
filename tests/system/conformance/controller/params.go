package controller

import (
	"encoding/json"
	"errors"
	"reflect"
	"unsafe"

	"github.com/juju/cmd/v3"
	"github.com/juju/gnuflag"

	actionapi "github.com/juju/juju/api/client/action"
	"github.com/juju/juju/cmd/juju/action"
	"github.com/juju/juju/cmd/modelcmd"
)

// Params are the parameters that the command `juju run UNIT ACTION ARGS` sends:
// the command itself says it, and sends them to us.
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

// sink is a client of the API that keeps what is enqueued.
type sink struct {
	action.APIClient
	params map[string]any
	err    error
}

var errKept = errors.New("kept")

// EnqueueOperation implements [action.APIClient]. The parameters go through JSON,
// as on their way to a controller.
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
