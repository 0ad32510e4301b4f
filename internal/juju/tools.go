// Package juju calls the Juju agent that runs this program. It has the hook tools as typed calls, the environment of a
// hook or an action, a log handler, and the syntax of the juju command.
//
// It supports Juju 2.9 and 3.x. "Source: jujuc" means the package of that name in github.com/juju/juju, under
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

// Timeout limits one call of a hook tool. A call takes about 5 ms, or as long as the controller takes if the agent
// must ask it. The limit is our own choice: long enough for a controller that fails over, and short enough that a
// hook with a few such calls ends while a person waits for it.
const Timeout = 30 * time.Second

// Errors for callers. Each wraps the [run.Error] with the tool's output. Only the text of that output shows which
// error it is.
var (
	// ErrNotFound means that there is no such relation, that this unit may not read it, or that no unit of that name was
	// ever in it.
	ErrNotFound = errors.New("no such relation data")
	// ErrNoTool means that the tool is not in PATH: this is not a hook or an action, or the running Juju no longer has
	// the tool.
	ErrNoTool = errors.New("no such hook tool")
	// ErrNotLeader means that only the application's leader may do this, and that this unit is not the leader.
	ErrNotLeader = errors.New("not the leader")

	// errNoNetwork means that the machine has no address in the endpoint's space.
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

// Tools calls Juju's hook tools, each as a program in PATH and with [Timeout]. They work only in a hook or an action;
// elsewhere every call returns [ErrNoTool].
//
// Juju does not publish what is written to relations until the hook succeeds. Status, log and messages of actions take
// effect at once.
//
// Options, relations with their units, and networks stay the same during a hook or an action, which is one process, so
// each is queried once. Goal state, leadership and what units publish may change meanwhile.
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

// queryOnce caches query for data that does not change while this process runs. It repeats a failed query.
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

// cannot adds to an error what could not be done. It returns nil for nil.
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

// toolError adds an error kind to a tool's failure. It has the text of the failure.
type toolError struct {
	kind, cause error
}

func (e *toolError) Error() string   { return e.cause.Error() }
func (e *toolError) Unwrap() []error { return []error{e.kind, e.cause} }

// MaxArgument is the greatest length of a program's argument, in bytes. Source: Linux, MAX_ARG_STRLEN: 32 pages of 4
// KiB, including the NUL at the end.
const MaxArgument = 128<<10 - 1

// argument makes a message a single argument. It removes NULs, which end an argument, and cuts the message at
// [MaxArgument], since a cut message is better than a failed call.
func argument(message string) string {
	return clip(strings.ReplaceAll(message, "\x00", ""), MaxArgument)
}

// oneLine replaces line breaks and other control characters by one space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.IsSpace(r)
	}), " ")
}

// clip cuts s to at most size bytes, between two characters, and ends a cut text with an ellipsis.
func clip(s string, size int) string {
	const ellipsis = "…"
	if len(s) <= size {
		return s
	}
	return strings.ToValidUTF8(s[:size-len(ellipsis)], "") + ellipsis
}
