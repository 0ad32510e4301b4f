package maintenance

import (
	"cmp"
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
	text := "by " + cmp.Or(n.By, "an unknown client")
	if !n.At.IsZero() {
		text += " at " + n.At.UTC().Format(time.RFC3339)
	}
	if n.Reason != "" {
		text += ": " + n.Reason
	}
	return text
}
