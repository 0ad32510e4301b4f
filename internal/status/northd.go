package status

import (
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

// NorthdReports returns the other units' reports on their ovn-northd. Only reports of units that are up count.
func NorthdReports(r observe.Report) []plan.NorthdReport {
	var all []plan.NorthdReport
	for _, unit := range r.Application.Others() {
		p := r.Application.Peers[unit]
		report := plan.NorthdReport{Unit: unit, Heard: p.State.NorthdHeard[r.Application.Unit]}
		member, up := memberOf(r, unit)
		report.Up = up
		switch {
		case member && !up:
			report.Known = true
		case member && p.State.Hostname != "": // without a host name its charm does not report
			report.Known, report.Health = true, ovndb.NorthdHealth(p.State.Northd)
		}
		all = append(all, report)
	}
	return all
}

// memberOf reports whether a unit has a member, and whether one of its members is up.
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

// Northds returns a line for each unit: the state of its ovn-northd, for other units as of their last hook.
func Northds(own ovndb.NorthdHealth, r observe.Report) []string {
	all := []string{fmt.Sprintf("%s: %s", r.Application.Unit, own)}
	for _, report := range NorthdReports(r) {
		switch member, up := memberOf(r, report.Unit); {
		case member && !up:
			all = append(all, report.Unit+": not known (its members are down)")
		case report.Known && report.Health != "":
			all = append(all, fmt.Sprintf("%s: %s (as of its last hook)", report.Unit, report.Health))
		case report.Known:
			all = append(all, report.Unit+": not reported as working (as of its last hook)")
		default:
			all = append(all, report.Unit+": not known")
		}
	}
	return all
}
