// Package document renders results for people: clusters, plans and the spread of gateways, the journal, nodes, answers
// of operations, the agent, backups, an upgrade. Programs get the same values as YAML or JSON (package render).
package document

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/present"
)

// ForPrograms adds a document's findings for programs. The commands in findings about gateways are the same in all
// versions of Juju.
func ForPrograms(d any) any {
	found := func(all []finding.Finding) []finding.Document { return present.Documents(juju.Version{}, all) }
	switch d := d.(type) {
	case schedule.Plan:
		return struct {
			schedule.Plan `yaml:",inline"`
			Findings      []finding.Document `json:"problems" yaml:"problems"`
			Blocked       []finding.Document `json:"blocked,omitempty" yaml:"blocked,omitempty"`
		}{d, found(d.Findings), found(d.Blocked)}
	case schedule.Status:
		return struct {
			schedule.Status `yaml:",inline"`
			Findings        []finding.Document `json:"problems" yaml:"problems"`
		}{d, found(d.Findings)}
	case gateway.History:
		return struct {
			gateway.History `yaml:",inline"`
			Findings        []finding.Document `json:"problems" yaml:"problems"`
		}{d, found(d.Findings)}
	}
	return d
}

// shownAdvice limits the number of planned changes of gateways that are shown.
const shownAdvice = 20

// Agent renders the state of an agent.
func Agent(s report.Status) string {
	var b strings.Builder
	fmt.Fprintf(&b, "lease: %s\nmode: %s\n", s.Lease(), s.Mode)
	for database, why := range map[string]string{"Northbound": s.Northbound, "Southbound": s.Southbound} {
		if why != "" {
			fmt.Fprintf(&b, "%s database: cannot be used: %s\n", database, why)
		}
	}
	if problem := s.Problem(); problem != "" {
		fmt.Fprintf(&b, "agent: %s\n", problem)
	}
	if s.Northd != "" {
		fmt.Fprintf(&b, "%s: this unit does not act\n", s.Northd)
	}
	for _, p := range s.Peers {
		switch {
		case p.Error != "":
			fmt.Fprintf(&b, "agent %s %s: %s\n", p.Address, p.Unit, p.Error)
		case p.AnsweredSecondsAgo >= 0:
			fmt.Fprintf(&b, "agent %s %s: answered %s ago\n", p.Address, p.Unit, report.Seconds(p.AnsweredSecondsAgo))
		}
	}
	for _, c := range s.WrongClocks() {
		fmt.Fprintln(&b, c)
	}
	for _, d := range s.Drains {
		fmt.Fprintf(&b, "%s, for %s\n", d.Line(), report.Seconds(d.ForSeconds))
	}
	return b.String() + agentGateways(s.Gateways)
}

func agentGateways(g report.GatewayStatus) string {
	var b strings.Builder
	if g.LookedSecondsAgo < 0 {
		fmt.Fprintf(&b, "gateways: not seen yet %s\n", g.Error)
		return b.String()
	}
	fmt.Fprintf(&b, "gateways: %d on %d chassis, as of %s ago\n", g.Gateways, g.Chassis,
		report.Seconds(g.LookedSecondsAgo))
	if g.Error != "" {
		fmt.Fprintf(&b, "cannot read gateways now: %s\n", g.Error)
	}
	if g.Planned > 0 {
		fmt.Fprintf(&b, "to be scheduled for %s: %s\n", report.Seconds(g.AdvisedSeconds),
			schedule.Count(g.Planned, "gateway"))
	}
	for i, a := range g.Advice {
		if i == shownAdvice {
			fmt.Fprintf(&b, "  … and %d more\n", g.Planned-i)
			break
		}
		owner := ""
		if a.Neutron {
			owner = "; Neutron's"
		}
		fmt.Fprintf(&b, "  %s: %s -> %s (%s%s)\n", a.Gateway, strings.Join(a.Before, ","), strings.Join(a.After, ","),
			a.Reason, owner)
	}
	for _, h := range g.HeldDown {
		fmt.Fprintf(&b, "held down: %s for another %s\n", h.Name, report.Seconds(h.ForSeconds))
	}
	for _, name := range g.Left {
		fmt.Fprintf(&b, "not changed by the agent, since Neutron undoes its changes: %s\n", name)
	}
	if g.Last != nil {
		fmt.Fprintf(&b, "done %s ago: %s, %d interrupted: %s\n", report.Seconds(g.Last.SecondsAgo),
			schedule.Count(g.Last.Gateways, "gateway"), g.Last.Interruptions, strings.Join(g.Last.Reasons, "; "))
	}
	if g.LastError != "" {
		fmt.Fprintf(&b, "failed: %s\n", g.LastError)
	}
	for _, o := range g.OrphanLines() {
		fmt.Fprintf(&b, "orphan: %s\n", o)
	}
	return b.String()
}

