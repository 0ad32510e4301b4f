// Command juju-runner plays Juju's controller on one machine (serve), and is Juju's own unit agent on others (agent),
// whose hook tools are juju-hook-tool beside it. The README of this module says how to drive it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/juju/juju/rpc/params"
	"github.com/juju/loggo"

	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/agent"
	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/controller"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "ERROR", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage: juju-runner serve --dir DIR --charm CHARM | juju-runner agent --dir DIR --unit UNIT [--data-dir DIR] [--run-dir DIR]")

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	dir := flags.String("dir", "", "the controller's directory, which all machines share")
	switch args[0] {
	case "serve":
		charm := flags.String("charm", "", "the charm's directory")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		c, err := controller.New(*dir, *charm)
		if err != nil {
			return err
		}
		return c.Serve(ctx, nil)
	case "agent":
		unit := flags.String("unit", "", "the unit")
		data := flags.String("data-dir", "/var/lib/juju", "the directory of the unit's files")
		transient := flags.String("run-dir", "/run/juju-runner", "the directory of files that a reboot removes")
		logs := flags.String("logging-config", "<root>=WARNING;unit=DEBUG", "as Juju's option of that name")
		if err := flags.Parse(args[1:]); err != nil {
			return err
		}
		if err := loggo.ConfigureLoggers(*logs); err != nil {
			return err
		}
		program, err := os.Executable()
		if err != nil {
			return err
		}
		return agent.Run(ctx, agent.Config{
			Unit: *unit, DataDir: *data, RunDir: *transient, ControllerDir: *dir, Retry: jujusRetry,
			HookTool: filepath.Join(filepath.Dir(program), "juju-hook-tool"),
		})
	}
	return errUsage
}

var jujusRetry = params.RetryStrategy{
	ShouldRetry: true, MinRetryTime: 5 * time.Second, MaxRetryTime: 5 * time.Minute, JitterRetryTime: true, RetryTimeFactor: 2,
}
