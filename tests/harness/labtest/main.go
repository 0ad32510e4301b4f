// Package labtest has what tests on the lab share: labs whose steps fail the test, and what is
// required of their units. A step that any runner can take is in tests/harness/cluster.
package labtest

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// charmDir is the charm as Juju unpacks it. The hooks of idleCharm do nothing: units that it set
// up, and that then get the real charm, need a third of the hooks of new ones. program plays the
// lab's tools.
var charmDir, idleCharm, program string

// Main is the TestMain of a package whose tests make labs.
func Main(m interface{ Run() int }) { lab.Main(m, layOut) }

func layOut(ctx context.Context, dir, root string) error {
	charmDir, idleCharm, program = filepath.Join(dir, "charm"), filepath.Join(dir, "idle"), filepath.Join(dir, "ovn-lab")
	if err := errors.Join(os.Mkdir(charmDir, 0o755), os.Mkdir(idleCharm, 0o755)); err != nil {
		return err
	}
	if err := errors.Join(lab.LayOut(ctx, charmDir, root, ""), lab.BuildTools(ctx, root, program)); err != nil {
		return err
	}
	for _, name := range []string{"metadata.yaml", "config.yaml"} {
		if err := os.Link(filepath.Join(charmDir, name), filepath.Join(idleCharm, name)); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(idleCharm, "dispatch"), []byte("#!/bin/sh\n"), 0o755) //nolint:gosec // Juju runs it
}
