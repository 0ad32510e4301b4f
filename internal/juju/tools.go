// Package juju speaks with the Juju agent that runs this program: the hook
// tools as typed calls, the environment of a hook or an action, a log handler,
// and the commands that a person types in reply.
//
// Juju 2.9 and 3.x are meant throughout. "Source: jujuc" is the package of that
// name in github.com/juju/juju, under worker/uniter/runner in 2.9 to 3.5 and
// under internal/worker/uniter/runner in 3.6.
package juju

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Timeout bounds one call of a hook tool. A call takes about 5 ms; where the
// agent must ask the controller it takes as long as that does. It is our own
// choice: long enough for a controller that fails over, short enough for a
// hook that makes a few such calls to end while a person still waits for it.
const Timeout = 30 * time.Second

// What a caller can decide by. Each is wrapped together with the [run.Error]
// that holds the tool's own words; the tools have no other sign than these.
var (
	// ErrNotFound: there is no such relation, or none such that this unit may
	// read, or no unit of that name was ever in it.
	ErrNotFound = errors.New("no such relation data")
	// ErrNoTool: the tool is not in PATH. This is not a hook or an action, or the
	// running Juju has no such tool any more.
	ErrNoTool = errors.New("no such hook tool")
	// ErrNotAnAction: an action-… tool was called in a hook.
	ErrNotAnAction = errors.New("not in an action")
	// ErrNotLeader: only the application's leader may do this, and this unit is
	// not, or no longer.
	ErrNotLeader = errors.New("not the leader")
	// ErrTooLarge: a value is longer than an argument of a program can be.
	ErrTooLarge = errors.New("too large for an argument")

	// errNoNetwork: the machine has no address in the endpoint's space.
	errNoNetwork = errors.New("no network")
)

// signs are what the tools' error texts contain, and how they end, by the start
// of the tool's name. They come, in this order:
//
//   - from the controller, where the relation has no settings of that unit
//     (state/relationunit.go ReadSettings; exit code 1);
//   - from the controller of Juju 4, of the same (domain/relation/errors,
//     RelationUnitNotFound);
//   - from the parser of -r (jujuc/context.go; exit code 2), and with exit code
//     1 where the relation goes while the tool runs;
//   - from the controller (apiserver/facades/agent/uniter ReadRemoteSettings;
//     exit code 1), which says so of a relation that is gone and of an
//     application that is not part of it. With the word before it, since a
//     socket that can't be opened ends in "permission denied" as well;
//   - from the parser of -r of network-get, as above, and from itself (exit code
//     1), which goes on with the endpoint's name;
//   - from the agent, in a hook (runner/context/context.go; exit code 1);
//   - from the agent (runner/context/leader.go; exit code 1), and from the
//     controller, where another unit has become the leader meanwhile
//     (core/leadership/interface.go), which goes on with the application's name.
var signs = []struct {
	tool, within, end string
	kind              error
}{
	{"relation-", "", "settings not found", ErrNotFound},
	{"relation-", "", "relation unit not found", ErrNotFound},
	{"relation-", "", "relation not found", ErrNotFound},
	{"relation-", "", "ERROR permission denied", ErrNotFound},
	{"network-get", "", "relation not found", ErrNotFound},
	{"network-get", "no network config found for binding ", "", errNoNetwork},
	{"action-", "", "not running an action", ErrNotAnAction},
	{"leader-set", "", "not the leader", ErrNotLeader},
	{"leader-set", `" is not leader of "`, "", ErrNotLeader},
}

// Tools calls Juju's hook tools, each as a program in PATH and each for at most
// [Timeout]. They work only in a hook or an action: elsewhere every call is
// [ErrNoTool].
//
// What is written to relations Juju keeps back until the hook ends well; status,
// log and the messages of actions are out at once.
//
// Options, relations with their units, and networks stay the same for as long as a hook or an action runs, which is one
// process: each is asked once. Goal state, leadership and what units publish may change meanwhile.
type Tools struct {
	runner run.Runner
	mu     sync.Mutex
	said   map[string][]byte
}

// New returns the tools that r runs.
func New(r run.Runner) *Tools { return &Tools{runner: r} }

// query decodes the JSON that a tool writes into answer. Numbers stay
// [json.Number] where the type is open.
func (t *Tools) query(ctx context.Context, answer any, tool string, args ...string) error {
	out, err := t.call(ctx, run.Command{Name: tool, Args: append([]string{"--format=json"}, args...)})
	if err != nil {
		return err
	}
	return decode(out, answer, tool)
}

// queryOnce is query for what stays the same in this process. A failure is asked again.
func (t *Tools) queryOnce(ctx context.Context, answer any, tool string, args ...string) error {
	question := strings.Join(append([]string{tool}, args...), " ")
	t.mu.Lock()
	defer t.mu.Unlock()
	if out, known := t.said[question]; known {
		return decode(out, answer, tool)
	}
	out, err := t.call(ctx, run.Command{Name: tool, Args: append([]string{"--format=json"}, args...)})
	if err == nil {
		err = decode(out, answer, tool)
	}
	if err == nil {
		if t.said == nil {
			t.said = map[string][]byte{}
		}
		t.said[question] = out
	}
	return err
}

// tell runs a tool that has nothing to answer.
func (t *Tools) tell(ctx context.Context, tool string, args ...string) error {
	_, err := t.call(ctx, run.Command{Name: tool, Args: args})
	return err
}

func (t *Tools) call(ctx context.Context, c run.Command) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	out, err := t.runner.Run(ctx, c)
	if err == nil {
		return out, nil
	}
	if kind := kindOf(c.Name, err); kind != nil {
		err = &toolError{kind: kind, cause: err}
	}
	return nil, err
}

func kindOf(tool string, err error) error {
	switch {
	case run.Missing(err):
		return ErrNoTool
	case errors.Is(err, syscall.E2BIG):
		return ErrTooLarge
	}
	failed := (*run.Error)(nil)
	if !errors.As(err, &failed) {
		return nil
	}
	said := strings.TrimSpace(failed.Stderr)
	for _, sign := range signs {
		if strings.HasPrefix(tool, sign.tool) && strings.Contains(said, sign.within) && strings.HasSuffix(said, sign.end) {
			return sign.kind
		}
	}
	return nil
}

// toolError adds to a tool's failure what it means. It reads as the failure:
// the tool's own words say it already.
type toolError struct {
	kind, cause error
}

func (e *toolError) Error() string   { return e.cause.Error() }
func (e *toolError) Unwrap() []error { return []error{e.kind, e.cause} }
