package lab

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/machine"
)

// intercepted is whether this program can play the lab's tools.
var intercepted bool

// Intercept plays systemctl, another stand-in or the guard where the
// program was called by such a name, and then exits. It must be the first thing
// that a program does which uses [New].
func Intercept() {
	intercepted = true
	machine.Play()
}

// Main is the TestMain of a package two levels below the root: it intercepts, and runs the tests (a
// testing.M) where layOut has put in dir what they need.
func Main(m interface{ Run() int }, layOut func(ctx context.Context, dir, root string) error) {
	Intercept()
	os.Exit(run(m, layOut))
}

func run(m interface{ Run() int }, layOut func(ctx context.Context, dir, root string) error) int {
	if flag.Parse(); flag.Lookup("test.list").Value.String() != "" {
		return m.Run() // prints names, for which nothing is built
	}
	dir, err := os.MkdirTemp("", "charm-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = layOut(context.Background(), dir, filepath.Join("..", ".."))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}
