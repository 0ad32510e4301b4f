// Package functional shows the charm's behaviour on real ovsdb-server processes,
// with the lab in Juju's place. Each test names the rule (R0 to R16) or the
// requirement (000-1 to 000-7) that it shows.
package functional

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ovn-central/ovn-central-operator/tests/lab"
)

// charmDir is the charm as Juju would unpack it.
var charmDir string

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
	if err := lab.LayOut(context.Background(), dir, filepath.Join("..", ".."), ""); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	charmDir = dir
	return m.Run()
}
