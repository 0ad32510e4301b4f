package soak_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
	"github.com/ovn-central/ovn-central-operator/tests/system/soak"
)

// charm is what the schedules are run with.
var charm soak.Charm

func TestMain(m *testing.M) {
	lab.Main(m, func(ctx context.Context, dir, root string) (err error) {
		charm = soak.Charm{Dir: filepath.Join(dir, "charm"), Program: filepath.Join(dir, "ovn-lab")}
		if err = errors.Join(os.Mkdir(charm.Dir, 0o755), lab.LayOutWithClock(ctx, charm.Dir, root), lab.BuildTools(ctx, root, charm.Program)); err != nil {
			return err
		}
		charm.Told, err = soak.Told(filepath.Join(root, "docs", "how-to", "when-a-unit-is-blocked-or-waits.md"))
		return err
	})
}
