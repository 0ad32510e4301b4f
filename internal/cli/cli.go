package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/action"
	"github.com/ovn-central/ovn-central-operator/internal/run"
	"github.com/ovn-central/ovn-central-operator/internal/startguard"
)

// Exit codes. Juju only distinguishes 0 from the rest.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitProblems    = 3
	exitInterrupted = 130
)

// Main runs the command and returns the exit code.
func Main(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	program := append(slices.Clone(args), name)[0]
	root := Root(program, getenv, stderr)
	if filepath.Base(program) == GatewaysName {
		root = Gateways(program, getenv)
	}
	root.SetArgs(append([]string{}, Route(args, getenv)...))
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = misnamed(root)
	}
	if err == nil {
		return exitOK
	}
	switch {
	case errors.As(err, new(shownError)):
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(stderr, "error: interrupted")
	default:
		fmt.Fprintf(stderr, "error: %s\n", run.Redact(err.Error()))
	}
	switch {
	case errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(refusedStart)):
		return startguard.ExitRefused
	case errors.Is(err, errProblems):
		return exitProblems
	case errors.As(err, new(usageError)) || errors.Is(err, action.ErrUnknown):
		return exitUsage
	}
	return exitFailure
}
