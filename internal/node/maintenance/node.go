package maintenance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ovn-central/ovn-central-operator/internal/answer"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// Life is the state of a node's ovn-controller.
type Life string

// The states.
const (
	// Up: ovn-controller has followed the last nb_cfg, at [Node.AnsweredAt]. It may have died since, and ovs-vswitchd
	// too.
	Up Life = "up"
	// Unresponsive: ovn-controller does not follow nb_cfg. The data plane may work nevertheless.
	Unresponsive Life = "unresponsive"
	// Absent: SB has no chassis of this name; ovn-controller was stopped, or removed.
	Absent Life = "absent"
	// VTEP: ovn-controller-vtep has made the chassis for a physical switch. No ovn-controller runs there that could
	// respond.
	VTEP Life = "vtep"
)

// Down reports whether no ovn-controller responds where one should.
func (l Life) Down() bool { return l == Unresponsive || l == Absent }

// Node is a chassis. It may have been removed and be known only by its records.
type Node struct {
	// Chassis is its name: the machine's system-id.
	Chassis  string `json:"chassis" yaml:"chassis"`
	Hostname string `json:"hostname" yaml:"hostname"`
	Life     Life   `json:"life" yaml:"life"`
	// AnsweredAt is when ovn-controller last followed nb_cfg, by its machine's clock; nil if that is unknown.
	AnsweredAt *time.Time `json:"answered-at,omitempty" yaml:"answered-at,omitempty"`
	// Orphan reports whether the node has a row in Chassis_Private, but none in Chassis.
	Orphan bool `json:"orphan,omitempty" yaml:"orphan,omitempty"`
	// Gateway reports whether it may host gateways ([schedule.State.MayHost]).
	Gateway bool `json:"gateway-chassis" yaml:"gateway-chassis"`
	// Cordon is nil if the node takes new gateways; Drain is nil if it is not drained.
	Cordon *Note  `json:"cordoned,omitempty" yaml:"cordoned,omitempty"`
	Drain  *Drain `json:"drain,omitempty" yaml:"drain,omitempty"`
	Holds  []Hold `json:"holds" yaml:"holds"`
	// OmittedHolds, OmittedLost and OmittedPinned count the entries that were left out to save space.
	OmittedHolds  int `json:"omitted-holds,omitempty" yaml:"omitted-holds,omitempty"`
	OmittedLost   int `json:"omitted-lost,omitempty" yaml:"omitted-lost,omitempty"`
	OmittedPinned int `json:"omitted-pinned,omitempty" yaml:"omitted-pinned,omitempty"`
	// First counts the gateways that have the node as their first candidate, Backups those that have it as another one.
	First   int `json:"first-candidate-of" yaml:"first-candidate-of"`
	Backups int `json:"backup-of" yaml:"backup-of"`
	// Pinned lists the gateways that only this node may host, by configuration.
	Pinned []string `json:"pinned,omitempty" yaml:"pinned,omitempty"`
	// Lost lists the gateways that would have no chassis if the node stopped now.
	Lost []string `json:"lost-if-it-went-now" yaml:"lost-if-it-went-now"`
	// Next is the command to run, if there is one.
	Next string `json:"next,omitempty" yaml:"next,omitempty"`
	// Addresses are the node's tunnel endpoints; Members are the members of both clusters on its machine.
	Addresses []string `json:"-" yaml:"-"`
	Members   []Member `json:"-" yaml:"-"`

	typed string
}

// Held returns the hold with that name; its count is 0 if there is none.
func (n Node) Held(name string) Hold {
	for _, h := range n.Holds {
		if h.Name == name {
			return h
		}
	}
	return Hold{Name: name}
}

// Carried returns the members on the node's machine, and those that were there when its drain began. The chassis may be
// gone since then, and with it the addresses by which they were found.
func (n Node) Carried() []Member {
	all := slices.Clone(n.Members)
	if n.Drain == nil {
		return all
	}
	for _, m := range n.Drain.Members {
		if !slices.ContainsFunc(all, m.same) {
			all = append(all, m)
		}
	}
	return all
}

// Name returns the name for people.
func (n Node) Name() string {
	if n.Hostname == "" {
		return n.Chassis
	}
	return n.Hostname
}

