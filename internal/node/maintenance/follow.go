package maintenance

import "time"

// goOnAfter is how long the command that began a drain may be without progress until the agent
// goes on with it: two that write at the same time only hinder each other.
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
