package drift

import (
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Where what was done is undone so often in so long a time, it is left.
const (
	undoneLimit  = 2
	undoneWindow = time.Hour
)

// Undone knows where another client undoes what was done.
type Undone struct {
	written map[string]string
	times   map[string][]time.Duration
	left    map[string]bool
}

// Wrote notes what was written of a group.
func (u *Undone) Wrote(group schedule.Group) {
	if u.written == nil {
		u.written = map[string]string{}
	}
	u.written[group.Name] = Key(group)
}

// Observe compares groups with what was written of them, and returns those that are left
// from now on.
func (u *Undone) Observe(groups []schedule.Group, now time.Duration) (left []string) {
	for _, g := range groups {
		written, ours := u.written[g.Name]
		if !ours || written == Key(g) {
			continue
		}
		delete(u.written, g.Name)
		if u.times == nil {
			u.times, u.left = map[string][]time.Duration{}, map[string]bool{}
		}
		times := append(u.times[g.Name], now)
		for now-times[0] > undoneWindow {
			times = times[1:]
		}
		u.times[g.Name] = times
		if len(times) >= undoneLimit && !u.left[g.Name] {
			u.left[g.Name] = true
			left = append(left, g.Name)
		}
	}
	return left
}

// Left says whether the group is left alone.
func (u *Undone) Left(group string) bool { return u.left[group] }
