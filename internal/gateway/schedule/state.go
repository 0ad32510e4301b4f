// Package schedule plans which chassis host which gateways. It is pure: from the contents of the databases it returns
// the changes, their reasons, and the bound that shows that nothing smaller would do.
package schedule

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// MaxCandidates is the largest number of candidates of a gateway (MAX_GW_CHASSIS in neutron/common/ovn/constants.py).
const MaxCandidates = 5

// State is the input of a plan. The order of its rows does not matter.
type State struct {
	Chassis []Chassis
	Groups  []Group
	Pinned  []Pinned
	// Misnamed describes the chassis of candidates and pins that are not given by the name of a chassis.
	Misnamed map[string]finding.Reason
}

// Chassis is a host that may get gateways.
type Chassis struct {
	// Name is the name of the row in SB, the system-id of the machine.
	Name, Hostname string
	// Gateway and External report whether enable-chassis-as-gw and enable-chassis-as-extport-host are set.
	Gateway, External bool
	// Remote reports whether the chassis belongs to another OVN (ovn-ic(8)).
	Remote bool
	// VTEP reports whether it is a VTEP gateway, which hosts only VTEP ports (ovn-controller-vtep(8)).
	VTEP bool
	// Networks are the networks of the bridge mappings.
	Networks []string
	Zones    []string
	// Unresponsive reports whether the ovn-controller does not follow nb_cfg. Then the chassis keeps what it hosts, but
	// would take nothing over. It is false for chassis without an ovn-controller of this OVN: a remote one and a VTEP
	// gateway are not asked.
	Unresponsive bool
	// Cordoned reports whether the chassis is cordoned: then it gets nothing new.
	Cordoned bool
}

// Storage is how OVN keeps a list of candidates. If a port has both, OVN ignores [GatewayChassis].
type Storage string

// The ways of storage.
const (
	GatewayChassis Storage = "Gateway_Chassis"
	HAChassisGroup Storage = "HA_Chassis_Group"
)

// Group is the ports that share a list of candidates: one port with Gateway_Chassis, or all gateways of a router with
// HA_Chassis_Group.
type Group struct {
	// Name is the name of the port, or of the row of the group.
	Name    string
	Storage Storage
	Ports   []Port
	Kind    Kind
	Owner   Owner
	// Follows is set for a group of external ports. It names the group of routers' gateways of the same networks, or the
	// pinned router: traffic from the ports to the router works only on the chassis that hosts its gateway.
	Follows string
	// Behind has the networks of ports of the router through which traffic reaches the gateway only by a localnet port of
	// the gateway's chassis.
	Behind []string
	// Zones are the availability zone hints; an empty list means any zone.
	Zones []string
	// Machines has the chassis, by name or host name, that run the virtual machine of [OneExternalPort]. As in Neutron
	// these don't serve the port (get_chassis_host_for_port in impl_idl_ovn.py).
	Machines   []string
	Candidates []Candidate
}

// Port is a router's port to a provider network, or an external port of a switch.
type Port struct {
	Name   string `json:"name" yaml:"name"`
	Router string `json:"router" yaml:"router"`
	// Network is a network of the bridge mappings; it is empty if the port's switch has none. If [JoinNetworks] has joined
	// several, a chassis needs one of them.
	Network string `json:"network" yaml:"network"`
	// Active is the chassis to which the port is bound; it is empty if there is none, or if it is unknown.
	Active string `json:"active" yaml:"active"`
	// Disabled reports whether the port's router is disabled: then OVN binds the port nowhere.
	Disabled bool `json:"-" yaml:"-"`
	// External reports whether it is an external port.
	External bool `json:"-" yaml:"-"`
	// Unknown reports whether ovn-northd has not made the port's binding: then no chassis can claim it.
	Unknown bool `json:"-" yaml:"-"`
}

// Candidate is a chassis that may host a group. Of the live candidates the one with the largest priority hosts it, and
// among equals the one with the larger name (ha_chassis_group_is_active in controller/ha-chassis.c).
type Candidate struct {
	Chassis  string `json:"chassis" yaml:"chassis"`
	Priority int    `json:"priority" yaml:"priority"`
}

// Scheduler names the way to choose among chassis, as Neutron does.
type Scheduler string

