package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/hooktool"
	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/lab/internal/model"
)

// New makes a lab without units. The context bounds only the making.
func New(ctx context.Context, o Options) (_ *Lab, err error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	ch, err := readCharm(o.Charm)
	if err != nil {
		return nil, err
	}
	if err := o.makeDir(); err != nil {
		return nil, err
	}
	l := &Lab{
		dir: o.Dir, charm: ch, timeout: o.HookTimeout, log: o.Log,
		program: programIn(o.Dir), units: map[string]*Unit{},
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if err := l.takeLock(ctx); err != nil {
		return nil, err
	}
	if err := l.furnish(ctx, o); err != nil {
		return nil, fmt.Errorf("cannot make a lab: %w", err)
	}
	if l.guard, err = machine.StartGuard(l.program, l.dir); err != nil {
		return nil, err
	}
	if err := l.bootHub(ctx, o); err != nil {
		return nil, err
	}
	if err := l.foundCA(); err != nil {
		return nil, err
	}
	l.model = model.New(l.dir, &model.State{
		App: application, JujuVersion: o.JujuVersion, Ways: *o.Ways,
		ElectionTimer: o.ElectionTimer, Northd: o.Northd, HookTimeout: o.HookTimeout, RetryScale: retryScale,
		NextAction: 1, LeaderSettings: map[string]string{}, LeaderVersion: 1, ConfigVersion: 1, Config: map[string]any{},
		Relations: peerRelations(ch), Units: map[string]*model.Unit{},
	})
	return l, l.model.Save()
}

// programIn is the program that plays the tools of the lab in dir.
func programIn(dir string) string { return filepath.Join(dir, "ovn-lab") }

// furnish fills the lab's directory: the charm, and the programs, of which the one in C has the
// names of the hook tools.
func (l *Lab) furnish(ctx context.Context, o Options) error {
	if err := copyTree(o.Charm, l.charmDir()); err != nil {
		return err
	}
	if err := linkOrCopy(o.Program, l.program); err != nil {
		return err
	}
	err := linkOrCopy(hooktool.Client(o.Program), hooktool.Client(l.program))
	if errors.Is(err, fs.ErrNotExist) {
		err = compileClient(ctx, l.program)
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.toolsDir(), 0o755); err != nil {
		return err
	}
	for _, name := range hooktool.NamesIn(*o.Ways) {
		if err := os.Symlink(hooktool.Client(l.program), filepath.Join(l.toolsDir(), name)); err != nil {
			return err
		}
	}
	return nil
}

// Open takes over the lab that was made in dir and detached from. It waits, as
// long as ctx lasts, for another owner to let go.
func Open(ctx context.Context, dir string, log io.Writer) (*Lab, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, model.FileName)); err != nil {
		return nil, fmt.Errorf("cannot open the lab: there is none in %s", dir)
	}
	l := &Lab{dir: dir, log: log, program: programIn(dir), units: map[string]*Unit{}}
	if err := l.takeLock(ctx); err != nil {
		return nil, err
	}
	if l.model, err = model.Load(dir); err == nil {
		l.charm, err = readCharm(l.charmDir())
	}
	if err != nil {
		return nil, errors.Join(err, l.lock.Close())
	}
	if l.hub, err = machine.Load(filepath.Join(dir, machine.HubDir)); err != nil {
		return nil, errors.Join(err, l.lock.Close())
	}
	var units []*model.Unit
	l.model.Do(func(s *model.State) {
		l.timeout = s.HookTimeout
		units = s.Ordered()
	})
	for _, u := range units {
		m, err := machine.Load(filepath.Join(dir, strings.ReplaceAll(u.Name, "/", "-")))
		if err != nil {
			return nil, errors.Join(err, l.lock.Close())
		}
		l.units[u.Name] = newUnit(l, u, m)
	}
	l.answerAgain()
	return l, nil
}

func (l *Lab) takeLock(ctx context.Context) error {
	file, err := os.OpenFile(filepath.Join(l.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("cannot open the lab: %w", err)
	}
	err = await(ctx, func() (bool, error) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return false, errors.New("another program holds it")
		}
		return err == nil, err
	})
	if err != nil {
		file.Close()
		return fmt.Errorf("cannot open the lab in %s: %w", l.dir, err)
	}
	l.lock = file
	return nil
}

// Detach lets go of the lab and leaves it running, for [Open].
func (l *Lab) Detach() error {
	return errors.Join(l.model.Save(), l.issueAhead(), l.release())
}

func (l *Lab) release() error {
	var errs []error
	if l.guard != nil {
		errs = append(errs, l.guard.Release())
	}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
	}
	return errors.Join(errs...)
}

// Close kills everything that the lab started and removes its directory.
func (l *Lab) Close() error {
	return errors.Join(machine.Clean(l.dir), os.RemoveAll(l.dir), l.release())
}
