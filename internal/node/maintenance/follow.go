package maintenance

import "time"

// goOnAfter is how long the command that began a drain may make no progress until the agent continues the drain. The
// command may still run, for instance if ovn-northd takes longer for a batch. That is safe: each batch is a transaction
// that fails if its rows have changed since it was planned, and the ranks to put back are those before the first batch.
const goOnAfter = 10 * time.Second

// follower decides when a process that did not begin a drain continues it. It needs every look, in order of time.
type follower struct {
	known bool
	left  int
	since time.Time
}

// look takes how many gateways are left, and reports whether to continue now: gateways came back to a node that had
// none left, or there was no progress for a while. Otherwise next is when to look again; zero if only a change needs
// that.
func (f *follower) look(left int, now time.Time) (due bool, next time.Time) {
	before, known := f.left, f.known
	f.known, f.left = true, left
	switch {
	case left == 0:
		return false, time.Time{}
	case known && before == 0: // Neutron keeps choosing the node
		f.since = now
		return true, time.Time{}
	case !known || left < before:
		f.since = now
	case now.Sub(f.since) >= goOnAfter:
		f.since = now
		return true, time.Time{}
	}
	return false, f.since.Add(goOnAfter)
}

// Bounds of the pause between signs of life: each makes ovn-northd compute everything again.
const (
	firstRecheck = 5 * time.Second
	lastRecheck  = 10 * time.Minute
)

// recheck decides when a drain asks every ovn-controller for another sign of life: the chassis that got gateways may
// have died if these are on no chassis for longer than a failover takes (up to 4 s). It needs every look, in order of
// time.
type recheck struct {
	since time.Time
	pause time.Duration
}

func (r *recheck) due(p Progress, now time.Time) bool {
	switch {
	case len(p.Unbound) == 0:
		*r = recheck{}
		return false
	case r.since.IsZero():
		r.since, r.pause = now, firstRecheck
		return false
	case now.Sub(r.since) < r.pause:
		return false
	}
	r.since, r.pause = now, min(2*r.pause, lastRecheck)
	return true
}
