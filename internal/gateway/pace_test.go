package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// northd is an ovn-northd that takes base, and each for every gateway.
type northd struct{ base, each time.Duration }

func (n northd) takes(gateways int) time.Duration { return n.base + time.Duration(gateways)*n.each }

// played writes gateways at the pace. It returns how long ovn-northd took in all, and for the slowest batch.
func played(gateways int, at northd) (all, slowest time.Duration, batches int) {
	var p pace
	p.took(0, at.takes(0))
	for gateways > 0 {
		n := min(p.next(), gateways)
		d := at.takes(n)
		p.took(n, d)
		gateways, all, slowest = gateways-n, all+d, max(slowest, d)
		batches++
	}
	return all, slowest, batches
}

func TestPace_follows_northd(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		northd northd
		// atMost bounds the time of the slowest batch, fewer the number of batches.
		atMost time.Duration
		fewer  int
		third  bool
	}{
		"a small cloud":        {northd{20 * time.Millisecond, 100 * time.Microsecond}, othersWait, 10, false},
		"as was measured":      {northd{6200 * time.Millisecond, 9 * time.Millisecond}, 12600 * time.Millisecond, 20, true},
		"one that is too slow": {northd{time.Second, 50 * time.Millisecond}, 7 * time.Second, 600, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all, slowest, batches := played(10_000, x.northd)
			t.Logf("%d batches, slowest %s, in all %s; in batches of 100: %s", batches, slowest, all, 100*x.northd.takes(100))
			assert.LessOrEqual(t, slowest, x.atMost)
			assert.LessOrEqual(t, batches, x.fewer)
			if x.third { // the requirement: a third of the time that batches of 100 take
				assert.LessOrEqual(t, 3*all, 100*x.northd.takes(100))
			}
		})
	}
}

func TestPace_shrinks_and_grows(t *testing.T) {
	t.Parallel()
	var p pace
	p.took(0, 100*time.Millisecond)
	for range 10 {
		p.took(p.next(), 100*time.Millisecond)
	}
	assert.Equal(t, largestBatch, p.next())
	p.took(p.next(), 3*time.Second)
	assert.Equal(t, 1310, p.next(), "longer than others are to wait: as many as fit")
	p.took(p.next(), time.Minute)
	assert.Equal(t, 1310/4, p.next(), "much longer")
	for range 20 {
		p.took(p.next(), time.Minute)
	}
	assert.Equal(t, smallestBatch, p.next(), "never nothing")
	p.took(p.next(), 100*time.Millisecond)
	assert.Equal(t, 2*smallestBatch, p.next())
	p.took(5, 100*time.Millisecond)
	assert.Equal(t, 2*smallestBatch, p.next(), "the last of a plan says nothing")
}

// The drain of one of 200 chassis, each with 50 gateways of 5 candidates, is one batch.
func TestPace_first_batch(t *testing.T) {
	t.Parallel()
	for takes, size := range map[time.Duration]int{
		0: 100, 100 * time.Millisecond: 100, 2 * time.Second: 100, 6200 * time.Millisecond: 310, time.Minute: 500,
		time.Hour: 500,
	} {
		var p pace
		p.took(0, takes)
		assert.Equal(t, size, p.next(), "%s", takes)
	}
}
