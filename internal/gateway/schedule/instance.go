package schedule

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// instance is a state with numbers for its names. It does not depend on the order of the rows.
type instance struct {
	chassis  []Chassis
	number   map[string]int
	networks []string
	groups   []*group
	// siblings has the groups of each router that has several.
	siblings map[string][]*group
	// externals has the groups of external ports, which do not count as load.
	externals []*group
	// followers has the external ports that follow each gateway and that a chassis for gateways may serve.
	followers map[string][]Port
	// unplanned has the routers' gateways without a provider network. Only a drain moves them.
	unplanned []Group
	pinned    []Pinned
	// misnamed describes candidates that are not given by the name of a chassis.
	misnamed map[string]finding.Reason
	// external reports whether any chassis has enable-chassis-as-extport-host, bound whether any port is bound.
	external, bound bool
	// schedulable has the chassis of each network that gateways may be moved to.
	schedulable [][]int
	// marks has the least mark that a gateway of each network needs.
	marks    []mark
	classes  map[classKey]*class
	findings []finding.Finding
}

// unfit returns why a chassis may host no gateway of a network in any zone; it is empty if the chassis may.
func (in *instance) unfit(c Chassis, network int) finding.Reason {
	return ineligible(c, needing(in.networks[network]), in.marks[network])
}

func (in *instance) find(code finding.Code, name string, args finding.Args, remedies ...finding.Remedy) {
	in.findings = append(in.findings, finding.About(code, name, args, remedies...))
}

// set returns a key that does not depend on the order of names.
func set(names []string) string {
	switch len(names) {
	case 0:
		return ""
	case 1:
		return names[0]
	}
	return fmt.Sprintf("%q", slices.Compact(slices.Sorted(slices.Values(names))))
}

func (in *instance) invalid(g *group, chassis string) finding.Reason {
	if number, found := in.number[chassis]; found {
		return ineligible(in.chassis[number], g.Group, g.class.mark)
	}
	absent := finding.Reason{Code: finding.ChassisAbsent}
	if is := in.misnamed[chassis]; !is.IsZero() {
		absent.Because = []finding.Reason{is}
	}
	return absent
}

func (in *instance) loads() [][]int {
	all := make([][]int, len(in.networks))
	for n := range all {
		all[n] = make([]int, len(in.chassis))
	}
	for _, g := range in.groups {
		if len(g.order) > 0 {
			for _, s := range g.weight {
				all[s.network][g.order[g.loads]] += s.ports
			}
		}
	}
	return all
}

// loadBackups counts each group that a backup hosts, because its master does not respond, as a load of the backup. It
// calls found with the group.
func (in *instance) loadBackups(found func(*group)) {
	for _, g := range in.groups {
		if g.works > 0 && in.chassis[g.was[0]].Unresponsive {
			g.loads = g.works
			found(g)
		}
	}
}

func (in *instance) groupNamed(name string) *group {
	compare := func(g *group, name string) int { return cmp.Compare(g.Name, name) }
	n, found := slices.BinarySearchFunc(in.groups, name, compare)
	if !found {
		return nil
	}
	return in.groups[n]
}

// isHosted reports whether the port is bound to a responding chassis, even if another one should host it.
func (in *instance) isHosted(p Port) bool {
	c, found := in.number[p.Active]
	return found && !in.chassis[c].Unresponsive
}

// knows reports whether a gateway or an external port is connected to the network.
func (in *instance) knows(network string) bool {
	is := func(joined string) bool { return isOf([]string{network}, joined) }
	return slices.ContainsFunc(in.networks, is) || slices.ContainsFunc(in.externals, func(g *group) bool {
		return slices.ContainsFunc(g.Ports, func(p Port) bool { return is(p.Network) })
	})
}

func (g *group) append(in *instance, c int) {
	if g.lacking.IsZero() {
		g.lacking = finding.Reason{Code: finding.HadTooFew, Count: len(g.was), Total: g.possible}
	}
	g.reasons[in.chassis[c].Name] = g.lacking
	g.order = append(g.order, c)
}

func (g *group) explain(in *instance, reason finding.Reason, chassis ...int) {
	for _, c := range chassis {
		if slices.Contains(g.was, c) {
			g.reasons[in.chassis[c].Name] = reason
		}
	}
}
