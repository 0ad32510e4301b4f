package labtest

import (
	"math/rand/v2"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/exploretest"
	"github.com/ovn-central/ovn-central-operator/tests/harness/lab"
)

// KillEverywhere runs something again and again, and kills it at a call of another program: at stride
// calls further on than the time before, or at fewer if more is explored. It ends with a run that is
// not killed, if end reports true then; a run that waits for something may make fewer calls. run
// runs it, and reports whether it was killed. The first call is drawn, so that in time each was it.
// At no time may two clusters serve one database. KillEverywhere returns how many runs were killed.
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

// KillHookEverywhere is [Model.KillEverywhere] of a unit's next hook, with a stride of 3.
func (m *Model) KillHookEverywhere(u *lab.Unit) {
	m.T.Helper()
	hook := m.nextHook(u)
	m.T.Logf("%s of %s", hook, u.Name())
	m.KillEverywhere(3, Always, func(call int) bool { return m.KillHookAt(u, hook, call) })
}

// KillNext runs the next hook of a unit, and kills it at a call. It reports whether it made so many.
func (m *Model) KillNext(u *lab.Unit, call int) bool {
	m.T.Helper()
	return m.KillHookAt(u, m.nextHook(u), call)
}

// KillHookAt runs a hook, and kills it at a call. It reports whether it made so many.
func (m *Model) KillHookAt(u *lab.Unit, hook string, call int) bool {
	m.T.Helper()
	k, err := m.RunHookKilledAt(m.T.Context(), u, hook, call)
	require.NoError(m.T, err, "%s of %s", hook, u.Name())
	return k.Killed
}

// Always is an end of [Model.KillEverywhere] for what waits for nothing.
func Always() bool { return true }

// KillHook runs a hook that is killed at the first call for which when is true, and requires that
// there is one.
func (m *Model) KillHook(u *lab.Unit, hook string, when func(call string) bool) {
	m.T.Helper()
	k, err := m.RunHookKilledWhen(m.T.Context(), u, hook, when)
	require.NoError(m.T, err)
	require.True(m.T, k.Killed, "%s of %s makes no such call: %v", hook, u.Name(), k.Calls)
}

// KillPending runs the pending hooks of a unit until one is killed, at the first call for which when
// is true.
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

// nextHook is the first pending hook of a unit, or update-status, which can come at any time.
func (m *Model) nextHook(u *lab.Unit) string {
	pending := m.Pending(u)
	if len(pending) == 0 {
		return "update-status"
	}
	hook, _, _ := strings.Cut(pending[0], " ")
	return hook
}
