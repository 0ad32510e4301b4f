// Package run starts other programs. It is the only importer of os/exec, so that every call has a deadline, limited
// output, and an error with the program's output.
package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Limits of a program's kept output, in bytes. The largest legitimate output is the goal-state of a model with
// thousands of units.
const (
	maxStdout = 8 << 20
	maxStderr = 4 << 10
)

// DefaultTimeout limits a command whose context has no deadline.
const DefaultTimeout = 60 * time.Second

// killGrace is how long a command may run after it was terminated (SIGTERM) before it is killed, and how long to wait
// for its output after it has ended.
const killGrace = 500 * time.Millisecond

// Command is one program to run. Name is looked up in PATH; no shell is used.
type Command struct {
	Name  string
	Args  []string
	Stdin []byte
	// Env has variables, NAME=VALUE, in addition to those of this process.
	Env []string
	// Stdout receives the program's output, of any length. If it is nil, the output is kept and returned.
	Stdout io.Writer
}

// String returns the command as a person would type it, without its variables and secrets. Errors have only the
// program's name.
func (c Command) String() string {
	return c.redact(strings.Join(append([]string{c.Name}, c.Args...), " "))
}

// Runner runs one command to its end and returns its output on stdout. Implementations honour ctx. The error of a
// command that failed or could not be started is an [*Error].
type Runner interface {
	Run(ctx context.Context, c Command) (stdout []byte, err error)
}

// ErrTruncated is wrapped by the error of a command whose output was too long to keep.
var ErrTruncated = errors.New("output is larger than 8 MiB")

// Error describes a failed command.
type Error struct {
	Command Command
	// ExitCode is the command's exit code, or -1 if it did not exit by itself.
	ExitCode int
	// Stderr is the beginning of the command's stderr, at most 4 KiB, without secrets.
	Stderr string
	// Err is the cause, from os/exec or the context.
	Err error
}

// Error returns one line: the program and its output, or how it ended. It omits the arguments, which may be secret.
// The caller's text describes the attempt.
func (e *Error) Error() string { return e.Command.redact(e.text()) }

func (e *Error) text() string {
	switch {
	case errors.Is(e.Err, context.DeadlineExceeded):
		return e.Command.Name + ": no answer before the deadline"
	case errors.Is(e.Err, exec.ErrNotFound):
		return e.Command.Name + ": program not found"
	case e.Stderr != "":
		return e.Command.Name + ": " + strings.TrimPrefix(oneLine(e.Stderr), e.Command.Name+": ") // most begin with it
	}
	return fmt.Sprintf("%s: %v", e.Command.Name, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Missing reports whether err means that the program is not installed.
func Missing(err error) bool { return errors.Is(err, exec.ErrNotFound) }

// Terminated reports whether err means that the program was terminated (SIGTERM). A machine that shuts down signals
// all programs at once, this one and its children.
func Terminated(err error) bool {
	exit := (*exec.ExitError)(nil)
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGTERM
}

func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.TrimSpace(s), func(r rune) bool { return r == '\n' || r == '\r' }),
		"; ")
}

// Exec is the Runner of real programs. The zero value is ready to use. A child inherits this process's environment with
// LC_ALL=C, so that its messages have one language.
type Exec struct{}

// Run implements [Runner].
func (Exec) Run(ctx context.Context, c Command) ([]byte, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, DefaultTimeout)
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, c.Name, c.Args...)
	cmd.Env = append(append(os.Environ(), "LC_ALL=C"), c.Env...)
	if c.Stdin != nil {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	stdout, stderr := &limited{max: maxStdout}, &limited{max: maxStderr}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = killGrace
	err := runTo(cmd, cmp.Or[io.Writer](c.Stdout, stdout), stderr)
	switch {
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, exec.ErrWaitDelay) && cmd.ProcessState.Success():
		err = nil // the command succeeded, but a process that it started still has its input
	}
	if err == nil && stdout.lost {
		err = ErrTruncated
	}
	if err == nil {
		return stdout.kept.Bytes(), nil
	}
	code := -1
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	}
	return stdout.kept.Bytes(), &Error{Command: c, ExitCode: code, Stderr: c.redact(stderr.kept.String()), Err: err}
}

// limited keeps the first max bytes and drops the rest, so that a program that writes too much neither blocks nor
// fills the memory.
type limited struct {
	kept bytes.Buffer
	max  int
	lost bool
}

func (l *limited) Write(p []byte) (int, error) {
	if room := l.max - l.kept.Len(); len(p) > room {
		l.lost = true
		l.kept.Write(p[:room])
		return len(p), nil
	}
	return l.kept.Write(p)
}
