package recovery

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Progress returns a line for each recovery or restore of the database that is not finished, by what this unit knows
// of all units.
func (s State) Progress() (lines []string) {
	all := s.standing()
	for _, unit := range slices.Sorted(maps.Keys(all)) {
		r := all[unit]
		what := "recover on " + unit
		if r.Backup != "" {
			what = "restore of " + r.Backup + " on " + unit
		}
		line := fmt.Sprintf("%s: %s, asked at %s", s.Database.Short(), what, r.Asked.Format(time.RFC3339))
		if len(r.GivenUp) > 0 {
			line += ", gives up " + strings.Join(r.GivenUp, ", ")
		}
		if accepted, _, is := s.accepted(all); !is || accepted != unit {
			line += "; Juju's leader has not accepted it"
		}
		if r.New != "" {
			line += fmt.Sprintf("; the new cluster %s is made, and not published yet", r.New.Brief())
		}
		lines = append(lines, line)
	}
	return lines
}
