package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
)

// KeepVariable is the variable of the environment that keeps the labs of failed tests, if it is 1.
const KeepVariable = "KEEP"

// keptHookTimeout is [Options].HookTimeout of a lab that [Open] has opened: the hook may run under a debugger.
const keptHookTimeout = 24 * time.Hour

// Test is the part of testing.TB that [Lab.CloseOrKeep] needs.
type Test interface {
	Helper()
	Name() string
	Failed() bool
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
}

// CloseOrKeep closes the lab when a test is cleaned up. If the test has failed and [KeepVariable] is set, the lab
// stays with its servers, and the test prints the commands that use and end it.
func (l *Lab) CloseOrKeep(t Test) {
	t.Helper()
	if !t.Failed() || os.Getenv(KeepVariable) != "1" {
		if err := l.Close(); err != nil {
			t.Errorf("cannot close the lab: %v", err)
		}
		return
	}
	if err := l.keep(); err != nil {
		t.Errorf("cannot keep the lab: %v", errors.Join(err, l.Close()))
		return
	}
	t.Logf("%s", l.keptText(t.Name()))
}

// kept is what [Open] reads of a lab besides the machines' directories.
type kept struct {
	Options Options
	State   *model.State
}

func keptFile(dir string) string { return filepath.Join(dir, "kept.json") }

// Kept reports whether dir has a lab that a test has kept.
func Kept(dir string) bool {
	_, err := os.Stat(keptFile(dir))
	return err == nil
}

// keep writes what only this process knows, and ends the guard, which would clean up.
func (l *Lab) keep() error {
	k := kept{Options: l.o}
	k.Options.Log = nil
	var data []byte
	var err error
	l.model.Do(func(s *model.State) {
		k.State = s
		data, err = json.Marshal(k)
	})
	if err == nil {
		err = os.WriteFile(keptFile(l.o.Dir), data, 0o600)
	}
	if err != nil {
		return err
	}
	return l.guard.Release()
}

func (l *Lab) keptText(test string) string {
	root, err := Root()
	if err != nil {
		root = "."
	}
	command := fmt.Sprintf("go -C %s run ./tests/harness/lab/cmd/ovn-lab --dir %s ", root, l.o.Dir)
	unit := application + "/0"
	var logs strings.Builder
	for i, u := range l.Units() {
		if i == 0 {
			unit = u.name
		}
		fmt.Fprintf(&logs, "\n    %s", filepath.Join(u.Machine.Dir, "hooks.log"))
	}
	return fmt.Sprintf(`%[1]s has failed, and its lab stays in %[2]s.
  units and servers:
    %[3]sstatus
  what hooks have printed and logged:%[4]s
  a hook again:
    %[3]sexec-hook %[5]s update-status
  the lab's end:
    %[3]sdown
`, test, l.o.Dir, command, logs.String(), unit)
}

// Open opens a lab that an ended test has kept. Its relations' other sides don't answer any more, so no unit can be
// added: it would get no certificate. The lab has no guard: only [Lab.Close] ends it.
func Open(_ context.Context, dir string, log io.Writer) (*Lab, error) {
	data, err := os.ReadFile(keptFile(dir))
	if err != nil {
		return nil, fmt.Errorf("cannot open the lab: %w", err)
	}
	var k kept
	if err := json.Unmarshal(data, &k); err != nil {
		return nil, fmt.Errorf("cannot open the lab in %s: %w", dir, err)
	}
	k.Options.Log, k.Options.HookTimeout = log, keptHookTimeout
	l := newOf(k.Options)
	return l, l.load(k.State)
}

func (l *Lab) load(state *model.State) (err error) {
	l.model = model.New(state)
	if l.charm, err = readCharm(l.charmDir()); err != nil {
		return err
	}
	if l.hub, err = machine.Load(filepath.Join(l.o.Dir, machine.HubDir)); err != nil {
		return err
	}
	for _, known := range state.Units {
		m, err := machine.Load(filepath.Join(l.o.Dir, unitDir(known.Number)))
		if err != nil {
			return err
		}
		l.units[known.Name] = newUnitOf(l, known, m)
	}
	return nil
}
