// Package deployment tests that the charm turns empty machines into a working control
// plane and maintains it. The ovsdb-server processes are real, use TLS, and are started
// by the packages' own ovn-ctl. Each unit has its own network namespace, and the lab
// replaces Juju.
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
