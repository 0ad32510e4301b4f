// Package deployment shows how the charm makes a working control plane of empty
// machines, and keeps it one: real ovsdb-server processes, started by the
// packages' own ovn-ctl, each unit in a network namespace of its own, over TLS,
// with the lab in Juju's place.
package deployment

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// charmDir is the charm as Juju would unpack it, program what plays its tools.
var charmDir, program string

func TestMain(m *testing.M) {
	lab.Intercept()
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if flag.Parse(); flag.Lookup("test.list").Value.String() != "" {
		return m.Run() // prints names, for which nothing is built
	}
	dir, err := os.MkdirTemp("", "charm-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	charmDir, program = filepath.Join(dir, "charm"), filepath.Join(dir, "ovn-lab")
	ctx, root := context.Background(), filepath.Join("..", "..")
	if err := errors.Join(os.Mkdir(charmDir, 0o755), lab.LayOut(ctx, charmDir, root, ""), lab.BuildTools(ctx, root, program)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