// Answer renders the result of an operation: a line for each step, the outcome, and the commands to run next.
func Answer(s answer.Status) string {
	var b strings.Builder
	var next []answer.Message
	for _, m := range s.Details.MessageList {
		switch {
		case m.Kind == answer.MessageNext:
			next = append(next, m)
		case m.Error:
			fmt.Fprintf(&b, "error  %s: %s\n", m.Name, m.Message)
		case m.Skipped:
			fmt.Fprintf(&b, "skip   %s: %s\n", m.Name, m.Message)
		case m.Kind == answer.MessageStep || m.Kind == answer.MessageHealth:
			fmt.Fprintf(&b, "ok     %s: %s\n", m.Name, m.Message)
		default:
			fmt.Fprintf(&b, "%s: %s\n", m.Name, m.Message)
		}
	}
	fmt.Fprintf(&b, "%s (%d %s): %s\n", s.Status, s.Code, s.Reason, s.Message)
	return b.String() + inOrder(next)
}

// inOrder renders the commands to run next. It numbers them if several have to be run.
func inOrder(next []answer.Message) string {
	var b strings.Builder
	alternative := func(m answer.Message) bool { return m.When != "" }
	several := len(slices.DeleteFunc(slices.Clone(next), alternative)) > 1
	number := 0
	for _, m := range next {
		switch {
		case alternative(m):
			fmt.Fprintf(&b, "next, %s: %s\n", m.When, m.Message)
		case several:
			number++
			fmt.Fprintf(&b, "next, %d: %s\n", number, m.Message)
		default:
			fmt.Fprintf(&b, "next: %s\n", m.Message)
		}
	}
	return b.String()
}

// Nodes renders a report on nodes: a line for each node, and all details if there is only one.
func Nodes(r maintenance.Report) string {
	if len(r.Nodes)+r.Omitted == 0 {
		return "there are no nodes: SB has no chassis\n"
	}
	rows := []string{"node\tchassis\tovn-controller\tstate\thosts\tfirst of\tbackup of\tpinned\tlost if it stops\tholds"}
	for _, n := range r.Nodes {
		lost := "-"
		if all := len(n.Lost) + n.OmittedLost; all > 0 {
			lost = schedule.Count(all, "gateway")
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s",
			n.Name(), n.Chassis, controller(n, r.At), n.State(),
			n.Held(maintenance.HoldGateway).Count, n.First, n.Backups, len(n.Pinned)+n.OmittedPinned, lost, held(n)))
	}
	outage := ""
	if r.Outage != nil {
		outage, _ = bySeverity([]finding.Finding{r.Outage.Finding()})
	}
	return outage + table(rows) + more("", r.Omitted, "nodes") + beside(r)
}

// controller returns when a node's ovn-controller last answered, and whether it is silent. An answer gets old, because
// no client raises nb_cfg regularly.
func controller(n maintenance.Node, now time.Time) string {
	answer := "never answered"
	if n.AnsweredAt != nil {
		answer = fmt.Sprintf("answered %s ago", report.Seconds(max(0, now.Sub(*n.AnsweredAt).Seconds())))
	}
	switch {
	case n.Life == maintenance.Absent:
		return string(n.Life)
	case n.Life == maintenance.VTEP:
		return "none: VTEP gateway"
	case n.Life == maintenance.Unresponsive:
		return "silent, " + answer
	case n.AnsweredAt == nil: // it was not asked
		return "unknown"
	}
	return answer
}

// table aligns the columns of rows, which tabs separate.
func table(rows []string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, row)
	}
	_ = w.Flush() // a strings.Builder does not fail
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

func beside(r maintenance.Report) string {
	var b strings.Builder
	for _, n := range r.Nodes {
		if n.Cordon != nil {
			fmt.Fprintf(&b, "%s: cordoned %s\n", n.Name(), n.Cordon.Text())
		}
		if n.Drain != nil {
			fmt.Fprintf(&b, "%s: %s %s\n", n.Name(), n.State(), n.Drain.Note.Text())
		}
		if len(r.Nodes)+r.Omitted == 1 {
			b.WriteString(details(n, r.At))
		}
		if n.Next != "" {
			fmt.Fprintf(&b, "next: %s\n", n.Next)
		}
	}
	for _, what := range r.Unknown {
		fmt.Fprintf(&b, "units of this application may be on more nodes: %s\n", what)
	}
	return b.String()
}

func details(n maintenance.Node, now time.Time) string {
	var b strings.Builder
	for _, h := range n.Holds {
		fmt.Fprintf(&b, "hold %s: %s\n", h.Name, h.Detail(now, time.Time{}))
	}
	for _, name := range n.Pinned {
		fmt.Fprintf(&b, "pinned to it: %s\n", name)
	}
	for _, name := range n.Lost {
		fmt.Fprintf(&b, "without a chassis if it stops: %s\n", name)
	}
	return b.String() + more("", n.OmittedPinned, "pinned to it") + more("", n.OmittedHolds, "holds") +
		more("", n.OmittedLost, "gateways without a chassis if it stops")
}

func held(n maintenance.Node) string {
	var all []string
	for _, h := range n.Holds {
		if h.Derived {
			all = append(all, fmt.Sprintf("%s %d", h.Name, h.Count))
		} else {
			all = append(all, h.Name)
		}
	}
	if n.OmittedHolds > 0 {
		all = append(all, fmt.Sprintf("… and %d more", n.OmittedHolds))
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}
