// Command ovn-central-operator is the charm ovn-central: the `dispatch` that Juju
// runs for every hook and action.
package main

import (
	"context"
	"os"
	"os/signal"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Main(ctx, os.Args, os.Getenv, os.Stdout, os.Stderr))
}
