// Command ovn-central-operator is the charm ovn-central: the `dispatch` that Juju
// runs for every hook and action.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(cli.Main(ctx, os.Args, os.Getenv, os.Stdout, os.Stderr))
}
