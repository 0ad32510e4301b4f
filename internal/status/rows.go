package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/present"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// unknown is shown in a table if this unit can't know the value.
const unknown = "?"

// Rows returns the table of cluster-status: the units in their order, then the members without a unit. The state of
// another unit's ovn-northd is as of its last hook, and unknown if its members are down. found is the judgement on all.
func Rows(r observe.Report, northd ovndb.NorthdHealth, found plan.NorthdFinding) []present.Row {
	m := r.Application
	at := map[string]int{}
	none, judged := emptyRow(r)
	var rows []present.Row
	row := func(name string) *present.Row {
		i, found := at[name]
		if !found {
			i = len(rows)
			at[name] = i
			rows = append(rows, none)
			rows[i].Unit = name
		}
		return &rows[i]
	}
	units := slices.SortedFunc(slices.Values(append(m.Others(), m.Unit)), unitname.Compare)
	for _, unit := range units {
		row(unit)
	}
	up := map[string]int{}
	for _, c := range r.Clusters {
		if c.Condition != ovndb.Serving {
			*cell(row(m.Unit), c.Database) = string(c.Condition)
			continue
		}
		for _, member := range c.Rows {
			name := rowName(member)
			x := row(name)
			x.Address = ovndb.HostOf(member.Address)
			*cell(x, c.Database) = role(c, member, healthOf(c, m) == working)
			if member.Up {
				up[name]++
			}
		}
	}
	for i := range rows {
		x := &rows[i]
		x.Up = upWord(up[x.Unit], x.Unit == m.Unit || judged == len(ovndb.Databases()))
		switch {
		case x.Unit == m.Unit:
			x.Northd = northdWord(northd)
		case up[x.Unit] > 0:
			x.Northd = publishedNorthd(m.Peers[x.Unit].State.Northd, found)
		}
	}
	return rows
}

// emptyRow returns the row of a unit without a member. judged is the number of clusters that work according to this
// unit's view.
func emptyRow(r observe.Report) (row present.Row, judged int) {
	row = present.Row{Address: unknown, NB: "-", SB: "-", Northd: unknown}
	for _, c := range r.Clusters {
		if healthOf(c, r.Application) == working {
			judged++
		}
		if !c.Member() {
			*cell(&row, c.Database) = unknown
		}
	}
	return row, judged
}

func rowName(member observe.Row) string {
	if member.Owner.Unit == "" && member.Owner.Was != "" {
		return "(was " + member.Owner.Was + ")"
	}
	return cmp.Or(member.Owner.Unit, member.Short+" (unknown unit)")
}

// upWord returns the word for a unit by the number of its members that are up. It is unknown if they were not judged:
// this unit may be cut off.
func upWord(up int, judged bool) string {
	switch {
	case up == len(ovndb.Databases()):
		return "yes"
	case !judged:
		return unknown
	case up > 0:
		return "half"
	}
	return "no"
}

// publishedNorthd returns the word for another unit's ovn-northd. It is not "active" if none is active.
func publishedNorthd(state ovndb.NorthdHealth, found plan.NorthdFinding) string {
	if state == "" || found == plan.NorthdNone && state == ovndb.NorthdActive {
		return unknown
	}
	return northdWord(state)
}

func northdWord(h ovndb.NorthdHealth) string {
	switch h {
	case ovndb.NorthdActive, ovndb.NorthdStandby, ovndb.NorthdPaused, ovndb.NorthdDown:
		return string(h)
	case ovndb.NorthdHeld:
		return "held"
	case ovndb.NorthdUnresponsive:
		return "hangs"
	}
	return "no database"
}

func cell(x *present.Row, db ovndb.Database) *string {
	if db == ovndb.NB {
		return &x.NB
	}
	return &x.SB
}

func role(c observe.Cluster, member observe.Row, judged bool) string {
	switch {
	case member.Self && c.Status.State == raft.JoiningCluster:
		return "joining"
	case !member.Runs() && !member.Self && !judged:
		return "no answer"
	case !member.Runs() && !member.Self:
		return "down"
	case string(c.Status.Leader) == member.Short || member.Self && c.Status.Role == raft.Leader:
		return "leader"
	case member.Self && !c.Status.HasLeader():
		return "no leader"
	}
	return "follower"
}

// ClientCounts returns a line for each database: the number of clients of each member, ordered by unit.
func ClientCounts(r observe.Report) []string {
	var all []string
	for _, c := range r.Clusters {
		var members []string
		for _, row := range slices.SortedStableFunc(slices.Values(c.Rows), byUnit) {
			switch {
			case row.Clients == nil:
				members = append(members, row.Label()+" not known")
			case row.Self:
				members = append(members, fmt.Sprintf("%s %d", row.Label(), *row.Clients))
			default:
				members = append(members, fmt.Sprintf("%s about %d (as of its last hook)", row.Label(), *row.Clients))
			}
		}
		if len(members) == 0 {
			members = []string{"not known"}
		}
		all = append(all, c.Database.Short()+": "+strings.Join(members, ", "))
	}
	return all
}

func byUnit(a, b observe.Row) int {
	if a.Owner.Unit == "" || b.Owner.Unit == "" {
		return strings.Compare(b.Owner.Unit, a.Owner.Unit)
	}
	return unitname.Compare(a.Owner.Unit, b.Owner.Unit)
}

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
			report.Known, report.Health = true, p.State.Northd
		}
		all = append(all, report)
	}
	return all
}

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
			all = append(all, report.Unit+": "+finding.Reason{Code: finding.UnknownMembersDown}.String())
		case report.Known && report.Health != "":
			all = append(all, fmt.Sprintf("%s: %s (as of its last hook)", report.Unit, report.Health))
		case report.Known:
			all = append(all, report.Unit+": "+finding.Reason{Code: finding.NotReported}.String())
		default:
			all = append(all, report.Unit+": not known")
		}
	}
	return all
}
