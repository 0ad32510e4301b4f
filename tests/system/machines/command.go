package machines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// outputLimit is how much of what a failed command said is kept in its error, in
// bytes: the end, where the reason is.
const outputLimit = 4 << 10

// pipeGrace is how long a process that a command left behind may hold its output
// open.
const pipeGrace = 2 * time.Second

// ExecError is a command that ran and failed.
type ExecError struct {
	Args     []string
	ExitCode int // -1: it was killed
	Output   string
	Err      error
}

func (e *ExecError) Error() string {
	return fmt.Sprintf("cannot run %q: %v: %s", strings.Join(e.Args, " "), e.Err, e.Output)
}

func (e *ExecError) Unwrap() error { return e.Err }

// run runs a program and returns its standard output. The end of ctx kills it
// with all that it started.
func run(ctx context.Context, name string, args ...string) (string, error) {
	return runWith(ctx, exec.CommandContext(ctx, name, args...), append([]string{name}, args...))
}

// runWith runs a command that is shown as shown where it fails.
func runWith(ctx context.Context, cmd *exec.Cmd, shown []string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = pipeGrace
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return stdout.String(), nil
	}
	failed := &ExecError{Args: shown, ExitCode: -1, Err: err}
	if ctx.Err() != nil {
		failed.Err = ctx.Err()
	} else if cmd.ProcessState != nil {
		failed.ExitCode = cmd.ProcessState.ExitCode()
	}
	failed.Output = tail(strings.TrimSpace(stderr.String()+stdout.String()), outputLimit)
	return stdout.String(), failed
}

// tail is the last limit bytes of text, from the beginning of a line.
func tail(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	if _, rest, found := strings.Cut(text, "\n"); found {
		return rest
	}
	return text
}

// poll calls done until it says true, or ctx ends.
func poll(ctx context.Context, every time.Duration, done func() bool) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}
