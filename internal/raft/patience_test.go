package raft

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestPatience_covers_measurements(t *testing.T) {
	const mib = 1 << 20
	tests := map[string]struct {
		base       time.Duration
		size       int64
		least, max time.Duration
	}{
		"small":                     {10 * time.Second, mib, 10 * time.Second, 10 * time.Second},
		"unknown":                   {10 * time.Second, 0, 10 * time.Second, 10 * time.Second},
		"nonsense":                  {10 * time.Second, -1, 10 * time.Second, 10 * time.Second},
		"a compaction at 160 MiB":   {5 * time.Second, 160 * mib, 30 * time.Second, time.Minute},
		"an exit at 350 MiB":        {10 * time.Second, 350 * mib, 20 * time.Second, 2 * time.Minute},
		"a join at 450 MiB":         {30 * time.Second, 450 * mib, time.Minute, 3 * time.Minute},
		"no size makes it for ever": {time.Second, math.MaxInt64, 3 * time.Minute, 4 * time.Minute},
	}
	for name, test := range tests {
		got := Patience(test.base, test.size)
		assert.GreaterOrEqual(t, got, test.least, name)
		assert.LessOrEqual(t, got, test.max, name)
	}
}
