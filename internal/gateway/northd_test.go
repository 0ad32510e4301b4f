package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestWaiting_reported_after_longest_wait(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		slowest time.Duration
		lines   []string
	}{
		"of one that is quick": {time.Second, []string{
			"ovn-northd does not follow: nb_cfg 11 of 12 for 5s", "ovn-northd does not follow: nb_cfg 11 of 12 for 35s",
		}},
		"of one that is slow": {20 * time.Second, []string{
			"ovn-northd does not follow: nb_cfg 11 of 12 for 20s",
			"ovn-northd does not follow: nb_cfg 11 of 12 for 50s",
		}},
		"of one that is slower": {time.Minute, nil},
	} {
		var now time.Time
		var lines []string
		s := Service{slowest: x.slowest, Now: func() time.Time { return now }, Progress: func(_ context.Context,
			line string,
		) {
			lines = append(lines, line)
		}}
		waiting := s.waiting(t.Context(), now)
		for range 59 * 20 {
			waiting(11, 12)
			now = now.Add(50 * time.Millisecond)
		}
		assert.Equal(t, x.lines, lines, name)
	}
}
