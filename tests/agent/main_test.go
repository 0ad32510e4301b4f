// Package agent tests the agent on a real cluster of three members: which unit acts, also after stops, kills and
// pauses.
package agent

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/cli"
)

// program is the environment variable that makes a process of these tests run the program itself.
const program = "OVN_CENTRAL_TEST_PROGRAM"

type executable struct {
	path        string
	environment []string
}

// tested returns the program built into these tests, with the race detector if they have it.
func tested(t testing.TB) executable {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	return executable{self, []string{program + "=1"}}
}

// shipped returns the program without the race detector, which multiplies the memory.
func shipped(t testing.TB) executable {
	t.Helper()
	path, err := build()
	require.NoError(t, err)
	return executable{path: path}
}

var built string

var build = sync.OnceValues(func() (string, error) {
	path := filepath.Join(built, "ovn-central-operator")
	cmd := exec.Command("go", "build", "-o", path, "../../cmd/ovn-central-operator")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cannot build the program: %w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	if os.Getenv(program) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := cli.Main(ctx, os.Args, os.Getenv, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	var err error
	if built, err = os.MkdirTemp("", "ovn-agent-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	_ = os.RemoveAll(built) // a directory of this process
	os.Exit(code)
}
