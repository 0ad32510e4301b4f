package drift

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

const (
	// A gateway whose changes are undone undoneLimit times within undoneWindow is left alone for leftFor: the client that
	// undoes them may have another configuration by then.
	undoneLimit  = 2
	undoneWindow = time.Hour
	leftFor      = 24 * time.Hour
)

// Journal has the recorded changes by row. People, drains and agents record their changes; Neutron does not.
type Journal map[string][]schedule.AppliedChange

// Undone finds the gateways whose changes another client undoes.
type Undone struct {
	written map[string]wrote
	times   map[string][]time.Duration
	left    map[string]time.Duration // when each group was left alone
}

type wrote struct {
	candidates []schedule.Candidate
	before     map[string]bool
}

// Wrote records the candidates that were written for a group; before has the rows that the journal had until then.
func (u *Undone) Wrote(group schedule.Group, before map[string]bool) {
	if u.written == nil {
		u.written, u.times, u.left = map[string]wrote{}, map[string][]time.Duration{}, map[string]time.Duration{}
	}
	u.written[group.Name] = wrote{best(group.Candidates), before}
}

// Suspects reports whether a group differs from what was written. [Undone.Observe] needs the journal to judge why.
func (u *Undone) Suspects(groups []schedule.Group) bool {
	return slices.ContainsFunc(groups, u.differs)
}

func (u *Undone) differs(g schedule.Group) bool {
	w, ours := u.written[g.Name]
	return ours && !slices.Equal(w.candidates, best(g.Candidates))
}

func best(candidates []schedule.Candidate) []schedule.Candidate {
	return slices.SortedFunc(slices.Values(candidates), func(a, b schedule.Candidate) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Chassis, b.Chassis))
	})
}

// Rows returns the set of the journal's rows.
func (j Journal) Rows() map[string]bool {
	all := map[string]bool{}
	for row := range j {
		all[row] = true
	}
	return all
}

// Observe compares groups with what was written for them. It returns the groups that are left alone from now on, and
// those that no longer are. A change that is in the journal does not count as Neutron's.
func (u *Undone) Observe(groups []schedule.Group, journal Journal, now time.Duration) (left, again []string) {
	for _, name := range slices.Sorted(maps.Keys(u.left)) {
		if now-u.left[name] >= leftFor {
			delete(u.left, name)
			delete(u.times, name)
			again = append(again, name)
		}
	}
	for _, g := range groups {
		if !u.differs(g) {
			continue
		}
		was := u.written[g.Name]
		delete(u.written, g.Name)
		if journal.records(g.Name, was) {
			continue
		}
		times := append(u.times[g.Name], now)
		for now-times[0] > undoneWindow {
			times = times[1:]
		}
		u.times[g.Name] = times
		if _, already := u.left[g.Name]; len(times) >= undoneLimit && !already {
			u.left[g.Name] = now
			left = append(left, g.Name)
		}
	}
	return left, again
}

// records reports whether a new row of the journal records a change of the written candidates.
func (j Journal) records(group string, was wrote) bool {
	for row, changes := range j {
		if !was.before[row] && slices.ContainsFunc(changes, func(c schedule.AppliedChange) bool {
			return c.Group == group && slices.Equal(best(c.Before), was.candidates)
		}) {
			return true
		}
	}
	return false
}

// Left reports whether the group is left alone.
func (u *Undone) Left(group string) bool {
	_, left := u.left[group]
	return left
}
