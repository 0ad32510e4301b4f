package schedule

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

// findTooMany finds a group with more candidates than Neutron gives one, for instance because two of its workers wrote
// the same group (LP#2139143), and the command that drops the last ones except the host.
func (in *instance) findTooMany(g Group) {
	different := distinct(g.Ranked())
	if len(different) <= MaxCandidates || g.byDesign() {
		return
	}
	var last []string
	for _, name := range slices.Backward(different) {
		if !g.boundTo(name) && len(different)-len(last) > MaxCandidates {
			last = append(last, name)
		}
	}
	drop := []string{"ha-chassis-group-remove-chassis", g.Name}
	if g.Storage == GatewayChassis {
		drop = []string{"lrp-del-gateway-chassis", g.Name}
	}
	words := []string{"ovn-nbctl"}
	for i, name := range last {
		if i > 0 {
			words = append(words, "--")
		}
		words = append(append(words, drop...), name)
	}
	in.find(finding.CandidatesTooMany, g.Name, finding.Args{Count: len(different), Total: MaxCandidates, Units: last},
		finding.Do(command.Direct(words...)))
}

// byDesign reports whether the client has all of its chassis in each list, as LXD and Incus do (addChassisGroupEntry in
// network/driver_ovn.go). What is named as Neutron names it is Neutron's, whatever it has lost.
func (g Group) byDesign() bool {
	return g.Owner == Other && !strings.HasPrefix(g.Name, "neutron-") && !strings.HasPrefix(g.Name, "lrp-")
}
