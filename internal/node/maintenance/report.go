package maintenance

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"
)

// Operations on nodes, by which commands are named.
const (
	OperationDrain        = "drain"
	OperationUndrain      = "undrain"
	OperationUncordon     = "uncordon"
	OperationRemove       = "remove-node"
	OperationDecommission = "decommission"
)

// Report is how nodes are.
type Report struct {
	At    time.Time `json:"at" yaml:"at"`
	Nodes []Node    `json:"nodes" yaml:"nodes"`
	// Unknown says why units of the charm may be on nodes that no hold tells of.
	Unknown []string `json:"unknown,omitempty" yaml:"unknown,omitempty"`
}

// Shortened is the report with no more nodes than so many.
func (r Report) Shortened(most int) Report {
	r.Nodes = r.Nodes[:min(most, len(r.Nodes))]
	return r
}

// NextOperation is what an operator would do with the node next; empty is nothing.
func (n Node) NextOperation() string {
	switch {
	case n.Drain != nil && n.Drain.Undrain:
		return OperationUndrain
	case n.Drain != nil && (n.First > 0 || n.Held(HoldGateway).Count > 0):
		return OperationDrain
	case n.Drain != nil:
		return OperationUndrain
	case n.Cordon != nil:
		return OperationUncordon
	case n.Life == Absent && len(n.Holds) == 0 && n.First+n.Backups == 0:
		return OperationRemove
	}
	return ""
}

// Text is the note for people.
func (n Note) Text() string {
	var b strings.Builder
	if n.By != "" {
		fmt.Fprintf(&b, "by %s", n.By)
	} else {
		b.WriteString("by an unknown client")
	}
	if !n.At.IsZero() {
		fmt.Fprintf(&b, " at %s", n.At.UTC().Format(time.RFC3339))
	}
	if n.Reason != "" {
		fmt.Fprintf(&b, ": %s", n.Reason)
	}
	return b.String()
}

// Text is the report for people: a line for each node, and of a single one all there is.
func (r Report) Text() string {
	if len(r.Nodes) == 0 {
		return "there are no nodes: SB has no chassis\n"
	}
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "node\tchassis\tovn-controller\tstate\thosts\tfirst of\tbackup of\tlost if it went\tholds")
	for _, n := range r.Nodes {
		lost := "-"
		if len(n.Lost) > 0 {
			lost = count(len(n.Lost), "gateway")
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\t%d\t%d\t%s\t%s\n", n.Name(), n.Chassis, n.Life, n.state(), n.Held(HoldGateway).Count, n.First, n.Backups, lost, n.held())
	}
	_ = table.Flush() // into a builder, which takes all
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n") + r.rest()
}

// rest is what there is to say beside the table.
func (r Report) rest() string {
	var b strings.Builder
	for _, n := range r.Nodes {
		if n.Cordon != nil {
			fmt.Fprintf(&b, "%s: cordoned %s\n", n.Name(), n.Cordon.Text())
		}
		if n.Drain != nil {
			fmt.Fprintf(&b, "%s: %s %s\n", n.Name(), n.state(), n.Drain.Note.Text())
		}
		if len(r.Nodes) == 1 {
			for _, h := range n.Holds {
				fmt.Fprintf(&b, "hold %s: %s\n", h.Name, h.Detail(r.At, time.Time{}))
			}
			for _, name := range n.Lost {
				fmt.Fprintf(&b, "lost if it went now: %s\n", name)
			}
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

// state says in a word whether the node is in use.
func (n Node) state() string {
	switch {
	case n.Drain != nil && n.Drain.Undrain:
		return "undraining"
	case n.Drain != nil && (n.First > 0 || n.Held(HoldGateway).Count > 0):
		return "draining"
	case n.Drain != nil:
		return "drained"
	case n.Cordon != nil:
		return "cordoned"
	}
	return "in use"
}

// held are the holds in a few words.
func (n Node) held() string {
	var all []string
	for _, h := range n.Holds {
		if h.Derived {
			all = append(all, fmt.Sprintf("%s %d", h.Name, h.Count))
		} else {
			all = append(all, h.Name)
		}
	}
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, ", ")
}
