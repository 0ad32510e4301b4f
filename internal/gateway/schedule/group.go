package schedule

import (
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/mincost"
)

func unload(loads [][]int, g *group) {
	if len(g.order) > 0 {
		put(loads, g, g.order[0], -1)
	}
}

// open returns the chassis that may take the group over: its schedulable candidates or, if it has none, any schedulable
// chassis. Those that also serve the external ports that follow the group come first.
func (g *group) open() []int {
	some := filter(g.order, g.accepts)
	if len(some) == 0 || !slices.ContainsFunc(some, g.serves) && slices.ContainsFunc(g.class.schedulable, g.serves) {
		some = g.class.schedulable
	}
	return g.class.serving(some)
}

// serving returns those of the chassis that also serve the external ports that follow the group or, if none does, all.
func (k *class) serving(some []int) []int {
	if serving := filter(some, func(c int) bool { return k.serves[c] }); len(serving) > 0 {
		return serving
	}
	return some
}

func put(loads [][]int, g *group, c, sign int) {
	for _, s := range g.weight {
		loads[s.network][c] += sign * s.ports
	}
}

// class describes groups of the same kind, owner, networks and zones: the same chassis may host them.
type class struct {
	kind Kind
	mark mark
	// grows reports whether such groups may get new chassis.
	grows bool
	// eligible reports which chassis may host such groups. accepts reports which of these are schedulable: they take over
	// if they are candidates. takes reports which may also become candidates; schedulable lists them.
	eligible, accepts, takes []bool
	// serves reports which eligible chassis have the networks of the external ports that follow the group or, if none has,
	// all of them.
	serves                     []bool
	schedulable, unschedulable []int
}

// group is a group of the state, with numbers for chassis.
type group struct {
	Group
	class  *class
	weight []share
	// order has the chassis that may host the group, best first: at first the valid candidates, in the end the plan.
	order []int
	// was is the initial order, gone the invalid candidates.
	was  []int
	gone []string
	// possible is the number of candidates that the group can have.
	possible int
	// reasons has why chassis come, go or change rank; lacking is the reason for chassis that complete the list.
	reasons map[string]finding.Reason
	lacking finding.Reason
	held    bool
	// works is the rank of the candidate that the group is bound to. nowhere reports whether the group is bound to no
	// chassis, though others are.
	works   int
	nowhere bool
	// loads is the rank of the candidate that has the group's load.
	loads int
	// repeated and tied report whether a chassis is listed twice, and whether two candidates have the same priority.
	repeated, tied bool
	// copied reports whether Neutron has copied the candidates of the gateway that the group follows. It copies them again
	// whenever these change, so that nothing is mended in the copy (sync_ha_chassis_group_network_unified in utils.py).
	copied bool
}

type share struct{ network, ports int }

type classKey struct {
	kind            Kind
	owner           Owner
	external        bool
	networks, zones string
	machines        string
	followers       string
}

// preferUnzoned limits groups of external ports without a zone to chassis without a zone, if there are any, as Neutron
// does.
func (k *class) preferUnzoned(chassis []Chassis) {
	unzoned := filter(k.schedulable, func(c int) bool { return len(chassis[c].Zones) == 0 })
	if len(unzoned) == 0 {
		return
	}
	for _, c := range k.schedulable {
		k.takes[c] = slices.Contains(unzoned, c)
	}
	k.schedulable = unzoned
}

func (g *group) single() bool { return len(g.weight) == 1 && g.weight[0].ports == 1 }

func (g *group) has(chassis int) bool { return slices.Contains(g.order, chassis) }

func (g *group) accepts(chassis int) bool { return g.class.accepts[chassis] }

func (g *group) takes(chassis int) bool { return g.class.takes[chassis] }

func (g *group) serves(chassis int) bool { return g.class.serves[chassis] }

// gains reports whether the chassis may get a share of the group's backups.
func (g *group) gains(chassis int) bool { return g.takes(chassis) && g.serves(chassis) }

// in reports whether the group's first port is in the network.
func (g *group) in(network int) bool { return g.weight[0].network == network }

func (g *group) portsIn(network int) int {
	for _, s := range g.weight {
		if s.network == network {
			return s.ports
		}
	}
	return 0
}

func (g *group) firstBackup() int {
	if len(g.order) < 2 {
		return mincost.None
	}
	return g.order[1]
}

func (g *group) missing() int {
	if g.held {
		return 0
	}
	left := len(g.class.schedulable)
	for _, c := range g.order {
		left -= btoi(g.takes(c))
	}
	return max(0, min(left, MaxCandidates-len(g.order)))
}

// kept returns the number of first candidates that keep their ranks unless the group moves. The last of them is the
// host, which is a backup if the candidates before it are dead.
func (g *group) kept() int {
	if len(g.was) > 0 && len(g.order) > 0 && g.order[0] != g.was[0] {
		return 1
	}
	return g.works + 1
}

func (in *instance) isHere(name string) bool {
	c, found := in.number[name]
	return found && in.chassis[c].alien() == ""
}

func (in *instance) responds(name string) bool {
	c, found := in.number[name]
	return found && in.chassis[c].responds()
}

// replaceUnresponsiveMaster replaces the master of an unbound group if its ovn-controller is dead while its tunnels are
// up: the other candidates wait as long as they hear such a master (measured: tests/dataplane).
func (in *instance) replaceUnresponsiveMaster(g *group) {
	if g.held || !g.nowhere || len(g.order) == 0 || !in.chassis[g.order[0]].Unresponsive {
		return
	}
	if at := slices.IndexFunc(g.order, g.accepts); at > 0 {
		silent, c := g.order[0], g.order[at]
		g.order[0], g.order[at] = c, silent
		g.explain(in, in.silent(finding.NotBound, silent), c, silent)
	}
}

// silent returns a reason of which a chassis with a dead ovn-controller is the cause.
func (in *instance) silent(code finding.ReasonCode, chassis int) finding.Reason {
	return finding.Reason{
		Code: code, Because: []finding.Reason{{Code: finding.BestSilent, Name: in.chassis[chassis].Name}},
	}
}

func (in *instance) replaceUnresponsiveMasters() {
	for _, g := range in.groups {
		in.replaceUnresponsiveMaster(g)
	}
}
