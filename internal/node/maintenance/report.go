package maintenance

import (
	"cmp"
	"slices"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Operations on nodes, as named in commands.
const (
	OperationDrain        = "drain"
	OperationUndrain      = "undrain"
	OperationUncordon     = "uncordon"
	OperationRelease      = "release"
	OperationRemove       = "remove-node"
	OperationDecommission = "decommission"
)

// Report describes nodes.
type Report struct {
	At    time.Time `json:"at" yaml:"at"`
	Nodes []Node    `json:"nodes" yaml:"nodes"`
	// Omitted counts the nodes that were left out to save space.
	Omitted int `json:"omitted,omitempty" yaml:"omitted,omitempty"`
	// Outage is set in a report on all nodes if no gateway works.
	Outage *schedule.Outage `json:"outage,omitempty" yaml:"outage,omitempty"`
	// Unknown has the reasons why units of the charm may be on nodes that have no hold for them.
	Unknown []string `json:"unknown,omitempty" yaml:"unknown,omitempty"`
}

// Shortened returns the report with at most most nodes, and at most that many holds and gateways of each, and counts
// the omitted ones. It keeps the most important nodes, in their order.
func (r Report) Shortened(most int) Report {
	order := make([]int, len(r.Nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.Nodes[a].matters(), r.Nodes[b].matters()) })
	kept := min(most, len(order))
	r.Omitted += len(order) - kept
	order = order[:kept]
	slices.Sort(order)
	nodes := make([]Node, 0, kept)
	for _, i := range order {
		n := r.Nodes[i]
		holds, lost, pinned := min(most, len(n.Holds)), min(most, len(n.Lost)), min(most, len(n.Pinned))
		n.OmittedHolds, n.OmittedLost = n.OmittedHolds+len(n.Holds)-holds, n.OmittedLost+len(n.Lost)-lost
		n.OmittedPinned += len(n.Pinned) - pinned
		n.Holds, n.Lost, n.Pinned = n.Holds[:holds], n.Lost[:lost], n.Pinned[:pinned]
		nodes = append(nodes, n)
	}
	r.Nodes = nodes
	return r
}

// matters ranks the node: the larger the rank, the sooner it may be left out. A chassis itself claims to be for
// gateways, so that claim counts less than gateways and drains in NB.
func (n Node) matters() int {
	set := func(h Hold) bool { return !h.Derived }
	switch {
	case n.Drain != nil || n.Cordon != nil || len(n.Lost) > 0:
		return 0
	case n.First > 0 || len(n.Pinned) > 0 || n.Held(HoldGateway).Count > 0:
		return 1
	case n.Backups > 0 || slices.ContainsFunc(n.Holds, set) || n.Held(HoldMember).Count > 0:
		return 2
	case n.Life != Up || n.Orphan:
		return 3
	case n.Gateway:
		return 4
	}
	return 5
}

// NextOperation returns the operation that an operator needs next, and its hold; both are empty if there is none.
func (n Node) NextOperation() (operation, hold string) {
	unused := len(n.Holds) == 0 && n.First+n.Backups+len(n.Pinned) == 0
	switch n.State() {
	case undraining, drained:
		switch {
		case n.Drain.Undrain || !n.Drain.Retired:
			return OperationUndrain, ""
		case unused && n.Life != Up: // otherwise it can't be removed yet
			return OperationRemove, ""
		}
		return "", ""
	case draining:
		if at := slices.IndexFunc(n.Holds, func(h Hold) bool { return !h.Derived }); at >= 0 && !n.hosts() {
			return OperationRelease, n.Holds[at].Name
		}
		return OperationDrain, ""
	case cordoned:
		return OperationUncordon, ""
	}
	if n.Life == Absent && unused {
		return OperationRemove, ""
	}
	return "", ""
}

// The states of a node.
const (
	inUse = "in use"
	// none is the state of a node without a chassis.
	none     = "-"
	cordoned = "cordoned"
	// draining is a drain that is still held up.
	draining   = "draining"
	drained    = "drained"
	undraining = "undraining"
)

// State returns the state of the node in one word. It does not show whether a drain is proved.
func (n Node) State() string {
	switch {
	case n.Drain != nil && n.Drain.Undrain:
		return undraining
	case n.Drain != nil && (n.hosts() || n.OmittedHolds > 0 || slices.ContainsFunc(n.Holds, Hold.ofDrain)):
		return draining
	case n.Drain != nil:
		return drained
	case n.Cordon != nil:
		return cordoned
	case n.Life == Absent:
		return none
	}
	return inUse
}

// hosts reports whether gateways have to leave the node.
func (n Node) hosts() bool {
	return n.First > 0 || len(n.Pinned)+n.OmittedPinned > 0 || n.Held(HoldGateway).Count > 0
}

// Text returns the note for people.
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
