package plan

import "slices"

// Rules returns the names of all rules, in the order of the table, and the names of those that have a step.
func Rules() (names, steps []string) {
	for _, r := range rules {
		names = append(names, r.name)
		if r.step != nil {
			steps = append(steps, r.name)
		}
	}
	return names, steps
}

// Outranking returns the rules that are meant to precede the next rule of their subject.
func Outranking() (names []string) {
	for _, r := range rules {
		if r.outranks {
			names = append(names, r.name)
		}
	}
	return names
}

// Overlapping returns the rules that hold in a state together with the next rule of their subject.
func Overlapping(s State) (names []string) {
	w, unit := walk{mode: s.mode()}, look(s, &Decision{})
	views := append(unit.databases, unit)
	for i := range rules {
		r := &rules[i]
		next := slices.IndexFunc(rules[i+1:], func(n rule) bool { return n.of == r.of && !n.more })
		if r.of == "" || r.more || next < 0 {
			continue
		}
		n := &rules[i+1+next]
		for _, v := range views {
			if r.perDatabase() == (v.db != "") && !w.skips(r, v.db) && !w.skips(n, v.db) && r.when(v) && n.when(v) {
				names = append(names, r.name)
			}
		}
	}
	return names
}
