package schedule

import (
	"cmp"
	"slices"
)

func ranked(candidates []Candidate) []Candidate {
	sorted := slices.Clone(candidates)
	slices.SortFunc(sorted, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(b.Chassis, a.Chassis))
	})
	return sorted
}

func filter[T any](all []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(x T) bool { return !keep(x) })
}

func without[T comparable](all []T, one T) []T {
	return filter(all, func(x T) bool { return x != one })
}

func distinct(names []string) (all []string) {
	for _, name := range names {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// dense reports whether the priorities are n to 1, as Neutron writes them.
func dense(sorted []Candidate) bool {
	for i, c := range sorted {
		if c.Priority != len(sorted)-i {
			return false
		}
	}
	return true
}

// prioritized assigns priorities to chassis, given best first, such that few rows change. The priorities are n to 1 if
// they were so before. Otherwise a chassis that stays keeps its priority, and a chassis that replaces another one takes
// over its priority.
func prioritized(before []Candidate, order []string) []Candidate {
	sorted := ranked(before)
	after := make([]Candidate, len(order))
	for i, chassis := range order {
		after[i] = Candidate{chassis, len(order) - i}
	}
	if dense(sorted) {
		return after
	}
	kept := sorted
	if len(order) < len(sorted) {
		kept = filter(kept, func(c Candidate) bool { return slices.Contains(order, c.Chassis) })
	}
	sparse := slices.Clone(after)
	for i := range sparse {
		switch {
		case i < len(kept):
			sparse[i].Priority = kept[i].Priority
		case i > 0:
			sparse[i].Priority = sparse[i-1].Priority - 1
		}
		if sparse[i].Priority < 0 || i > 0 && sparse[i].Priority >= sparse[i-1].Priority {
			return after // no room between priorities, or two were the same
		}
	}
	return sparse
}

// Ranked returns the chassis of candidates, best first.
func Ranked(candidates []Candidate) []string { return chassisOf(ranked(candidates)) }

// Ranked returns the chassis of the candidates, best first.
func (g Group) Ranked() []string { return Ranked(g.Candidates) }

// Mastered returns the groups that have the chassis as their first candidate, sorted.
func (s State) Mastered(chassis string) (names []string) {
	for _, g := range s.Groups {
		if order := g.Ranked(); len(order) > 0 && order[0] == chassis {
			names = append(names, g.Name)
		}
	}
	slices.Sort(names)
	return names
}
