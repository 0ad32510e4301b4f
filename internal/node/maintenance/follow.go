package maintenance

import "time"

// goOnAfter is how long the command that began a drain may be without progress until the agent
// goes on with it. The command may be alive and slow, as where ovn-northd takes longer than this
// for a batch: that is safe, since each batch is one transaction that fails where a row is no longer
// as it was planned from, and the ranks before are those of the first that was written. Two that write at
// the same time only hinder each other.
const goOnAfter = 10 * time.Second

// Follower says when a drain is gone on with by a process that did not begin it. It is told of
// every look, in the order of time.
type Follower struct {
	known bool
	left  int
	since time.Duration
}

// Look is told how many gateways are left to be written. It says whether to go on now: where
// some came back to a node that had none left, and where there was no progress for a while.
// Otherwise next is when to look again; 0 is only when something changes.
func (f *Follower) Look(left int, now time.Duration) (due bool, next time.Duration) {
	before, known := f.left, f.known
	f.known, f.left = true, left
	switch {
	case left == 0:
		return false, 0
	case known && before == 0: // Neutron goes on choosing the node
		f.since = now
		return true, 0
	case !known || left < before:
		f.since = now
	case now-f.since >= goOnAfter:
		f.since = now
		return true, 0
	}
	return false, f.since + goOnAfter
}

// Stalled says that the drain has been without progress for long, though something is left.
func (w *Watch) Stalled(p Progress, now time.Time) bool {
	return !p.Done() && !p.Ended && now.Sub(w.changed) >= stalledAfter
}

// Bounds of the pause before a sign of life is asked for again: each makes ovn-northd compute
// everything anew.
const (
	firstRecheck = 5 * time.Second
	lastRecheck  = 10 * time.Minute
)

// Recheck says when a drain asks every ovn-controller for a sign of life once more: where gateways
// are on no chassis for longer than a failover takes (up to 4 s), the one that they were moved to may
// have died since. It is told of every look, in the order of time.
type Recheck struct {
	since time.Time
	pause time.Duration
}

// Due is told where the drain is at now, and says whether to ask.
func (r *Recheck) Due(p Progress, now time.Time) bool {
	switch {
	case len(p.Unbound) == 0:
		*r = Recheck{}
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
