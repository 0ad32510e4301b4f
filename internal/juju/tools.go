// Package juju calls the Juju agent that runs this program. It has the hook tools as typed calls, the environment of a
// hook or an action, a log handler, and the syntax of the juju command.
//
// It supports Juju 2.9 and 3.x. "Source: jujuc" is the package of that name in github.com/juju/juju, under
// worker/uniter/runner in 2.9 to 3.5 and under internal/worker/uniter/runner in 3.6.
package juju

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Timeout limits one call of a hook tool. A call takes about 5 ms, or as long as the controller does if the agent must
// ask it. It is our own choice: long enough for a controller that fails over, short enough for a hook with a few such
// calls to end while a person waits for it.
const Timeout = 30 * time.Second

// Errors for callers. Each is wrapped together with the [run.Error] that has the tool's output; the tools have no other
// signs than its text.
var (
	// ErrNotFound: no such relation, none that this unit may read, or no unit of that name was ever in it.
	ErrNotFound = errors.New("no such relation data")
	// ErrNoTool: the tool is not in PATH. This is not a hook or an action, or the running Juju no longer has it.
	ErrNoTool = errors.New("no such hook tool")
	// ErrNotLeader: only the application's leader may do this, and this unit is not it.
	ErrNotLeader = errors.New("not the leader")

	// errNoNetwork: the machine has no address in the endpoint's space.
	errNoNetwork = errors.New("no network")
)

// signs are substrings and suffixes of the tools' error texts, by the start of the tool's name. Their sources, in this
// order:
//
//   - the controller, if the relation has no settings of that unit (state/relationunit.go ReadSettings; exit code 1);
//   - the controller of Juju 4, for the same reason (domain/relation/errors, RelationUnitNotFound);
//   - the parser of -r (jujuc/context.go; exit code 2), with exit code 1 if the relation is
//     removed while the tool runs;
//   - the controller (apiserver/facades/agent/uniter ReadRemoteSettings; exit code 1), for a removed relation and for
//     an application that is not part of it. The preceding word matters, since the error of a socket that can't be
//     opened ends in "permission denied", too;
//   - the parser of -r of network-get, as above, and network-get itself (exit code 1), before the endpoint's name;
//   - the agent (runner/context/leader.go; exit code 1), and the controller, if another unit has become the leader
//     meanwhile (core/leadership/interface.go), before the application's name.
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
	{"leader-set", "", "not the leader", ErrNotLeader},
	{"leader-set", `" is not leader of "`, "", ErrNotLeader},
}

// Tools calls Juju's hook tools, each as a program in PATH and with [Timeout]. They work only in a hook or an action:
// elsewhere every call returns [ErrNoTool].
//
// Juju holds back what is written to relations until the hook succeeds. Status, log and messages of actions take effect
// at once.
//
// Options, relations with their units, and networks stay the same while a hook or an action runs, which is one process:
// each is asked once. Goal state, leadership and what units publish may change meanwhile.
type Tools struct {
	runner run.Runner
	mu     sync.Mutex
	said   map[string]json.RawMessage
}

// New returns the tools that r runs.
func New(r run.Runner) *Tools { return &Tools{runner: r, said: map[string]json.RawMessage{}} }

// query decodes a tool's JSON output into answer. Numbers become [json.Number] if the type is open.
func (t *Tools) query(ctx context.Context, answer any, tool string, args ...string) error {
	out, err := t.call(ctx, run.Command{Name: tool, Args: append([]string{"--format=json"}, args...)})
	if err != nil {
		return err
	}
	return decode(out, answer, tool)
}

// queryOnce caches query for data that does not change in this process. A failed query is repeated.
func (t *Tools) queryOnce(ctx context.Context, answer any, tool string, args ...string) error {
	question := strings.Join(append([]string{tool}, args...), " ")
	t.mu.Lock()
	defer t.mu.Unlock()
	out, known := t.said[question]
	if !known {
		if err := t.query(ctx, &out, tool, args...); err != nil {
			return err
		}
	}
	if err := decode(out, answer, tool); err != nil {
		return err
	}
	t.said[question] = out
	return nil
}

func (t *Tools) tell(ctx context.Context, tool string, args ...string) error {
	_, err := t.call(ctx, run.Command{Name: tool, Args: args})
	return err
}

// cannot adds to an error what could not be done; nil stays nil.
func cannot(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot "+format+": %w", append(args, err)...)
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
	if run.Missing(err) {
		return ErrNoTool
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

// toolError adds an error kind to a tool's failure. Its text is the failure's.
type toolError struct {
	kind, cause error
}

func (e *toolError) Error() string   { return e.cause.Error() }
func (e *toolError) Unwrap() []error { return []error{e.kind, e.cause} }

// MaxArgument is how long one argument of a program may be, in bytes. Source:
// Linux, MAX_ARG_STRLEN: 32 pages of 4 KiB, the NUL at the end included.
const MaxArgument = 128<<10 - 1

// argument makes a message one argument: without NUL, which ends an argument, and cut at [MaxArgument], since a cut
// message is better than a failed call.
func argument(message string) string {
	return clip(strings.ReplaceAll(message, "\x00", ""), MaxArgument)
}

// oneLine folds line breaks and other control characters to one space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}), " ")
}

// clip cuts s to at most size bytes, between two characters, and marks the cut by an ellipsis.
func clip(s string, size int) string {
	const ellipsis = "…"
	if len(s) <= size {
		return s
	}
	return strings.ToValidUTF8(s[:size-len(ellipsis)], "") + ellipsis
}
