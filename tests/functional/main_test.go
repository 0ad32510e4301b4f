// Package functional tests the charm on real ovsdb-server processes; the lab replaces
// Juju. Each test names the rule (R0 to R16) or the requirement (000-1 to 000-7) that
// it checks.
package functional

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// charmDir is the charm as Juju would unpack it, before the one that it replaces,
// program what plays the lab's tools.
var charmDir, before, program string

func TestMain(m *testing.M) { lab.Main(m, layOut) }

// layOut also makes a charm whose hooks do nothing. Units that it set up, and that
// then get this charm, need a third of the hooks of new ones.
func layOut(ctx context.Context, dir, root string) error {
	charmDir, before, program = filepath.Join(dir, "charm"), filepath.Join(dir, "before"), filepath.Join(dir, "ovn-lab")
	if err := errors.Join(os.Mkdir(charmDir, 0o755), os.Mkdir(before, 0o755)); err != nil {
		return err
	}
	if err := errors.Join(lab.LayOut(ctx, charmDir, root, ""), lab.BuildTools(ctx, root, program)); err != nil {
		return err
	}
	for _, name := range []string{"metadata.yaml", "config.yaml"} {
		if err := os.Link(filepath.Join(charmDir, name), filepath.Join(before, name)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(before, "dispatch"), []byte("#!/bin/sh\n"), 0o755) //nolint:gosec // run
}