// The schedulers, named as in Neutron.
const (
	LeastLoaded Scheduler = "least-loaded"
	Random      Scheduler = "random"
)

// Options are the options of a plan.
type Options struct {
	Scheduler Scheduler
	// Draw returns a number from 0 to n-1 for [Random].
	Draw func(n int) int
	// Networks limits a plan to some networks; empty means all.
	Networks []string
	// Hold has the names of groups to leave alone.
	Hold map[string]bool
	// KeepHosts keeps a rescheduling from moving working gateways to chassis with the networks of the ports behind them.
	KeepHosts bool
	// MaxMoves bounds the gateways that a rebalancing moves; 0 means no bound.
	MaxMoves int
	// AllowNewCandidates lets a rebalancing move a gateway to a chassis that is not one of its candidates.
	AllowNewCandidates bool
	// Added lists chassis that get their share of backups although they already are candidates: an interrupted run has
	// given them a part of it.
	Added []string
}

// WithCordon returns the state with a chassis cordoned or not.
func (s State) WithCordon(chassis string, cordoned bool) State {
	s.Chassis = slices.Clone(s.Chassis)
	for i := range s.Chassis {
		if s.Chassis[i].Name == chassis {
			s.Chassis[i].Cordoned = cordoned
		}
	}
	return s
}

func chassisOf(candidates []Candidate) []string {
	names := make([]string, len(candidates))
	for i, c := range candidates {
		names[i] = c.Chassis
	}
	return names
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Owner is the client whose rules decide which chassis may host a group: docs/reference/gateway-hosts.md.
type Owner int

// Kind is the kind of a group's ports. The kinds of external ports differ in where Neutron hosts them.
type Kind int

func (g Group) bound() bool {
	return slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active != "" })
}

func (g Group) boundTo(chassis string) bool {
	return slices.ContainsFunc(g.Ports, func(p Port) bool { return p.Active == chassis })
}

// Pinned is a gateway that one chassis hosts by configuration: a gateway router, or a port of a switch. OVN never moves
// it. ovn-controller compares the name of the chassis, not the host name (consider_nonvif_lport_ in
// controller/binding.c).
type Pinned struct {
	// Name is the name of the router or of the port.
	Name    string  `json:"name" yaml:"name"`
	Kind    PinKind `json:"kind" yaml:"kind"`
	Chassis string  `json:"chassis" yaml:"chassis"`
	// Active is the chassis to which the gateway's ports are bound; it is empty if there is none. If there are several, it
	// is one that the router is not pinned to.
	Active string `json:"active" yaml:"active"`
	// Networks are those of its ports, in the form of [Port.Network].
	Networks []string `json:"-" yaml:"-"`
	// Ports are the ports of the router, or the port itself.
	Ports []string `json:"-" yaml:"-"`
	// Peers are the switch ports that connect a router. OVN binds them like the router's own ports.
	Peers []string `json:"-" yaml:"-"`
	// Candidates are the router's ports that have candidates, which ovn-northd ignores.
	Candidates []string `json:"with-candidates,omitempty" yaml:"with-candidates,omitempty"`
	// Mistaken reports whether Neutron pinned the router by mistake (LP#2158987, LP#2161232): all its gateways have
	// candidates.
	Mistaken bool `json:"-" yaml:"-"`
	// OfNode reports whether the client has such a router for each node: it would undo a move, and deletes the router with
	// the node.
	OfNode bool `json:"-" yaml:"-"`
	// Group is the HA_Chassis_Group by which Neutron pins the router: if the members change, Neutron pins it to the best
	// of them (HAChassisGroupRouterEvent in ovsdb_monitor.py). Without a group it is empty.
	Group   string      `json:"-" yaml:"-"`
	Members []Candidate `json:"-" yaml:"-"`
	// Zones are the zone hints of the group.
	Zones []string `json:"-" yaml:"-"`
	// Disabled reports whether the router is disabled: then OVN binds it nowhere.
	Disabled bool `json:"-" yaml:"-"`
	// Record is the name by which ovn-nbctl finds the row.
	Record string `json:"-" yaml:"-"`
}

// PinKind is the kind of a pinned gateway, by the option that pins it (ovn-nb(5)).
type PinKind string
