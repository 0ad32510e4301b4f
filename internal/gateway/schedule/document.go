package schedule

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// The operations.
const (
	reschedule = "reschedule"
	rebalance  = "rebalance"
	revert     = "revert"
	restore    = "restore"

	OperationDrain   = "drain"
	OperationUndrain = "undrain"
	OperationClear   = "clear-labels"
	OperationDemote  = "demote"
)

// Plan is a set of changes and their effects.
type Plan struct {
	Operation string `json:"operation" yaml:"operation"`
	// ReviewID is the ID of a plan that is only shown.
	ReviewID string `json:"review-id,omitempty" yaml:"review-id,omitempty"`
	// Chassis is the subject of a drain or undrain.
	Chassis string `json:"chassis,omitempty" yaml:"chassis,omitempty"`
	Cost    Cost   `json:"cost" yaml:"cost"`
	// Changes is sorted by group.
	Changes []Change `json:"changes" yaml:"changes"`
	// Omitted is the number of changes that are left out to save space.
	Omitted int `json:"omitted,omitempty" yaml:"omitted,omitempty"`
	// Before and After have the loads of each network.
	Before []Network `json:"before" yaml:"before"`
	After  []Network `json:"after" yaml:"after"`
	// Bounds has one bound for each network of a rebalancing.
	Bounds []Bound `json:"bounds,omitempty" yaml:"bounds,omitempty"`
	// Findings tell what could not be done and why, and describe irregularities.
	Findings        []finding.Finding `json:"-" yaml:"-"`
	OmittedFindings int               `json:"omitted-problems,omitempty" yaml:"omitted-problems,omitempty"`
	// Blocked has the groups that a drain leaves where they are, or that an undrain does not fully restore.
	Blocked        []finding.Finding `json:"-" yaml:"-"`
	OmittedBlocked int               `json:"omitted-blocked,omitempty" yaml:"omitted-blocked,omitempty"`
	// Next has the commands for what the plan leaves.
	Next []string `json:"next,omitempty" yaml:"next,omitempty"`
	// Added has the new chassis that get something. A run that finishes the plan needs them, because they are no longer
	// new then.
	Added []string `json:"-" yaml:"-"`
}

// Cost is the size of a plan: groups that change, rows that come, go or get another priority, and groups whose traffic
// is interrupted for about a second.
type Cost struct {
	Gateways      int `json:"gateways" yaml:"gateways"`
	Rows          int `json:"rows" yaml:"rows"`
	Interruptions int `json:"interruptions" yaml:"interruptions"`
}

// Moves is the number of groups whose traffic is interrupted.
func (p Plan) Moves() int { return p.Cost.Interruptions }

// Shortened returns the plan with at most that many changes, findings, and chassis of a network, and counts the omitted
// ones.
func (p Plan) Shortened(most int) Plan {
	Cut(&p.Changes, &p.Omitted, most)
	Cut(&p.Findings, &p.OmittedFindings, most)
	Cut(&p.Blocked, &p.OmittedBlocked, most)
	p.Before, p.After = slices.Clone(p.Before), slices.Clone(p.After)
	for i := range p.After {
		p.Before[i], p.After[i] = shortened(p.Before[i], p.After[i], most)
	}
	return p
}

// Cut shortens a list, and counts the omitted elements.
func Cut[T any](list *[]T, omitted *int, most int) {
	*omitted += max(0, len(*list)-most)
	*list = (*list)[:min(most, len(*list))]
}

// shortened returns a network before and after a plan with the same chassis, preferring chassis that have gateways.
func shortened(before, after Network, most int) (Network, Network) {
	if len(after.Hosts) <= most {
		return before, after
	}
	used := map[string]int{}
	for _, h := range slices.Concat(before.Hosts, after.Hosts) {
		used[h.Chassis] = max(used[h.Chassis], 2*h.Masters+h.Backups)
	}
	names := make([]string, len(after.Hosts))
	for i, h := range after.Hosts {
		names[i] = h.Chassis
	}
	slices.SortStableFunc(names, func(a, b string) int { return used[b] - used[a] })
	return before.with(names[:most]), after.with(names[:most])
}

