package status

import (
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// NorthdReport says, a line for each unit, how its ovn-northd is: this unit's now, the
// others' as of their last hook; and what is to be done about this unit's.
func NorthdReport(own ovndb.NorthdHealth, m observe.Application) (lines, warnings, next []string) {
	works, active := own.Works(), own == ovndb.NorthdActive
	lines = append(lines, fmt.Sprintf("%s: %s", m.Unit, own))
	for _, unit := range m.Others() {
		how := m.Peers[unit].State.Northd
		active = active || how == string(ovndb.NorthdActive)
		if works = works || how != ""; how == "" {
			how = "not reported as working"
		}
		lines = append(lines, fmt.Sprintf("%s: %s (as of its last hook)", unit, how))
	}
	restart := m.Version.Render(juju.Command{Unit: m.Unit, Action: "restart-services", Params: []juju.Param{{Key: "services", Value: string(ovndb.Northd)}}})
	switch {
	case !works && own == ovndb.NorthdHeld:
		warnings = append(warnings, "ovn-northd: no unit reports a working one, and this unit's is held: changes do not reach the networks")
		next = append(next, m.Version.Render(juju.Command{Unit: m.Unit, Action: "release-northd"}))
	case !works && own == ovndb.NorthdUnresponsive:
		warnings = append(warnings, "ovn-northd: no unit reports a working one, and this unit's does not answer")
		next = append(next, restart)
	case !works:
		warnings = append(warnings, "ovn-northd: no unit reports a working one; see docs/how-to/when-a-unit-is-blocked-or-waits.md")
	case own == ovndb.NorthdUnresponsive && !active: // the lock is its until its connection ends
		warnings = append(warnings, "ovn-northd: this unit's does not answer and may be the active one; no other unit reports an active one")
		next = append(next, restart)
	case own == ovndb.NorthdUnresponsive:
		warnings = append(warnings, "ovn-northd: this unit's does not answer; another unit's is active")
		next = append(next, restart)
	case !own.Works() && own != ovndb.NorthdDown && own != ovndb.NorthdHeld:
		warnings = append(warnings, fmt.Sprintf("ovn-northd: this unit's is %q; another unit's works", own))
	}
	return lines, warnings, next
}
