package lab

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// New makes a lab without units. The context limits only the making.
func New(ctx context.Context, o Options) (_ *Lab, err error) {
	if err := o.complete(); err != nil {
		return nil, fmt.Errorf("cannot make a lab: %w", err)
	}
	ch, err := readCharm(o.Charm)
	if err != nil {
		return nil, err
	}
	if err := o.makeDir(); err != nil {
		return nil, fmt.Errorf("cannot make a lab: %w", err)
	}
	l := newOf(o)
	l.charm = ch
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err := l.copyPrograms(ctx); err != nil {
		return nil, fmt.Errorf("cannot make a lab: %w", err)
	}
	if l.guard, err = machine.StartGuard(l.program, o.Dir); err != nil {
		return nil, err
	}
	if err := l.bootHub(ctx); err != nil {
		return nil, err
	}
	if err := l.foundCA(); err != nil {
		return nil, err
	}
	l.model = model.New(&model.State{
		App: ApplicationName, JujuVersion: o.JujuVersion, Quirks: *o.Quirks, RetryScale: retryScale,
		NextAction: 1, LeaderSettings: map[string]string{}, LeaderVersion: 1, ConfigVersion: 1, Config: map[string]any{},
		Relations: peerRelations(ch), Units: map[string]*model.Unit{},
	})
	return l, nil
}

func newOf(o Options) *Lab {
	return &Lab{
		o: o, program: filepath.Join(o.Dir, "ovn-lab"), units: map[string]*Unit{},
		remotes: remotes{answers: map[string]Answer{}, told: map[string]int{}},
	}
}

// copyPrograms copies the charm and the programs to the lab's directory. The C program has the names of the hook tools.
func (l *Lab) copyPrograms(ctx context.Context) error {
	if err := copyTree(l.o.Charm, l.charmDir()); err != nil {
		return err
	}
	if err := linkOrCopy(l.o.Program, l.program); err != nil {
		return err
	}
	if err := linkOrCopy(hooktool.Client(l.o.Program),
		hooktool.Client(l.program)); err != nil { // the program has no client beside it
		if err := compileClient(ctx, l.program); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(l.toolsDir(), 0o755); err != nil {
		return err
	}
	for _, name := range hooktool.NamesIn(*l.o.Quirks) {
		if err := os.Symlink(hooktool.Client(l.program), filepath.Join(l.toolsDir(), name)); err != nil {
			return err
		}
	}
	return nil
}

// Close kills everything that the lab started and removes its directory.
func (l *Lab) Close() error {
	err := errors.Join(machine.Clean(l.o.Dir), os.RemoveAll(l.o.Dir), l.unlock())
	if l.guard != nil {
		err = errors.Join(err, l.guard.Release())
	}
	return err
}

var intercepted bool

// Intercept runs systemctl, a replaced program or the guard if it was called by such a name, and exits. Call it
// before [New].
func Intercept() {
	intercepted = true
	machine.Play()
}

// Main is a package's TestMain: it intercepts, uses layOut to make in dir what the tests need, and runs them.
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

// Root returns the root of the checkout of the working directory: the nearest one with a metadata.yaml.
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
