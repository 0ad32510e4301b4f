// Package deployment tests that the charm turns empty machines into a working control
// plane and maintains it. The ovsdb-server processes are real, use TLS, and are started
// by the packages' own ovn-ctl. Each unit has its own network namespace, and the lab
// replaces Juju.
package deployment

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// charmDir is the charm as Juju would unpack it, program what plays its tools.
var charmDir, program string

func TestMain(m *testing.M) {
	lab.Main(m, func(ctx context.Context, dir, root string) error {
		charmDir, program = filepath.Join(dir, "charm"), filepath.Join(dir, "ovn-lab")
		return errors.Join(os.Mkdir(charmDir, 0o755), lab.LayOut(ctx, charmDir, root, ""), lab.BuildTools(ctx, root, program))
	})
}
