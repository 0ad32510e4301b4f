// Package lab replaces Juju on one host. Each unit has its own machine: a network namespace on a common bridge,
// directories, a systemd that runs the packages' units, package tools and a firewall that tests can read. The database
// servers are real ovsdb-server processes in Raft clusters over TLS. The charm runs unchanged, as under Juju: dispatch,
// environment, hook tools, order of hooks, errors and retries, and actions, whose parameters Juju's own libraries parse
// and validate.
//
// The lab prepares a unit's machine in one of two ways: as the Python charm leaves a member of both clusters, or empty,
// so that the charm installs the packages. The lab needs root, or a user namespace with root, and the programs ip and
// nsenter and the packages of OVN. It registers nothing with the system: the machines end with their processes.
//
// If the lab and Juju differ, the lab is wrong. It is modelled on Juju 3.6.11; the differences of other versions are
// [Quirks], each with its own switch. The lab has no storage, secrets, resources, subordinates or order between
// services (After=), and the rules that ufw keeps filter nothing. A server that is killed stays dead until it is
// started, unless [Options].Restart is set. Update-status and the retry of a failed hook run when the test asks for
// them, not by a clock.
//
// If a test fails and the environment has KEEP=1, its labs stay ([Lab.CloseOrKeep]). The test prints the
// commands of ovn-lab that show such a lab, run one of its hooks again, and end it. A lab
// whose test program is killed, by the limit of `go test` too, is cleaned up by its guard and does not stay.
//
// A program that uses the package, also a test, is run under the names of systemctl
// and of the guard too; so its main, or TestMain, calls [Intercept] first:
//
//	func TestMain(m *testing.M) { lab.Intercept(); os.Exit(m.Run()) }
package lab

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/juju/charm/v12"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// Lab is one application of one model, with its units and their machines. Its methods may be called from several
// goroutines; hooks and actions of one unit run one at a time, as under Juju.
type Lab struct {
	o       Options
	model   *model.Model
	charm   *charm.CharmDir
	program string
	guard   *machine.Guard
	hub     *machine.Machine // connects all machines
	ca      *vault.CA
	logMu   sync.Mutex

	mu    sync.Mutex
	units map[string]*Unit // those that were removed too

	held    atomic.Bool // see [Lab.Hold]
	lock    *os.File    // of [Open]
	remotes remotes
}

// Dir returns the lab's directory.
func (l *Lab) Dir() string { return l.o.Dir }

func (l *Lab) toolsDir() string { return filepath.Join(l.o.Dir, "tools") }

// Units returns the units in the model by number, including dying ones, without those whose machine is still being
// made.
func (l *Lab) Units() []*Unit {
	var names []string
	l.model.Do(func(s *model.State) {
		for _, u := range s.Ordered() {
			names = append(names, u.Name)
		}
	})
	return l.named(names)
}

func (l *Lab) named(names []string) []*Unit {
	l.mu.Lock()
	defer l.mu.Unlock()
	units := make([]*Unit, 0, len(names))
	for _, name := range names {
		if u := l.units[name]; u != nil {
			units = append(units, u)
		}
	}
	return units
}

// Unit returns a unit of the model by its name.
func (l *Lab) Unit(name string) (*Unit, error) {
	for _, u := range l.Units() {
		if u.name == name {
			return u, nil
		}
	}
	return nil, fmt.Errorf("unit %q not found", name)
}

// Leader returns the unit that Juju calls leader, or nil. Its machine may still be in the making.
func (l *Lab) Leader() *Unit {
	var name string
	l.model.Do(func(s *model.State) { name = s.Leader })
	if units := l.named([]string{name}); len(units) > 0 {
		return units[0]
	}
	return nil
}

// AppData returns the application's data on the first peer relation.
func (l *Lab) AppData() (data map[string]string) {
	l.model.Do(func(s *model.State) {
		if len(s.Relations) > 0 {
			data = maps.Clone(s.Relations[0].App.Settings)
		}
	})
	return data
}

// Remotes returns the client endpoints of all units in the model, in the form that clients take.
func (l *Lab) Remotes(db DB) string {
	var remotes []string
	for _, u := range l.Units() {
		remotes = append(remotes, u.Client(db))
	}
	slices.Sort(remotes)
	return strings.Join(slices.Compact(remotes), ",")
}

func (l *Lab) logf(format string, args ...any) {
	if l.o.Log == nil {
		return
	}
	l.logMu.Lock()
	defer l.logMu.Unlock()
	fmt.Fprintf(l.o.Log, format+"\n", args...)
}

const poll = 25 * time.Millisecond

// limit bounds each wait. A healthy server joins within 50 ms on an idle machine.
const limit = 3 * time.Minute

// await polls until done returns true, for at most limit and while ctx lasts. The error wraps the last error of done.
func await(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ticker := time.NewTicker(poll)
	defer ticker.Stop()
	for {
		ok, err := done()
		if ok {
			return nil
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = errors.New("it didn't happen")
			}
			return fmt.Errorf("%w (waited: %w)", err, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}
