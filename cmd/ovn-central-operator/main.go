// Command ovn-central-operator is the charm ovn-central: the `dispatch` that Juju
// runs for every hook and action.
package main

import (
	"context"
	"errors"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

// heapLimit is when the garbage collector begins to work, in bytes. A hook or an
// action lives for milliseconds and uses about 15 MiB, less than it would cost to
// collect any of it.
const heapLimit = 64 << 20

func main() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapLimit)
	grow()
	ctx, interrupt := context.WithCancelCause(context.Background())
	signalled, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Errors show the cause, which NotifyContext makes the name of the signal.
	context.AfterFunc(signalled, func() { interrupt(errors.New("interrupted")) })
	os.Exit(cli.Main(ctx, os.Args, os.Getenv, os.Stdout, os.Stderr))
}

// grow lifts the limit when the collector has begun to work: what holds more than that,
// such as the gateways of a large cloud, would be collected over and over.
func grow() {
	limited := new([]byte)
	runtime.AddCleanup(limited, func(percent int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(math.MaxInt64)
	}, growth)
}

// growth is by how much the heap may grow until it is collected again, in percent.
const growth = 50
