package lab_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// ownerVariable makes the test program the owner of a lab, for the test that kills it.
const ownerVariable = "OVN_LAB_TEST_OWNER"

// toolsDir has the program that plays the tools of most labs; in the others the test program does.
var toolsDir string

var buildTools = sync.OnceValue(func() error {
	return lab.BuildTools(context.Background(), filepath.Join("..", "..", ".."), filepath.Join(toolsDir, "ovn-lab"))
})

func TestMain(m *testing.M) {
	lab.Intercept()
	if os.Getenv(ownerVariable) != "" {
		ownALab()
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	var err error
	if toolsDir, err = os.MkdirTemp("", "ovn-lab-tools-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(toolsDir)
	return m.Run()
}

// ownALab makes a lab with a unit, prints its directory, and waits to be killed.
func ownALab() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	l, err := lab.New(ctx, lab.Options{Charm: os.Getenv(ownerVariable)})
	if err == nil {
		_, err = l.AddUnit(ctx)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(l.Dir())
	<-ctx.Done()
	os.Exit(1)
}

// scripts maps hooks and actions to the shell scripts that the test charm runs.
type scripts map[string]string

func newCharm(t *testing.T, s scripts) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("testdata/charm")))
	for name, text := range s {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "on-"+name), []byte(text), 0o644))
	}
	return dir
}

// on replaces a script of one unit's charm.
func on(t *testing.T, u *lab.Unit, name, text string) {
	t.Helper()
	file := filepath.Join(u.CharmDir(), "on-"+name)
	require.NoError(t, os.RemoveAll(file))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func newLab(t *testing.T, o lab.Options) *lab.Lab {
	t.Helper()
	if o.Charm == "" {
		o.Charm = newCharm(t, nil)
	}
	require.NoError(t, buildTools())
	o.Program = filepath.Join(toolsDir, "ovn-lab")
	l, err := lab.New(ctx(t), o)
	require.NoError(t, err)
	t.Cleanup(func() { l.CloseOrKeep(t) })
	return l
}

// withUnits makes a lab with n units, whose databases are clusters of n members unless bare is set.
func withUnits(t *testing.T, n int, bare bool, s scripts) (*lab.Lab, []*lab.Unit) {
	t.Helper()
	l := newLab(t, lab.Options{Charm: newCharm(t, s)})
	var units []*lab.Unit
	for range n {
		u, err := l.AddUnitWith(ctx(t), lab.AddOptions{NoHooks: true, NoDatabases: bare})
		require.NoError(t, err)
		units = append(units, u)
	}
	require.NoError(t, l.Settle(ctx(t)))
	return l, units
}

// ctx ends before the test run's own limit.
func ctx(t *testing.T) context.Context {
	t.Helper()
	c, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return c
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return string(text)
}
