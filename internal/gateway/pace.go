package gateway

import "time"

const (
	// While ovn-northd processes a batch, the changes of all clients wait. They wait at most othersWait, or slowerFactor
	// times as long as for a single change, which in a large cloud takes longer than any fixed time.
	othersWait   = 2 * time.Second
	slowerFactor = 2
)

const (
	// The bounds of a batch. Measured with ovn-northd 23.03 and 10,000 routers: it takes 6.2 s after 1 gateway, 6.9 s
	// after 100 and 15 s after 1,000. Smaller batches would cost other clients more than they save. ovn-northd takes most
	// of its time for any change, and on a busy machine that looks like the cost of the gateways (seen: batches of 10 that
	// took 6 to 18 s each).
	firstBatch    = 100
	mostAtFirst   = 500
	smallestBatch = 50
	largestBatch  = 2000
)

// pace decides how many gateways one transaction has, from the time that ovn-northd took for earlier batches.
type pace struct {
	size int
	// quickest is the shortest time that ovn-northd took: the time that any change takes.
	quickest time.Duration
}

// next returns the size of the next batch. The first one is larger if ovn-northd takes longer than othersWait for any
// change: then gateways are the smaller part of the cost.
func (p *pace) next() int {
	if p.size == 0 {
		return min(max(firstBatch, int(firstBatch*p.quickest/othersWait)), mostAtFirst)
	}
	return p.size
}

func (p *pace) target() time.Duration {
	return max(othersWait, slowerFactor*p.quickest)
}

// took records how long ovn-northd took for a batch; a sign of life has 0 gateways. The next batch is as large as fits
// into the target at that cost per gateway, at most twice as large as the last full one, and at least a quarter of this
// one.
func (p *pace) took(gateways int, d time.Duration) {
	if p.quickest == 0 || d < p.quickest {
		p.quickest = d
	}
	if gateways == 0 {
		return
	}
	fits := largestBatch
	if cost := d - p.quickest; cost > 0 {
		fits = int(min(float64(largestBatch), float64(gateways)*float64(p.target()-p.quickest)/float64(cost)))
	}
	most := 2 * p.next()
	if gateways < p.next() { // the last batch of a plan does not show that a full one would do
		most = p.next()
	}
	p.size = min(max(min(fits, most), gateways/4, smallestBatch), largestBatch)
}
