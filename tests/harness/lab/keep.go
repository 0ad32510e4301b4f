package lab

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/machine"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab/internal/model"
	"github.com/ovn-central/ovn-central-operator/tests/harness/vault"
)

// KeepVariable is the environment variable that, set to 1, keeps the labs of failed tests.
const KeepVariable = "KEEP"

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
	if err := l.Keep(); err != nil {
		t.Errorf("%v", errors.Join(err, l.Close()))
		return
	}
	t.Logf("%s", l.keptText(t.Name()))
}

// kept is the state of a lab that only the process that runs it knows.
type kept struct {
	Options Options
	State   *model.State
	CA      *vault.CA
	// Pairs are the certificates that the lab has laid out, by unit.
	Pairs map[string]pair
	// Issues reports whether the lab plays vault. Told has the versions of the data that it has answered.
	Issues bool
	Told   map[string]int
}

type pair struct{ Certificate, Key string }

func keptFile(dir string) string { return filepath.Join(dir, "kept") }

// encode returns all data that [Lab.load] needs.
func (l *Lab) encode() ([]byte, error) {
	k := kept{Options: l.o, CA: l.ca, Pairs: map[string]pair{}}
	k.Options.Log = nil
	for _, u := range l.Units() {
		k.Pairs[u.name] = pair{u.certificate, u.key}
	}
	l.remotes.mu.Lock()
	defer l.remotes.mu.Unlock()
	k.Issues, k.Told = l.remotes.issues, l.remotes.told
	var text bytes.Buffer
	var err error
	l.model.Do(func(s *model.State) {
		k.State = s
		err = gob.NewEncoder(&text).Encode(k)
	})
	return text.Bytes(), err
}

// load restores in dir the lab that encode has written.
func load(data []byte, dir string, log io.Writer) (*Lab, error) {
	var k kept
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&k); err != nil {
		return nil, err
	}
	k.Options.Dir, k.Options.Log = dir, log
	l := newOf(k.Options)
	l.model, l.ca = model.New(k.State), k.CA
	var err error
	if l.charm, err = readCharm(l.charmDir()); err != nil {
		return nil, err
	}
	if l.hub, err = machine.Load(filepath.Join(dir, machine.HubDir)); err != nil {
		return nil, err
	}
	for _, known := range k.State.Units {
		m, err := machine.Load(filepath.Join(dir, unitDir(known.Number)))
		if err != nil {
			return nil, err
		}
		u := newUnitOf(l, known, m)
		u.certificate, u.key = k.Pairs[u.name].Certificate, k.Pairs[u.name].Key
		l.units[u.name] = u
	}
	if k.Issues {
		l.remotes.answers[caEndpoint], l.remotes.issues = l.issued, true
		maps.Copy(l.remotes.told, k.Told)
	}
	return l, nil
}

// Keep ends this process's control of the lab, whose servers continue to run. [Open] takes it over.
func (l *Lab) Keep() error {
	data, err := l.encode()
	if err == nil {
		err = os.WriteFile(keptFile(l.o.Dir), data, 0o600)
	}
	if err == nil && l.guard != nil {
		err = l.guard.Release()
	}
	if err = errors.Join(err, l.unlock()); err != nil {
		return fmt.Errorf("cannot keep the lab: %w", err)
	}
	return nil
}

func (l *Lab) unlock() error {
	if l.lock == nil {
		return nil
	}
	return l.lock.Close()
}

func (l *Lab) keptText(test string) string {
	root, err := Root()
	if err != nil {
		root = "."
	}
	command := fmt.Sprintf("go -C %s run ./tests/harness/lab/cmd/ovn-lab --dir %s ", root, l.o.Dir)
	unit := ApplicationName + "/0"
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

// Open opens a lab that was kept. Until [Lab.Keep] or [Lab.Close] no other process can open it. Only a CA of
// [Lab.RelateCA] issues further certificates: other applications that a test has played end with the test. The lab
// has no guard.
func Open(dir string, log io.Writer) (_ *Lab, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("cannot open the lab in %s: %w", dir, err)
		}
	}()
	lock, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	data, err := os.ReadFile(keptFile(dir))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l, err := load(data, dir, log)
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	l.lock = lock
	return l, nil
}
