package document

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

// Nodes renders a report on nodes: a line for each node, and all details if there is only one.
func Nodes(r maintenance.Report) string {
	if len(r.Nodes)+r.Omitted == 0 {
		return "there are no nodes: SB has no chassis\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table,
		"node\tchassis\tovn-controller\tstate\thosts\tfirst of\tbackup of\tpinned\tlost if it stops\tholds")
	for _, n := range r.Nodes {
		lost := "-"
		if all := len(n.Lost) + n.OmittedLost; all > 0 {
			lost = schedule.Count(all, "gateway")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%d\t%s\t%s\n", n.Name(), n.Chassis, n.Life, n.State(),
			n.Held(maintenance.HoldGateway).Count, n.First, n.Backups,
			len(n.Pinned)+n.OmittedPinned, lost, held(n))
	}
	_ = table.Flush() // a strings.Builder does not fail
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + more("", r.Omitted, "nodes") + beside(r)
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
