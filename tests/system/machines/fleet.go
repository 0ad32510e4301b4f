// Package machines boots machines for tests: systemd as pid 1 in systemd-nspawn containers over a Debian root, each
// with its own disk, control group and network card, on one network that leads nowhere else. What can be done to a
// machine can be done here: install packages, restart, pull its power or its network cable.
//
// It needs root, and Debian with what tests/install-deps machines installs. It runs beside everything else on the host:
// what it makes is in network namespaces, control groups and mounts of its own, all named ovn-e2e, and in one
// directory. A run that was killed takes its machines with it, and the next run cleans up the rest; a second run waits
// for the first.
//
// Two things are not real: the kernel is the host's, so that there is one clock, and a machine whose power is pulled loses
// nothing of what it had written.
package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// prefix begins the host's names for everything that a run makes: network namespaces, control groups, machines.
const prefix = "ovn-e2e"

// lockFile is locked by the current run. The names are the host's, so only one run is possible.
const lockFile = "/run/lock/" + prefix + ".lock"

const closeTimeout = 2 * time.Minute

// Options are the options of [Open].
type Options struct {
	// Suite is the Debian suite of the machines: bookworm or sid.
	Suite string
	// Newer is a suite whose packages of OVN each machine has in [NewerPackages]; "" means none.
	Newer string
	// Shares are directories of the host that each machine has too.
	Shares []Share
	// Log gets a line about each step that takes long.
	Log io.Writer
}

// Share is a directory of the host that is in each machine.
type Share struct {
	Host, Machine string
	ReadOnly      bool
}

// Fleet is the machines of a run, and the network between them.
type Fleet struct {
	options Options
	dir     string // of roots, and of the disks of machines
	root    string
	runDir  string
	lock    *os.File
	cgroups []string

	mu       sync.Mutex
	machines []*Machine
}

// Open waits for the end of another run, cleans up, makes the suite's root if it is missing, and a network without machines.
func Open(ctx context.Context, o Options) (*Fleet, error) {
	if os.Getuid() != 0 {
		return nil, errors.New("cannot make machines: not root")
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("cannot find a place for roots: %w", err)
	}
	dir := filepath.Join(cache, "ovn-central-operator", "machines")
	lock, err := takeLock(ctx)
	if err != nil {
		return nil, err
	}
	f := &Fleet{options: o, dir: dir, runDir: filepath.Join(dir, "run"), lock: lock}
	if err := f.prepare(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Fleet) prepare(ctx context.Context) error {
	var err error
	if f.cgroups, err = hierarchies(); err != nil {
		return err
	}
	if err := f.sweep(ctx); err != nil {
		return err
	}
	roots := filepath.Join(f.dir, "roots")
	if f.root, err = kept(ctx, roots, f.options.Suite, makeRoot, f.options.Suite, f.options.Log); err != nil {
		return err
	}
	if f.options.Newer != "" {
		packages, err := kept(ctx, roots, "newer-"+f.options.Newer, makeNewer, f.options.Newer, f.options.Log)
		if err != nil {
			return err
		}
		f.options.Shares = append(slices.Clone(f.options.Shares), Share{Host: packages, Machine: NewerPackages, ReadOnly: true})
	}
	return buildHub(ctx)
}

// takeLock makes this process the only one with machines. The lock ends with the process.
func takeLock(ctx context.Context) (*os.File, error) {
	file, err := os.OpenFile(lockFile, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("cannot lock: %w", err)
	}
	err = poll.Until(ctx, 500*time.Millisecond, func() error {
		return syscall.Flock(int(file.Fd()),
			syscall.LOCK_EX|syscall.LOCK_NB)
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot lock %s, which another run may have locked: %w", lockFile, err),
			file.Close())
	}
	return file, nil
}

// Boot starts n more machines at once, numbered from 1, and returns when all have booted.
func (f *Fleet) Boot(ctx context.Context, n int) ([]*Machine, error) {
	f.mu.Lock()
	booting := make([]*Machine, n)
	for i := range booting {
		booting[i] = newMachine(f, len(f.machines)+1)
		f.machines = append(f.machines, booting[i])
	}
	f.mu.Unlock()

	errs := make([]error, n)
	var group sync.WaitGroup
	for i, m := range booting {
		group.Go(func() { errs[i] = m.Start(ctx) })
	}
	group.Wait()
	return booting, errors.Join(errs...)
}

// Machines returns the machines that were booted, in the order of their numbers, including those that are off.
func (f *Fleet) Machines() []*Machine {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.machines)
}

// Close ends all machines and removes them and their disks.
func (f *Fleet) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var errs []error
	for _, m := range f.Machines() {
		errs = append(errs, m.Kill(ctx))
	}
	errs = append(errs, f.sweep(ctx), f.lock.Close())
	return errors.Join(errs...)
}
