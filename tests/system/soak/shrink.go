package soak

import "slices"

// Shrink is delta debugging (Zeller and Hildebrandt, ddmin) on the steps of a
// schedule: it returns one that fails, of which none of the steps that it still
// tried could be taken away. fails runs a schedule; it says false too once there
// is no more time. What happens at the same time as a step, and the number of
// units, are tried last.
func Shrink(s Schedule, fails func(Schedule) bool) Schedule {
	for parts := 2; len(s.Steps) > 1; {
		size := (len(s.Steps) + parts - 1) / parts
		shorter := false
		for from := 0; from < len(s.Steps); from += size {
			try := s
			try.Steps = slices.Delete(slices.Clone(s.Steps), from, min(from+size, len(s.Steps)))
			if fails(try) {
				s, shorter = try, true
				break
			}
		}
		switch {
		case shorter:
			parts = max(parts-1, 2)
		case size == 1:
			return simplify(s, fails)
		default:
			parts = min(2*parts, len(s.Steps))
		}
	}
	return simplify(s, fails)
}

func simplify(s Schedule, fails func(Schedule) bool) Schedule {
	for i := range s.Steps {
		for with := len(s.Steps[i].With) - 1; with >= 0; with-- {
			try := s
			try.Steps = slices.Clone(s.Steps)
			try.Steps[i].With = slices.Delete(slices.Clone(s.Steps[i].With), with, with+1)
			if fails(try) {
				s = try
			}
		}
	}
	return s
}
