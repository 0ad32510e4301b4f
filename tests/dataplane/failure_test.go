package dataplane

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// G4: a schedule is such that the load is even after a chassis fails, and OVN does what
// the schedule says.
func TestFirstBackupsTakeOverFromADeadChassisAndTheLoadIsEven(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	for _, name := range w.but("") {
		w.addGateway(name)
		w.addGateway(name)
	}
	masters := best(w.candidates())
	w.settles(masters)
	w.proved("reschedule", "--wait", "60s")
	candidates := w.candidates()
	require.Equal(t, masters, best(candidates), "rescheduling moves nobody")
	w.settles(masters)
	for _, failed := range w.but("") {
		assert.LessOrEqual(t, without(failed, candidates).spread(w.but(failed)...), 1, "if %s fails: %v", failed, candidates)
	}

	w.named("ch2").lose()
	w.settles(without("ch2", candidates))
	assert.LessOrEqual(t, w.bound().spread(w.but("ch2")...), 1)
}
