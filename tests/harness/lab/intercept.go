package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
)

// intercepted is whether this program can play the lab's tools.
var intercepted bool

// Intercept plays systemctl, another program of the machine or the guard if the
// program was called by such a name, and then exits. A program that uses [New]
// must call it before anything else.
func Intercept() {
	intercepted = true
	machine.Play()
}

// Main is the TestMain of a package: it intercepts, lets layOut put into dir what the tests need,
// and runs them (m is a testing.M).
func Main(m interface{ Run() int }, layOut func(ctx context.Context, dir, root string) error) {
	Intercept()
	os.Exit(run(m, layOut))
}

func run(m interface{ Run() int }, layOut func(ctx context.Context, dir, root string) error) int {
	if flag.Parse(); flag.Lookup("test.list").Value.String() != "" {
		return m.Run() // prints names, for which nothing is built
	}
	root, err := Root()
	var dir string
	if err == nil {
		dir, err = os.MkdirTemp("", "charm-")
	}
	if err == nil {
		defer os.RemoveAll(dir)
		err = layOut(context.Background(), dir, root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// Root returns the directory of the checkout that the working directory is in: the nearest one
// above with a metadata.yaml.
func Root() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "metadata.yaml")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("cannot find the checkout: no directory above has a metadata.yaml")
		}
		dir = parent
	}
	return "", err
}