// Typed returns the shortest text by which an operator names only this node: its name, or the name of its chassis.
func (n Node) Typed() string { return cmp.Or(n.typed, n.Name()) }

// chassisPrefix comes before the name of a chassis if that may also be another node's host name, for instance because a
// machine was deployed again with another system-id. Without it, the name of a chassis is not preferred over a host
// name.
const chassisPrefix = "chassis:"

// ByChassis returns the name by which [Resolve] finds exactly the node of that chassis.
func ByChassis(chassis string) string { return chassisPrefix + chassis }

// named sets [Node.Typed] of each node.
func named(nodes []Node) []Node {
	meant := map[string]int{}
	for _, n := range nodes {
		for _, name := range n.called() {
			meant[name]++
		}
	}
	for i, n := range nodes {
		nodes[i].typed = ByChassis(n.Chassis)
		for _, name := range []string{n.Chassis, n.Name()} {
			if meant[name] == 1 && !strings.HasPrefix(name, chassisPrefix) && !strings.HasPrefix(name, "-") {
				nodes[i].typed = name
			}
		}
	}
	return nodes
}

// called returns the names that may mean the node, each once: the name of its chassis, its host name, and the first
// part of its host name. No kind is preferred: a chassis may claim any host name.
func (n Node) called() []string {
	short, _, _ := strings.Cut(n.Hostname, ".")
	// ovn-controller runs there, and its system-id may be a host name
	if n.Hostname == "" && n.Life != Absent {
		short, _, _ = strings.Cut(n.Chassis, ".")
	}
	all := []string{n.Chassis}
	for _, name := range []string{n.Hostname, short} {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// Seen is the input of [Nodes].
type Seen struct {
	Records  Records
	State    schedule.State
	Bindings []Binding
	// Private has the names in Chassis_Private, Answered the time when each ovn-controller last followed nb_cfg.
	Private  []string
	Answered map[string]time.Time
	// Addresses has the tunnel endpoints of each chassis.
	Addresses map[string][]string
	Charm     Charm
}

// Nodes returns all nodes in the order of their chassis' names: the chassis in SB, those with records in NB, and those
// that are candidates of gateways.
func Nodes(s Seen) []Node {
	c := collection{Seen: s, all: map[string]*Node{}, rows: map[string]schedule.Chassis{}}
	c.addChassis()
	c.addRecords()
	c.addOrphans()
	c.countCandidates()
	c.addPinned()
	for name, gateways := range schedule.Dependent(s.State) {
		if n := c.all[name]; n != nil {
			n.Lost = gateways
		}
	}
	derived := derive(whole(s.Bindings, s.State.Pinned))
	nodes := make([]Node, 0, len(c.all))
	for _, name := range slices.SortedFunc(maps.Keys(c.all), schedule.CompareNames) {
		n := c.all[name]
		n.Holds = append([]Hold{}, derived[name]...)
		n.Addresses = s.Addresses[name]
		units, members, claim := s.Charm.On(*n)
		if n.Members = members; claim != "" {
			n.Holds = append(n.Holds, memberHold(units, members, claim))
		}
		n.Holds = append(n.Holds, s.Records.Holds[name]...)
		if n.Lost == nil {
			n.Lost = []string{}
		}
		nodes = append(nodes, *n)
	}
	return named(nodes)
}

// collection has the nodes that [Nodes] has found so far, and the rows of SB, by the name of the chassis.
type collection struct {
	Seen
	all  map[string]*Node
	rows map[string]schedule.Chassis
}

func (c *collection) at(name string) *Node {
	if c.all[name] == nil {
		c.all[name] = &Node{Chassis: name, Hostname: c.Records.hostname(name), Life: Absent}
	}
	return c.all[name]
}

func (c *collection) addChassis() {
	mayHost := c.State.MayHost()
	for _, row := range c.State.Chassis {
		c.rows[row.Name] = row
		if row.Remote {
			continue
		}
		n := &Node{Chassis: row.Name, Hostname: row.Hostname, Life: Up, Gateway: mayHost[row.Name]}
		switch {
		case row.VTEP:
			n.Life = VTEP
		case row.Unresponsive:
			n.Life = Unresponsive
		}
		if at, is := c.Answered[row.Name]; is {
			n.AnsweredAt = &at
		}
		c.all[row.Name] = n
	}
}

func (c *collection) addRecords() {
	for _, name := range c.Records.chassis() {
		n := c.at(name)
		if cordoned, is := c.Records.Cordons[name]; is {
			n.Cordon = &cordoned
		}
		if d, is := c.Records.Drains[name]; is {
			n.Drain = &d
		}
	}
}

// addOrphans adds the nodes that are only in Chassis_Private: ovn-northd waits for each of them to follow.
func (c *collection) addOrphans() {
	for _, name := range c.Private {
		if _, is := c.rows[name]; !is {
			c.at(name).Orphan = true
		}
	}
}

func (c *collection) countCandidates() {
	for _, g := range c.State.Groups {
		for i, name := range g.Ranked() {
			switch {
			case c.rows[name].Remote || !c.State.Misnamed[name].IsZero(): // the gateway's finding names the chassis
			case i == 0:
				c.at(name).First++
			default:
				c.at(name).Backups++
			}
		}
	}
}

// addPinned adds the gateways that are pinned to each chassis. A gateway whose chassis is misnamed is on no node.
func (c *collection) addPinned() {
	for _, p := range c.State.Pinned {
		row, is := c.rows[p.Chassis]
		if p.Chassis != "" && !row.Remote && (is || c.State.Misnamed[p.Chassis].IsZero()) {
			n := c.at(p.Chassis)
			n.Pinned = append(n.Pinned, p.Name)
		}
	}
}

const names = 20

// Resolve finds the node with a host name, the first part of a host name, or the name of a chassis. After "chassis:" it
// looks for the name of a chassis only. It refuses a name that means no node or several nodes.
func Resolve(nodes []Node, id string) (Node, *answer.Status) {
	if id == "" {
		return Node{}, invalid("node", finding.Reason{Code: finding.NodeUnnamed})
	}
	chassis, alone := strings.CutPrefix(id, chassisPrefix)
	found := slices.DeleteFunc(slices.Clone(nodes), func(n Node) bool {
		return n.Chassis != chassis && (alone || !slices.Contains(n.called(), id))
	})
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return unclear(answer.NotFound, finding.NodeUnknown, foreign.Name(id), nodes)
	}
	return unclear(answer.Conflict, finding.NodeAmbiguous, id, found)
}

// OfOtherOVN returns the refusal of the name of a chassis that belongs to another OVN, which [Nodes] leaves out; nil if
// the name means none.
func OfOtherOVN(s schedule.State, id string) *answer.Status {
	for _, c := range s.Chassis {
		n := Node{Chassis: c.Name, Hostname: c.Hostname}
		if c.Remote && (id == ByChassis(c.Name) || slices.Contains(n.called(), id)) {
			args := finding.Args{Reasons: []finding.Reason{{Code: finding.ChassisRemote}}}
			subject := finding.Subject{Name: strconv.Quote(foreign.Name(id))}
			return new(answer.Of(answer.NotFound, finding.New(finding.NodeUnknown, subject, args)))
		}
	}
	return nil
}

// unclear returns the answer to a name that does not mean exactly one node; all are the nodes that it may mean.
func unclear(reason answer.Reason, code finding.Code, id string, all []Node) (Node, *answer.Status) {
	args := finding.Args{Count: len(all), Reasons: []finding.Reason{listed(all)}}
	return Node{}, new(answer.Of(reason, finding.New(code, finding.Subject{Name: strconv.Quote(id)}, args)))
}

func listed(nodes []Node) finding.Reason {
	if len(nodes) == 0 {
		return finding.Reason{Code: finding.NoChassisInSB}
	}
	var all []string
	for _, n := range nodes[:min(names, len(nodes))] {
		if n.Hostname == "" || n.Hostname == n.Chassis {
			all = append(all, n.Chassis)
		} else {
			all = append(all, fmt.Sprintf("%s (%s)", n.Chassis, n.Hostname))
		}
	}
	if more := len(nodes) - names; more > 0 {
		all = append(all, fmt.Sprintf("and %d more", more))
	}
	return finding.Reason{Code: finding.NodesAre, Value: strings.Join(all, ", ")}
}
