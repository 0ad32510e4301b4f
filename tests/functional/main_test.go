// Package functional shows the charm's behaviour on real ovsdb-server processes,
// with the lab in Juju's place. Each test names the rule (R0 to R16) or the
// requirement (000-1 to 000-7) that it shows.
package functional

import (
	"fmt"
	"os"
	"os/exec"
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
	if err := layOut(dir); err != nil {
		fmt.Fprintln(os.Stderr, "cannot lay out the charm:", err)
		return 1
	}
	charmDir = dir
	return m.Run()
}

// layOut builds the charm, without packing it.
func layOut(dir string) error {
	root := filepath.Join("..", "..")
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "dispatch"), "./cmd/ovn-central-operator")
	build.Dir = root
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	for _, name := range []string{"metadata.yaml", "actions.yaml", "config.yaml"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
