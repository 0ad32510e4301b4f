// Package runtest simulates programs for tests of code that uses a [run.Runner].
package runtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// Call is one expected command and its result.
type Call struct {
	// Command must match exactly: name, arguments and stdin.
	Command run.Command
	// Stdout is the command's output.
	Stdout string
	// Err is the command's error; nil is success.
	Err error
}

// Expect returns a call of name with args, which succeeds without output by default.
func Expect(name string, args ...string) Call {
	return Call{Command: run.Command{Name: name, Args: args}}
}

// Writes returns c with this output.
func (c Call) Writes(stdout string) Call {
	c.Stdout = stdout
	return c
}

// Reads returns c with this input.
func (c Call) Reads(stdin string) Call {
	c.Command.Stdin = []byte(stdin)
	return c
}

// Fails returns c with the result of a program that writes stderr and exits with code.
func (c Call) Fails(code int, stderr string) Call {
	c.Err = &run.Error{Command: c.Command, ExitCode: code, Stderr: stderr, Err: fmt.Errorf("exit status %d", code)}
	return c
}

// Script is a [run.Runner] that expects calls in this order. Any other call fails the test and returns an error. A
// missing call fails the test at its end. Script is safe for concurrent use.
type Script struct {
	t testing.TB

	mu   sync.Mutex
	left []Call
}

// New returns a Script of calls that reports failures to t.
func New(t testing.TB, calls ...Call) *Script {
	t.Helper()
	s := &Script{t: t, left: slices.Clone(calls)}
	t.Cleanup(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, c := range s.left {
			t.Errorf("never called: %s", c.Command)
		}
	})
	return s
}

// Run implements [run.Runner]. If ctx has ended, the call fails as a program would, and counts as made.
func (s *Script) Run(ctx context.Context, c run.Command) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.left) == 0 || !same(s.left[0].Command, c) {
		s.t.Errorf("unexpected call: %s\nexpected: %s", describe(c), s.next())
		return nil, &run.Error{Command: c, ExitCode: -1, Err: errors.New("unexpected call")}
	}
	call := s.left[0]
	s.left = s.left[1:]
	if err := ctx.Err(); err != nil {
		return nil, &run.Error{Command: c, ExitCode: -1, Err: err}
	}
	return []byte(call.Stdout), call.Err
}

func (s *Script) next() string {
	if len(s.left) == 0 {
		return "no more calls"
	}
	return describe(s.left[0].Command)
}

func same(a, b run.Command) bool {
	return a.Name == b.Name && slices.Equal(a.Args, b.Args) && string(a.Stdin) == string(b.Stdin)
}

func describe(c run.Command) string {
	text := fmt.Sprintf("%q", append([]string{c.Name}, c.Args...))
	if len(c.Stdin) > 0 {
		text += fmt.Sprintf(" < %q", c.Stdin)
	}
	return text
}
