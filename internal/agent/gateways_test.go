package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// One that only waited for a server, as for one that is stopped, is no reason to wait.
func TestLooksTakeTheirShareOfTheProcessorAndComeWhenSomethingIsDue(t *testing.T) {
	t.Parallel()
	const never = -1
	assert.Equal(t, lookPause, pauseAfter(0, never))
	assert.Equal(t, lookPause, pauseAfter(time.Millisecond, never))
	assert.Equal(t, 20*time.Second, pauseAfter(400*time.Millisecond, never))
	assert.Equal(t, 5*time.Second, pauseAfter(400*time.Millisecond, 5*time.Second))
	assert.Equal(t, 20*time.Second, pauseAfter(400*time.Millisecond, time.Minute))
	assert.Equal(t, lookPause, pauseAfter(400*time.Millisecond, 0))
}

func TestLineOfTheLogHasAFewReasons(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{"a", "b"}, shortened([]string{"a", "b"}))
	assert.Equal(t, []string{"a", "b", "c", "d", "e", "and 2 more"}, shortened([]string{"a", "b", "c", "d", "e", "f", "g"}))
}

func TestUnitThatGoesOnUnderTheSameRecordLooksOnlyForWhatIsLeft(t *testing.T) {
	t.Parallel()
	g := new(gateways)
	assert.True(t, g.wants("a"))
	assert.False(t, g.wants("a"))
	g.report.planned = 1
	assert.True(t, g.wants("a"))
	g.report.planned = 0
	assert.True(t, g.wants("b"))
}
