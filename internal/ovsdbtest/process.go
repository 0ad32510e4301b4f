// Package ovsdbtest runs OVN's programs for tests, until the test ends: ovsdb-server, alone or as a cluster, and
// others.
package ovsdbtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// patience limits every wait: an election takes about two election timers of 1 s, more on a busy machine.
const patience = 2 * time.Minute

// Process is a started program.
type Process struct {
	*os.Process
	// Ended is closed after the program has ended.
	Ended  <-chan struct{}
	result error
	output output
}

// Run starts a program that ends with the test. It ends in the test's cleanup, not with the test's context, which
// ends earlier, since other cleanups may need the program. If the test fails, Run shows the program's output.
func Run(t testing.TB, environment []string, name string, args ...string) *Process {
	t.Helper()
	p, ended := new(Process), make(chan struct{})
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), name, args...)
	cmd.Env = append(os.Environ(), environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	require.NoError(t, cmd.Start())
	p.Process, p.Ended = cmd.Process, ended
	go func() {
		defer close(ended)
		p.result = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.Process.Kill() // most have ended already
		<-ended
		if text := p.Output(); t.Failed() && text != "" {
			t.Logf("%v:\n%s", cmd.Args, text)
		}
	})
	return p
}

// Kill ends the process as a power failure does, and returns when it is gone.
func (p *Process) Kill(t testing.TB) {
	t.Helper()
	require.NoError(t, p.Process.Kill())
	<-p.Ended
}

// Wait waits until the process has ended by itself, and returns the result of exec.Cmd.Wait.
func (p *Process) Wait(t testing.TB) error {
	t.Helper()
	select {
	case <-p.Ended:
	case <-time.After(patience):
		require.Fail(t, "it does not end", p.Output())
	}
	return p.result
}

// Output returns the process's output so far.
func (p *Process) Output() string { return p.output.String() }

// Answers waits until the process's control socket answers.
func (p *Process) Answers(t testing.TB, control string) {
	t.Helper()
	for begun := time.Now(); ; require.NoError(t, poll.Wait(t.Context(), 5*time.Millisecond)) {
		said, err := exec.CommandContext(t.Context(), "ovs-appctl", "-T", "2", "-t", control, "version").CombinedOutput()
		if err == nil {
			return
		}
		select {
		case <-p.Ended:
			require.Fail(t, "it has ended", p.Output())
		default:
		}
		require.Less(t, time.Since(begun), patience, "it does not answer: %s", said)
	}
}

// output collects a program's output.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

// String implements [fmt.Stringer].
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
