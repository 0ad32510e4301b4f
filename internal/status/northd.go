package status

import (
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// NorthdReports are how the other units' ovn-northd are, by their own reports, as far as these count: those of units
// that are up.
func NorthdReports(r observe.Report) []plan.NorthdReport {
	var all []plan.NorthdReport
	for _, unit := range r.Application.Others() {
		p := r.Application.Peers[unit]
		report := plan.NorthdReport{Unit: unit}
		switch member, up := memberOf(r, unit); {
		case member && !up:
			report.Known = true
		case member && p.State.Hostname != "": // else it is of a charm that reports none
			report.Known, report.Health = true, ovndb.NorthdHealth(p.State.Northd)
		}
		all = append(all, report)
	}
	return all
}

// memberOf reports whether a unit has a member, as this unit's servers see it, and whether one of its members is up.
func memberOf(r observe.Report, unit string) (member, up bool) {
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Owner.Unit == unit {
				member, up = true, up || row.Runs()
			}
		}
	}
	return member, up
}

// NorthdReport says, a line for each unit, how its ovn-northd is: this unit's now, the
// others' as of their last hook; and what is to be done about this unit's.
func NorthdReport(own ovndb.NorthdHealth, r observe.Report, n plan.Northd) (lines, warnings, next []string) {
	m := r.Application
	lines = append(lines, fmt.Sprintf("%s: %s", m.Unit, own))
	for _, report := range NorthdReports(r) {
		switch member, up := memberOf(r, report.Unit); {
		case member && !up:
			lines = append(lines, report.Unit+": not known (its members are down)")
		case report.Known && report.Health != "":
			lines = append(lines, fmt.Sprintf("%s: %s (as of its last hook)", report.Unit, report.Health))
		case report.Known:
			lines = append(lines, report.Unit+": not reported as working (as of its last hook)")
		default:
			lines = append(lines, report.Unit+": not known")
		}
	}
	restart := m.Version.Render(juju.Command{Unit: m.Unit, Action: "restart-services", Params: []juju.Param{{Key: "services", Value: string(ovndb.Northd)}}})
	elsewhere := n.Found == plan.NorthdActive && n.Unit != m.Unit
	switch {
	case elsewhere && own == ovndb.NorthdUnresponsive:
		warnings = append(warnings, "ovn-northd: this unit's does not answer; another unit's is active")
		next = append(next, restart)
	case elsewhere && !slices.Contains([]ovndb.NorthdHealth{ovndb.NorthdActive, ovndb.NorthdStandby, ovndb.NorthdDown, ovndb.NorthdHeld}, own):
		warnings = append(warnings, fmt.Sprintf("ovn-northd: this unit's is %q; another unit's works", own))
	case elsewhere || own == ovndb.NorthdActive:
	case own == ovndb.NorthdHeld && n.Found == plan.NorthdNone:
		warnings = append(warnings, "ovn-northd: no unit reports a working one, and this unit's is held: changes do not reach the networks")
		next = append(next, m.Version.Render(juju.Command{Unit: m.Unit, Action: "release-northd"}))
	case own == ovndb.NorthdUnresponsive && n.Standby: // the lock is its until its connection ends
		warnings = append(warnings, "ovn-northd: this unit's does not answer and may be the active one; no other unit reports an active one")
		next = append(next, restart)
	case own == ovndb.NorthdUnresponsive:
		warnings = append(warnings, "ovn-northd: no unit reports a working one, and this unit's does not answer")
		next = append(next, restart)
	case n.Found == plan.NorthdNone && (n.Standby || own == ovndb.NorthdStandby):
		warnings = append(warnings, "ovn-northd: none is active; another may take over within two inactivity probes")
	case n.Found == plan.NorthdNone || !own.Works():
		warnings = append(warnings, "ovn-northd: no unit reports a working one; see docs/how-to/when-a-unit-is-blocked-or-waits.md")
	}
	return lines, warnings, next
}