func (n Network) with(names []string) Network {
	all := len(n.Hosts)
	n.Hosts = filter(n.Hosts, func(h Host) bool { return slices.Contains(names, h.Chassis) })
	n.Omitted += all - len(n.Hosts)
	return n
}

// Empty reports whether nothing changes.
func (p Plan) Empty() bool { return len(p.Changes)+p.Omitted == 0 }

// Change is the change of one group.
type Change struct {
	Group   string  `json:"group" yaml:"group"`
	Storage Storage `json:"storage" yaml:"storage"`
	Ports   []Port  `json:"ports" yaml:"ports"`
	// Before and After are the candidates, best first.
	Before []Candidate `json:"before" yaml:"before"`
	After  []Candidate `json:"after" yaml:"after"`
	Rows   []Row       `json:"rows" yaml:"rows"`
	// Interrupts reports whether the group works now and moves to another chassis.
	Interrupts bool `json:"interrupts" yaml:"interrupts"`
}

// Row is a candidate that comes, goes or gets another priority.
type Row struct {
	Chassis string `json:"chassis" yaml:"chassis"`
	// Before and After are priorities; nil means that the chassis is not a candidate.
	Before *int   `json:"before" yaml:"before"`
	After  *int   `json:"after" yaml:"after"`
	Reason string `json:"reason" yaml:"reason"`
}

// From returns the first candidate before the change, or an empty name.
func (c Change) From() string { return first(c.Before) }

// To returns the first candidate after the change, or an empty name.
func (c Change) To() string { return first(c.After) }

// Arrived reports whether every port is already bound to the first candidate after the change.
func (c Change) Arrived() bool {
	return !slices.ContainsFunc(c.Ports, func(p Port) bool { return p.Active != c.To() })
}

func first(candidates []Candidate) string {
	if len(candidates) == 0 {
		return ""
	}
	return candidates[0].Chassis
}

// Bound explains the number of moves that a rebalancing makes in a network.
type Bound struct {
	Network string `json:"network" yaml:"network"`
	// Fewest is the least number of moves that would balance the load if every gateway could go everywhere.
	Moves  int `json:"moves" yaml:"moves"`
	Fewest int `json:"fewest" yaml:"fewest"`
	// Separating is how many of the moves only give gateways of one router different chassis.
	Separating int `json:"separating,omitempty" yaml:"separating,omitempty"`
	// Spread is the difference between the largest and the smallest load after the plan.
	Spread int `json:"spread" yaml:"spread"`
	// Why is the reason why nothing better is possible, Proof the same in words.
	Why   finding.Reason `json:"-" yaml:"-"`
	Proof string         `json:"proof" yaml:"proof"`
}

// Network describes how the gateways of a provider network are spread.
type Network struct {
	Name string `json:"network" yaml:"network"`
	// Ports is the number of gateways. Unhosted is how many of them are bound to no responding chassis; Candidateless is
	// how many have no valid candidate.
	Ports         int    `json:"gateways" yaml:"gateways"`
	Unhosted      int    `json:"unhosted" yaml:"unhosted"`
	Candidateless int    `json:"without-candidate" yaml:"without-candidate"`
	Hosts         []Host `json:"chassis" yaml:"chassis"`
	// Omitted is the number of chassis that are left out to save space.
	Omitted int `json:"omitted,omitempty" yaml:"omitted,omitempty"`

	spread, pinned int
}

