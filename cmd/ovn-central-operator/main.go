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

// heapLimit is the heap size, in bytes, at which the garbage collector begins to work. A hook or an action runs for
// milliseconds and uses about 15 MiB; to collect it would cost more.
const heapLimit = 64 << 20

func main() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(heapLimit)
	grow()
	if os.Getenv("JUJU_DISPATCH_PATH") != "" {
		runtime.GOMAXPROCS(1) // a hook or an action mostly waits; more threads would look for work and find none
	}
	ctx, interrupt := context.WithCancelCause(context.Background())
	signalled, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Errors have the cause, which NotifyContext would make the name of the signal.
	context.AfterFunc(signalled, func() { interrupt(errors.New("interrupted")) })
	os.Exit(cli.Main(ctx, os.Args, os.Getenv, os.Stdout, os.Stderr))
}

// grow raises the limit once the collector has begun to work. Otherwise a program with more data, such as the
// gateways of a large cloud, would collect them again and again.
func grow() {
	limited := new([]byte)
	runtime.AddCleanup(limited, func(percent int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(math.MaxInt64)
	}, growth)
}

// growth is how much the heap may grow before the next collection, in percent.
const growth = 50
