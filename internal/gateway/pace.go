package gateway

import "time"

// What is written waits for ovn-northd after each batch, and so do all clients' changes, for as
// long as ovn-northd takes. That is to be no longer than this, or than twice what it takes for a
// single change: in a large cloud each takes longer than any fixed time.
const (
	othersWait   = 2 * time.Second
	slowerFactor = 2
)

// Bounds of a batch. Measured with ovn-northd 23.03 and 10,000 routers: it takes 6.2 s after
// 1 gateway, 6.9 s after 100 and 15 s after 1,000.
// Smaller batches than the smallest would cost others more than they spare them: most of what
// ovn-northd takes, it takes for any change, and where its machine gets busy that looks as if
// the gateways had cost it (seen: batches of 10, each of which took 6 to 18 s).
const (
	firstBatch    = 100
	mostAtFirst   = 500
	smallestBatch = 50
	largestBatch  = 2000
)

// pace is how many gateways are written in one transaction: more while ovn-northd keeps up, fewer
// once it falls behind. It is told how long ovn-northd took for each batch.
type pace struct {
	size int
	// quickest is the least that ovn-northd took: what a change takes it at all.
	quickest time.Duration
}

// next is the size of the next batch. What a gateway costs is not known of the first one: it is larger where
// ovn-northd takes longer for any change than others are to wait, since there gateways are the lesser part.
func (p *pace) next() int {
	if p.size == 0 {
		return min(max(firstBatch, int(firstBatch*p.quickest/othersWait)), mostAtFirst)
	}
	return p.size
}

// target is how long ovn-northd may take for a batch.
func (p *pace) target() time.Duration {
	return max(othersWait, slowerFactor*p.quickest)
}

// took is told how long ovn-northd took for a batch of so many gateways, or for a sign of life
// alone, which is none. The next batch is as large as fits into the target by what these have
// cost, but no more than twice as large as before, and no less than a quarter of this one.
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
	if gateways < p.next() { // the last of a plan does not show that a full one would do
		most = p.next()
	}
	p.size = min(max(min(fits, most), gateways/4, smallestBatch), largestBatch)
}