// Host is a chassis's part in a network.
type Host struct {
	Chassis  string `json:"name" yaml:"name"`
	Hostname string `json:"hostname" yaml:"hostname"`
	// Hosts counts the ports and pinned gateways that are bound to the chassis. Masters counts the ports that have it as
	// their first candidate, Backups those that have it as another candidate.
	Hosts   int `json:"hosts" yaml:"hosts"`
	Masters int `json:"masters" yaml:"masters"`
	Backups int `json:"backups" yaml:"backups"`
	// Share is the chassis's part of the network's masters, in percent.
	Share int `json:"share" yaml:"share"`
	// Schedulable reports whether the chassis may get new gateways; Unschedulable is the reason if not.
	Schedulable   bool   `json:"takes-new" yaml:"takes-new"`
	Unschedulable string `json:"takes-nothing-new,omitempty" yaml:"takes-nothing-new,omitempty"`
	// Failure is the effect on the other chassis if this one fails.
	Failure Failure `json:"if-it-fails" yaml:"if-it-fails"`
}

// Failure is the load of the remaining chassis after a failure, in masters.
type Failure struct {
	Most  int `json:"most" yaml:"most"`
	Least int `json:"least" yaml:"least"`
	// Lost is the number of gateways that would have no chassis.
	Lost int `json:"lost" yaml:"lost"`
	// Best is the largest load if the spread were even.
	Best int `json:"best" yaml:"best"`
}

// Spread is the difference between the largest and the smallest load of schedulable chassis.
func (n Network) Spread() int { return n.spread }

// Pinned is how many pinned gateways the chassis host besides.
func (n Network) Pinned() int { return n.pinned }

// Status describes how gateways are spread, with the problems, and the operations that would change something.
type Status struct {
	Networks        []Network         `json:"networks" yaml:"networks"`
	Pinned          []Pinned          `json:"pinned,omitempty" yaml:"pinned,omitempty"`
	OmittedPinned   int               `json:"omitted-pinned,omitempty" yaml:"omitted-pinned,omitempty"`
	Networkless     []Networkless     `json:"without-network,omitempty" yaml:"without-network,omitempty"`
	OmittedLess     int               `json:"omitted-without-network,omitempty" yaml:"omitted-without-network,omitempty"`
	Findings        []finding.Finding `json:"-" yaml:"-"`
	OmittedFindings int               `json:"omitted-problems,omitempty" yaml:"omitted-problems,omitempty"`
	// Elsewhere counts the findings that are left out since they are about gateways of other networks.
	Elsewhere int    `json:"problems-elsewhere,omitempty" yaml:"problems-elsewhere,omitempty"`
	Next      []Step `json:"next" yaml:"next"`
}

// Networkless is a gateway of a switch without a provider network, such as a transit switch of OVN's interconnection
// (ovn-ic(8)). Its candidates determine where it is hosted, and only a drain changes them.
type Networkless struct {
	Name string `json:"name" yaml:"name"`
	// Active is the chassis to which the gateway is bound; it is empty if there is none.
	Active string `json:"active" yaml:"active"`
}

// Step is an operation and its cost.
type Step struct {
	Operation string `json:"operation" yaml:"operation"`
	Cost      Cost   `json:"cost" yaml:"cost"`
	// Command shows the plan without changing anything.
	Command string `json:"command,omitempty" yaml:"command,omitempty"`
}

// Shortened returns the status with at most that many findings, pinned gateways, and chassis of a network.
func (s Status) Shortened(most int) Status {
	Cut(&s.Findings, &s.OmittedFindings, most)
	Cut(&s.Pinned, &s.OmittedPinned, most)
	Cut(&s.Networkless, &s.OmittedLess, most)
	s.Networks = slices.Clone(s.Networks)
	for i, n := range s.Networks {
		_, s.Networks[i] = shortened(n, n, most)
	}
	return s
}

// AppliedChange is the recorded change of a group: its candidates before and after, best first.
type AppliedChange struct {
	Group   string      `json:"group" yaml:"group"`
	Storage Storage     `json:"storage" yaml:"storage"`
	Before  []Candidate `json:"before" yaml:"before"`
	After   []Candidate `json:"after" yaml:"after"`
	// Base has the candidates before the first of several drains; it is empty if they are the same as Before.
	Base []Candidate `json:"base,omitempty" yaml:"base,omitempty"`
}

// Interrupted reports whether the first candidate changed.
func (t AppliedChange) Interrupted() bool {
	return len(t.Before) > 0 && first(t.Before) != first(t.After)
}
