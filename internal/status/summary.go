package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/raft"
	"github.com/ovn-central/ovn-central-operator/internal/unitname"
)

// ready is what the messages of an active unit begin with. Programs wait for it, as
// they did with the Python charm (wait_for_application_states of zaza's model.py).
const ready = "Unit is ready ("

// Ready is the message of an active unit; text says more of it, in brackets.
func Ready(text string) string { return ready + text + ")" }

// Summary is what a unit says of its clusters in its workload status.
type Summary struct {
	Word juju.StatusWord
	// Problem is the most pressing thing; "" where there is none.
	Problem string
	// Health is what the unit leads, how many members are up and how many more may
	// fail; "" where its servers do not work.
	Health string
}

// String is one line, the problem first.
func (s Summary) String() string {
	if s.Problem == "" || s.Health == "" {
		return s.Problem + s.Health
	}
	return s.Problem + "; " + s.Health
}

// Summarize is one word and one line for the unit's workload status. Whether this
// unit's ovn-northd is the active one stands in the line as the Python charm put it
// there, for runbooks look for that.
func Summarize(r observe.Report, northdActive bool) Summary {
	if r.Application.Goes() { // servers that have stopped by now hold up no unit
		return Summary{Word: juju.Waiting, Problem: "every unit is being removed"}
	}
	if foreign := foreignClusters(r); len(foreign) > 0 {
		return Summary{Word: juju.Blocked, Problem: strings.Join(foreign, "; ")}
	}
	if word, text := firstProblem(r); text != "" {
		return Summary{Word: word, Problem: text}
	}
	said := Summary{Word: juju.Active, Health: healthyText(r, northdActive)}
	for _, pressing := range []func(observe.Report) string{blockedLeaves, notInNewClusterText, staleText, membersDown, supersedesItselfText} {
		if said.Problem = pressing(r); said.Problem != "" {
			break
		}
	}
	return said
}

// blockedLeaves is the first unit that is being removed and may not leave yet,
// and why: Juju itself shows only that its hook failed.
func blockedLeaves(r observe.Report) string {
	for _, unit := range slices.SortedFunc(maps.Keys(r.Application.Goal), unitname.Compare) {
		if unit == r.Application.Unit || !r.Application.Dying(unit) {
			continue
		}
		if text := blockedLeave(r, unit); text != "" {
			return text
		}
	}
	return ""
}

// blockedLeave judges the leave of another unit in both databases: what to do about
// it, led by the command.
func blockedLeave(r observe.Report, unit string) string {
	var refusals []*raft.Refusal
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Owner.Unit != unit {
				continue
			}
			plan := raft.PlanLeave(raft.Change{Database: c.Database, View: c.View, Target: row.Longest()})
			if plan.Refusal != nil {
				refusals = append(refusals, plan.Refusal)
			}
		}
	}
	by, lead := changedByAnother(viewsOf(r), r.Application.Unit), unit+" waits to leave"
	blocked := slices.ContainsFunc(refusals, func(f *raft.Refusal) bool { return len(f.Blockers) > 0 })
	switch {
	case len(refusals) == 0 || by == unit: // it is leaving
		return ""
	case by != "":
		return lead + ": " + by + " is changing the membership"
	case !blocked:
		return lead + ": " + refusals[0].Error()
	}
	return leaveRemediation(lead, refusals, viewsOf(r), r.Application)
}

// staleText names the stale members, R16, and what to do about them. That nothing
// more may fail comes first.
func staleText(r observe.Report) string {
	var names []string
	up := false
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if row.Owner.Stale {
				names = append(names, c.Database.Short()+" "+Describe(r.Application, c.Database, row.Peer))
				up = up || row.Runs()
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	rest := " (" + strings.Join(names, ", ")
	if up {
		rest += ", which is up"
	}
	rest += ")"
	lead := "stale member"
	for _, c := range r.Clusters {
		if c.Quorum.Tolerance() == 0 && len(c.Rows) > 1 {
			lead = "no more may fail; " + lead
			break
		}
	}
	if all := staleMembers(r); len(all) > 0 {
		return commandFirst(lead, kickStale(r, all[0]), rest)
	}
	return lead + " can't be kicked yet; see cluster-status" + rest
}

// membersDown names the members that are down, and the ports of those that others can't connect to.
func membersDown(r observe.Report) string {
	all := closedPorts(r.Application, r.Clusters...)
	for _, c := range r.Clusters {
		for _, row := range c.Rows {
			if !row.Up && !row.OneWay {
				all = append(all, c.Database.Short()+" "+Describe(r.Application, c.Database, row.Peer)+" down")
			}
		}
	}
	return strings.Join(all, ", ")
}

// supersedesItselfText is what a status says of lists that name their own cluster.
func supersedesItselfText(r observe.Report) string {
	return strings.Join(supersedesItself(r), "; ")
}

// healthyText is the line of a unit that works. Its beginning is the Python charm's
// (cluster_status_message of its ovn_central.py).
func healthyText(r observe.Report, northdActive bool) string {
	var leads, part, counts []string
	tolerance := len(r.Clusters[0].Rows)
	for _, c := range r.Clusters {
		name := c.Database.Short()
		if c.Status.Role == raft.Leader {
			leads = append(leads, "ovn"+name+"_db")
		}
		counts = append(counts, fmt.Sprintf("%d of %d up", c.Quorum.Up, c.Quorum.Members))
		tolerance = min(tolerance, c.Quorum.Tolerance())
	}
	if len(leads) > 0 {
		part = append(part, "leader: "+strings.Join(leads, ", "))
	}
	if northdActive {
		part = append(part, "northd: active")
	}
	text := strings.Join(part, " ")
	if text != "" {
		text += "; "
	}
	if counts[0] == counts[1] {
		text += counts[0]
	} else {
		text += fmt.Sprintf("nb %s, sb %s", counts[0], counts[1])
	}
	if tolerance <= 0 {
		return text + ", none may fail"
	}
	return text + fmt.Sprintf(", %d may fail", tolerance)
}
