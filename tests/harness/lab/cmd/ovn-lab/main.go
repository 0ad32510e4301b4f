// Command ovn-lab plays Juju on one machine, with real OVN databases: see
// package lab. Every run of it does one thing to a lab that a process in the background keeps, with
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

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// Exit codes.
const (
	exitFailure     = 1 // also of an action that failed
	exitUsage       = 2
	exitInterrupted = 130
)

func main() {
	intercept()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, &global{}, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// intercept plays what the program is called by another name for.
func intercept() {
	lab.Intercept()
	if os.Args[0] == keeperName {
		os.Exit(keep())
	}
}

func run(ctx context.Context, g *global, args []string, stdout, stderr io.Writer) int {
	g.args = args
	root := newRoot(g)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	g.errors = stderr
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if kept := (ended{}); errors.As(err, &kept) {
		return kept.code
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
