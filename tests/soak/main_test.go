package soak_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
	"github.com/ovn-central/ovn-central-operator/tests/soak"
)

// charm is what the schedules are run with.
var charm soak.Charm

func TestMain(m *testing.M) {
	lab.Intercept()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "charm-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	charm = soak.Charm{Dir: filepath.Join(dir, "charm"), Program: filepath.Join(dir, "ovn-lab")}
	ctx, root := context.Background(), filepath.Join("..", "..")
	if err := errors.Join(os.Mkdir(charm.Dir, 0o755), lab.LayOutWithClock(ctx, charm.Dir, root), lab.BuildTools(ctx, root, charm.Program)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if charm.Told, err = soak.Told(filepath.Join(root, "docs", "how-to", "when-a-unit-is-blocked-or-waits.md")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
