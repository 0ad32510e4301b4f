package gateway

import (
	"context"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// numbers matches the numbers of a line, with their units.
var numbers = regexp.MustCompile(`\b\d+\w*`)

func TestWaiting_reported_after_longest_wait(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		slowest time.Duration
		lines   []string
	}{
		"of one that is quick":  {time.Second, []string{"11 12 5s", "11 12 35s"}},
		"of one that is slow":   {20 * time.Second, []string{"11 12 20s", "11 12 50s"}},
		"of one that is slower": {time.Minute, nil},
	} {
		var now time.Time
		var lines []string
		s := Service{slowest: x.slowest, Now: func() time.Time { return now }, Progress: func(_ context.Context,
			line string,
		) {
			lines = append(lines, strings.Join(numbers.FindAllString(line, -1), " "))
		}}
		waiting := s.waiting(t.Context(), now, 12)
		for range 59 * 20 {
			waiting(11)
			now = now.Add(50 * time.Millisecond)
		}
		assert.Equal(t, x.lines, lines, name)
	}
}
