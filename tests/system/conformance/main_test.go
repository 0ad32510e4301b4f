package conformance_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/juju/juju/rpc/params"
	"github.com/juju/loggo"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/agent"
	"github.com/ovn-central/ovn-central-operator/tests/system/conformance/controller"
)

// agentVariable makes the test program the agent of a unit: each has its own process, as in Juju.
const agentVariable = "CONFORMANCE_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) != "" {
		os.Exit(beAgent())
	}
	os.Exit(run(m))
}

var hookTool string

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "juju-hook-tool-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	hookTool = filepath.Join(dir, "juju-hook-tool")
	build := exec.Command("go", "build", "-o", hookTool, "./cmd/juju-hook-tool")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// beAgent is the main function of an agent: SIGTERM ends it.
func beAgent() int {
	// A test that looks for a reason sets it.
	_ = loggo.ConfigureLoggers(cmp.Or(os.Getenv("JUJU_LOGGING_CONFIG"), "<root>=WARNING"))
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var c agent.Config
	err := json.Unmarshal([]byte(os.Getenv(agentVariable)), &c)
	if err == nil {
		err = agent.Run(ctx, c)
	}
	switch {
	case params.IsCodeUnauthorized(err):
		fmt.Fprintln(os.Stderr, err)
		return denied
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// denied is the exit code of an agent whose unit the controller doesn't know.
const denied = 3

// scripts maps hooks and actions to the shell scripts that the test charm runs.
type scripts map[string]string

type deployment struct {
	*controller.Controller
	t      *testing.T
	dir    string
	mu     sync.Mutex
	agents map[string]*running
}

type running struct {
	process *exec.Cmd
	done    chan struct{}
	err     error
}

// charmDir returns the charm of the lab's tests, so that both run the same.
func charmDir(t *testing.T, s scripts) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../harness/lab/testdata/charm")))
	require.NoError(t, os.Chmod(filepath.Join(dir, "dispatch"), 0o755))
	for name, text := range s {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "on-"+name), []byte(text), 0o644))
	}
	return dir
}

func newDeployment(t *testing.T, s scripts) *deployment {
	t.Helper()
	dir, err := os.MkdirTemp("", "juju")
	require.NoError(t, err)
	c, err := controller.New(dir, charmDir(t, s))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	ready := make(chan struct{})
	go func() { served <- c.Serve(ctx, ready) }()
	<-ready
	sc := &deployment{Controller: c, t: t, dir: dir, agents: map[string]*running{}}
	t.Cleanup(func() {
		for unit := range sc.agents {
			sc.stopAgent(unit)
		}
		stop()
		require.NoError(t, <-served)
		if t.Failed() {
			sc.showLogs()
		}
		require.NoError(t, os.RemoveAll(dir))
	})
	return sc
}

func (s *deployment) add(addresses ...string) string {
	s.t.Helper()
	unit, err := s.AddUnit(append(addresses, "10.99.0.10")[:max(1, len(addresses))]...)
	require.NoError(s.t, err)
	s.startAgent(unit, agentConfig{})
	return unit
}

type agentConfig struct {
	rebooted bool
	retry    params.RetryStrategy
}

func (s *deployment) unitDir(unit string) string {
	return filepath.Join(s.dir, filepath.Base(filepath.Dir(unit))+"-"+filepath.Base(unit))
}

// CharmDir implements [recorded.Juju].
func (s *deployment) CharmDir(unit string) string {
	tag := "unit-" + filepath.Base(s.unitDir(unit))
	return filepath.Join(s.unitDir(unit), "agents", tag, "charm")
}

func (s *deployment) startAgent(unit string, o agentConfig) {
	s.t.Helper()
	program, err := os.Executable()
	require.NoError(s.t, err)
	run := filepath.Join(s.unitDir(unit), "run")
	if o.rebooted {
		require.NoError(s.t, os.RemoveAll(run))
	}
	require.NoError(s.t, s.Starts(unit))
	config, err := json.Marshal(agent.Config{
		Unit: unit, DataDir: s.unitDir(unit), RunDir: run, ControllerDir: s.dir, HookTool: hookTool, Retry: o.retry,
	})
	require.NoError(s.t, err)
	log, err := os.OpenFile(s.unitDir(unit)+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(s.t, err)
	defer log.Close()
	process := exec.Command(program)
	process.Env = append(os.Environ(), agentVariable+"="+string(config))
	process.Stdout, process.Stderr = log, log
	require.NoError(s.t, process.Start())
	r := &running{process: process, done: make(chan struct{})}
	s.mu.Lock()
	s.agents[unit] = r
	s.mu.Unlock()
	go func() {
		defer close(r.done)
		r.err = process.Wait()
	}()
}

// stopAgent lets the running hook end.
func (s *deployment) stopAgent(unit string) {
	r := s.agents[unit]
	_ = r.process.Process.Signal(syscall.SIGTERM)
	select {
	case <-r.done:
	case <-time.After(30 * time.Second):
		_ = r.process.Process.Kill()
		<-r.done
		s.t.Errorf("the agent of %s didn't end by itself", unit)
	}
}

func (s *deployment) showLogs() {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, file := range files {
		text, _ := os.ReadFile(file)
		s.t.Logf("%s:\n%s", filepath.Base(file), text[max(0, len(text)-2000):])
	}
}

func (s *deployment) restartAgent(unit string, o agentConfig) {
	s.t.Helper()
	s.stopAgent(unit)
	s.startAgent(unit, o)
}

// settle waits until nothing is left to do, and returns the units in error.
func (s *deployment) settle() map[string]string {
	s.t.Helper()
	limit, cancel := context.WithTimeout(s.t.Context(), 2*time.Minute)
	defer cancel()
	ctx, ended := context.WithCancelCause(limit)
	s.mu.Lock()
	for unit, r := range s.agents {
		go func() {
			select {
			case <-r.done:
				// An agent whose unit is gone may end with a denied request: Juju has taken its credentials.
				exit := (*exec.ExitError)(nil)
				if r.err != nil && !(errors.As(r.err, &exit) && exit.ExitCode() == denied && s.gone(unit)) {
					ended(fmt.Errorf("the agent of %s has ended: %w", unit, r.err))
				}
			case <-ctx.Done():
			}
		}()
	}
	s.mu.Unlock()
	failed, err := s.Settled(ctx)
	ended(nil)
	require.NoError(s.t, err)
	return failed
}

func (s *deployment) gone(unit string) (gone bool) {
	s.Look(func(state controller.State) { gone = state.Gone[unit] != nil })
	return gone
}

func (s *deployment) hooks(unit string) []string { return s.Hooks()[unit] }
