package status

import (
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
)

// NorthdReport says, a line for each unit, how its ovn-northd is: this unit's now, the
// others' as of their last hook.
func NorthdReport(own ovndb.NorthdHealth, m observe.Application) (lines, warnings []string) {
	works := own.Works()
	lines = append(lines, fmt.Sprintf("%s: %s", m.Unit, own))
	for _, unit := range m.Others() {
		published, _ := relation.ParseUnitState(m.Data[unit].Values())
		how := published.Northd
		if works = works || how != ""; how == "" {
			how = "not known to work"
		}
		lines = append(lines, fmt.Sprintf("%s: %s (as of its last hook)", unit, how))
	}
	switch {
	case !works:
		warnings = append(warnings, "ovn-northd: none is known to work; see docs/how-to/when-a-unit-is-blocked-or-waits.md")
	case !own.Works() && own != ovndb.NorthdDown:
		warnings = append(warnings, fmt.Sprintf("ovn-northd: this unit's is %q; another unit's works", own))
	}
	return lines, warnings
}
