package soak

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// charm is what the schedules are run with.
var charm Charm

// Main is the TestMain of a package that plays schedules.
func Main(m interface{ Run() int }) {
	lab.Main(m, func(ctx context.Context, dir, root string) error {
		charm = Charm{Dir: filepath.Join(dir, "charm"), Program: filepath.Join(dir, "ovn-lab")}
		return errors.Join(os.Mkdir(charm.Dir, 0o755), lab.LayOutWithClock(ctx, charm.Dir, root), lab.BuildTools(ctx, root, charm.Program))
	})
}
