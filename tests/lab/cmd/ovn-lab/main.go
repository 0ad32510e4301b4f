// Command ovn-lab plays Juju on one machine, with real OVN databases: see
// package lab. Every run of it does one thing to a lab that stays on disk, with
// its servers running, until `ovn-lab down`.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// Exit codes.
const (
	exitFailure     = 1 // also of an action that failed
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	lab.Intercept()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintf(stderr, "ERROR %s\n", line)
	}
	switch {
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.As(err, new(usageError)):
		return exitUsage
	}
	return exitFailure
}

// usageError is one of the command line.
type usageError struct{ error }
