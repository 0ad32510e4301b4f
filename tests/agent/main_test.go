// Package agent shows the agent on a real cluster of three: which unit acts, and what
// becomes of that when agents are stopped, killed or sleep.
package agent

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

// program has a process of these tests be the program itself.
const program = "OVN_CENTRAL_TEST_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(program) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Main(ctx, os.Args, os.Getenv, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	os.Exit(m.Run())
}
