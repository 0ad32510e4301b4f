package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/poll"
)

// eventually and always ask in the test's own goroutine. Those of testify ask in another one:
// what that still runs when the time is over is killed with the test's context, and a require
// in it ends that goroutine and not the test.

// eventually asks until it is so, within the limit.
func eventually(t testing.TB, isSo func() bool, limit, pause time.Duration, why ...any) {
	t.Helper()
	for begun := time.Now(); !isSo(); require.NoError(t, poll.Wait(t.Context(), pause)) {
		require.Less(t, time.Since(begun), limit, why...)
	}
}

// always asks for so long, and it is so each time.
func always(t testing.TB, isSo func() bool, long, pause time.Duration, why ...any) {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < long; require.NoError(t, poll.Wait(t.Context(), pause)) {
		require.True(t, isSo(), why...)
	}
}
