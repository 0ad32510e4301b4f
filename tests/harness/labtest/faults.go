package labtest

import (
	"bufio"
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// FailOnce makes the first of these calls on the Northbound file of a unit fail with this error. The returned
// function waits until that has happened: a follower may still be about to write what the others have stored.
func (m *Model) FailOnce(u *lab.Unit, calls, errno string) (end func()) {
	m.T.Helper()
	pid, err := u.ServerPID(lab.NB)
	require.NoError(m.T, err)
	ctx, cancel := context.WithCancel(m.T.Context())
	m.T.Cleanup(cancel)
	trace := filepath.Join(m.T.TempDir(), "strace")
	strace := exec.CommandContext(ctx, "strace", "-f", "-o", trace, "-p", strconv.Itoa(pid),
		"-P", u.DBFile(lab.NB), "-e", "trace="+calls, "-e", "inject="+calls+":error="+errno+":when=1")
	attached, err := strace.StderrPipe()
	require.NoError(m.T, err)
	require.NoError(m.T, strace.Start())
	for lines := bufio.NewReader(attached); ; {
		line, err := lines.ReadString('\n')
		require.NoError(m.T, err, "strace says when it is attached")
		if strings.Contains(line, "attached") {
			break
		}
	}
	return func() {
		m.Eventually("a call that has failed", func() bool {
			calls, err := os.ReadFile(trace)
			require.NoError(m.T, err)
			return strings.Contains(string(calls), "(INJECTED)")
		})
		cancel()
		_ = strace.Wait() // ended by us
	}
}

// LimitDisk puts a unit's databases, which must not exist yet, on their own disk, with a size in the form of
// mount(8).
func (m *Model) LimitDisk(u *lab.Unit, size string) {
	m.T.Helper()
	require.NoError(m.T, syscall.Mount("tmpfs", u.DBDir(), "tmpfs", 0, "size="+size))
	m.T.Cleanup(func() { assert.NoError(m.T, syscall.Unmount(u.DBDir(), syscall.MNT_DETACH)) })
}

const filler = "filler"

// FillDisk fills the disk of a unit's databases.
func (m *Model) FillDisk(u *lab.Unit) {
	m.T.Helper()
	file, err := os.Create(filepath.Join(u.DBDir(), filler))
	require.NoError(m.T, err)
	for err == nil {
		_, err = file.Write(make([]byte, 512))
	}
	require.ErrorIs(m.T, err, syscall.ENOSPC)
	require.NoError(m.T, file.Close())
}

// FreeDisk removes the file that FillDisk has written to a directory, if it still exists.
func (m *Model) FreeDisk(dir string) {
	m.T.Helper()
	require.NoError(m.T, os.RemoveAll(filepath.Join(dir, filler)))
}

// KillEverywhere calls run repeatedly and kills it at a call of another program. The first call is random, and each
// time it is stride calls further, or fewer if more is explored. It ends with a run that is not killed, if end
// returns true then. Two clusters of one database may never be served. run reports whether it was killed;
// KillEverywhere returns how many runs were.
func (m *Model) KillEverywhere(stride int, end func() bool, run func(call int) bool) (killed int) {
	m.T.Helper()
	stride = max(1, stride/exploretest.Factor(m.T))
	first := 1 + rand.IntN(stride)
	m.T.Logf("the first is killed at call %d", first)
	for runs := 0; ; runs++ {
		require.Less(m.T, runs, 1000, "there is no end; the first was killed at call %d", first)
		call := first + killed*stride
		was := run(call)
		m.RequireOneServed()
		switch {
		case was:
			killed++
		case end():
			m.T.Logf("%d runs, %d of them killed, up to call %d", runs+1, killed, call)
			return killed
		}
	}
}

// KillHookEverywhere does [Model.KillEverywhere] with a unit's next hook and a stride of 3.
func (m *Model) KillHookEverywhere(u *lab.Unit) {
	m.T.Helper()
	hook := m.nextHook(u)
	m.T.Logf("%s of %s", hook, u.Name())
	m.KillEverywhere(3, Always, func(call int) bool { return m.KillHookAt(u, hook, call) })
}

// KillNext runs the next hook of a unit, and kills it at a call. It reports whether the hook made that many calls.
func (m *Model) KillNext(u *lab.Unit, call int) bool {
	m.T.Helper()
	return m.KillHookAt(u, m.nextHook(u), call)
}

// KillHookAt runs a hook, and kills it at a call. It reports whether the hook made that many calls.
func (m *Model) KillHookAt(u *lab.Unit, hook string, call int) bool {
	m.T.Helper()
	k, err := m.RunHookKilledAt(m.T.Context(), u, hook, call)
	require.NoError(m.T, err, "%s of %s", hook, u.Name())
	return k.Killed
}

// Always is an end of [Model.KillEverywhere] that has no condition.
func Always() bool { return true }

// KillHook runs a hook that is killed at the first call for which when is true, and requires that there is one.
func (m *Model) KillHook(u *lab.Unit, hook string, when func(call string) bool) {
	m.T.Helper()
	k, err := m.RunHookKilledWhen(m.T.Context(), u, hook, when)
	require.NoError(m.T, err)
	require.True(m.T, k.Killed, "%s of %s makes no such call: %v", hook, u.Name(), k.Calls)
}

// KillPending runs the pending hooks of a unit until one is killed, at the first call for which when is true.
func (m *Model) KillPending(u *lab.Unit, when func(call string) bool) {
	m.T.Helper()
	for {
		require.NotEmpty(m.T, m.Pending(u), "%s makes no such call", u.Name())
		k, err := m.RunHookKilledWhen(m.T.Context(), u, m.nextHook(u), when)
		require.NoError(m.T, err)
		if k.Killed {
			return
		}
	}
}

// nextHook returns the first pending hook of a unit, or update-status, which can come at any time.
func (m *Model) nextHook(u *lab.Unit) string {
	pending := m.Pending(u)
	if len(pending) == 0 {
		return "update-status"
	}
	hook, _, _ := strings.Cut(pending[0], " ")
	return hook
}

// maxSteps bounds an order of events; the deployment of three units takes about 80.
const maxSteps = 800

// PlayOrder plays events and the hooks of all units in an order that is drawn, until no event is left and no hook is
// pending. deliver runs a hook of a unit that has one pending; after is called after each step.
func (m *Model) PlayOrder(random *rand.Rand, events []func(), deliver func(*lab.Unit), after func()) {
	m.T.Helper()
	events = slices.Clone(events)
	random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	for step := 0; ; step++ {
		require.Less(m.T, step, maxSteps, "the units don't come to rest\n%s", m.Statuses())
		var choices []func()
		for _, u := range m.Units() {
			for range m.Pending(u) {
				choices = append(choices, func() { deliver(u) })
			}
		}
		if len(events) > 0 {
			choices = append(choices, func() { events[0](); events = events[1:] })
		}
		if len(choices) == 0 {
			return
		}
		choices[random.IntN(len(choices))]()
		after()
	}
}

// DeliverAny runs one of the hooks that are pending now: entering a relation may have changed them.
func (m *Model) DeliverAny(random *rand.Rand, u *lab.Unit) {
	m.T.Helper()
	if hooks := m.Pending(u); len(hooks) > 0 {
		require.NoError(m.T, m.DeliverHook(m.T.Context(), u, hooks[random.IntN(len(hooks))]))
	}
}

// DeliverAll runs all pending hooks of a unit.
func (m *Model) DeliverAll(u *lab.Unit) {
	m.T.Helper()
	for len(m.Next(u)) > 0 {
		_, err := m.Deliver(m.T.Context(), u)
		require.NoError(m.T, err)
	}
}

// DeliverUntil runs the pending hooks of a unit until this one is next.
func (m *Model) DeliverUntil(u *lab.Unit, hook string) {
	m.T.Helper()
	for {
		next := m.Next(u)
		require.NotEmpty(m.T, next, "%s came to rest before %s: %v", u.Name(), hook, u.Hooks())
		if strings.HasPrefix(next[0], hook) {
			return
		}
		_, err := m.Deliver(m.T.Context(), u)
		require.NoError(m.T, err)
	}
}

// Next returns a unit's pending hooks once its agent has heard of all changes, which Juju 4 reports late.
func (m *Model) Next(u *lab.Unit) []string {
	m.T.Helper()
	for {
		pending, at := m.Pending(u), m.Coming(u)
		if len(pending) > 0 || at.IsZero() {
			return pending
		}
		select {
		case <-time.After(time.Until(at)):
		case <-m.T.Context().Done():
			m.T.Fatal(context.Cause(m.T.Context()))
		}
	}
}
