package lab

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/juju/charm/v12"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// Lab is one application of one model, with its units and their machines. Its
// methods may be called from several goroutines; hooks and actions of one unit
// run one at a time, as under Juju.
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
	remotes remotes
}

// Dir is the lab's directory.
func (l *Lab) Dir() string { return l.o.Dir }

func (l *Lab) toolsDir() string { return filepath.Join(l.o.Dir, "tools") }

// Units are those in the model, dying ones too, by number. One whose machine is
// still being made is not among them yet.
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

// Unit finds a unit of the model by its name.
func (l *Lab) Unit(name string) (*Unit, error) {
	for _, u := range l.Units() {
		if u.name == name {
			return u, nil
		}
	}
	return nil, fmt.Errorf("unit %q not found", name)
}

// Leader is the unit that Juju calls leader, or nil; also as long as its machine is
// being made.
func (l *Lab) Leader() *Unit {
	var name string
	l.model.Do(func(s *model.State) { name = s.Leader })
	if units := l.named([]string{name}); len(units) > 0 {
		return units[0]
	}
	return nil
}

// AppData is the application's data on the first peer relation.
func (l *Lab) AppData() (data map[string]string) {
	l.model.Do(func(s *model.State) {
		if len(s.Relations) > 0 {
			data = maps.Clone(s.Relations[0].App.Settings)
		}
	})
	return data
}

// Remotes are the client ports of all units in the model, as clients take them.
func (l *Lab) Remotes(db DB) string {
	var remotes []string
	for _, u := range l.Units() {
		remotes = append(remotes, u.Client(db))
	}
	slices.Sort(remotes)
	return strings.Join(slices.Compact(remotes), ",")
}

// logf writes one line to the lab's log.
func (l *Lab) logf(format string, args ...any) {
	if l.o.Log == nil {
		return
	}
	l.logMu.Lock()
	defer l.logMu.Unlock()
	fmt.Fprintf(l.o.Log, format+"\n", args...)
}
