package drift

import (
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

// settled returns the state to plan from, with each chassis as it counts now. A chassis that is held down keeps its
// gateways, and is unschedulable. A chassis that was never seen is assumed to be eligible for every group that names
// it.
func (d *Detector) settled(s schedule.State) schedule.State {
	var networks, zones []string
	for _, g := range s.Groups {
		zones = append(zones, g.Zones...)
		for _, network := range g.Behind {
			networks = append(networks, strings.Split(network, ",")...)
		}
		for _, p := range g.Ports {
			networks = append(networks, strings.Split(p.Network, ",")...)
		}
	}
	networks, zones = set(networks), set(zones)
	settled := s
	settled.Chassis = nil
	// A chassis that was never seen must not be the only one with a mark: all others would become ineligible.
	marked := slices.ContainsFunc(s.Chassis, func(c schedule.Chassis) bool { return c.Gateway })
	external := slices.ContainsFunc(s.Chassis, func(c schedule.Chassis) bool { return c.External })
	for name, c := range d.chassis {
		f := &c.facts
		if f.settled && f.held == nil && f.seen == nil {
			continue
		}
		x := schedule.Chassis{Name: name, Gateway: marked, External: external, Networks: networks, Zones: zones}
		switch {
		case f.settled && f.held != nil:
			x = *f.held
		case f.seen != nil:
			x = *f.seen
		}
		x.Cordoned = x.Cordoned || f.moving() || c.lag.moving()
		x.Unresponsive = c.lag.settled && c.lag.held
		settled.Chassis = append(settled.Chassis, x)
	}
	return settled
}

func set(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// Concerned reports for each group whether to plan for it: a change of the group or of a chassis that it names has
// settled, or a chassis that may host it was added.
func (d *Detector) Concerned(s schedule.State) map[string]bool {
	arrived := map[string]bool{} // networks
	for name := range d.changed {
		c := d.chassis[name]
		if c == nil || c.facts.held == nil || c.lag.settled && c.lag.held {
			continue
		}
		for _, network := range c.facts.held.Networks {
			arrived[network] = true
		}
	}
	concerned := map[string]bool{}
	for _, g := range s.Groups {
		v := d.groups[g.Name]
		if v == nil || v.moving() {
			continue
		}
		concerned[g.Name] = d.all || d.changedGroup[g.Name] ||
			slices.ContainsFunc(g.Candidates, func(c schedule.Candidate) bool { return d.changed[c.Chassis] }) ||
			slices.ContainsFunc(g.Ports, func(p schedule.Port) bool {
				return slices.ContainsFunc(strings.Split(p.Network, ","), func(n string) bool { return arrived[n] })
			})
	}
	return concerned
}

// All reports that every gateway is owned.
func All(string) bool { return true }

// Plan returns the plan for the gateways that owns reports as owned, by name. The others stay as they are. The state
// must have been observed before. It moves no gateway for the sake of the ports behind it: a person decides whether
// these are worth the interruption of all others.
func (d *Detector) Plan(s schedule.State, owns func(key string) bool) schedule.Plan {
	concerned, hold := d.Concerned(s), map[string]bool{}
	for _, g := range s.Groups {
		if !concerned[g.Name] || !owns(g.Name) {
			hold[g.Name] = true
		}
	}
	return schedule.Reschedule(d.settled(s), schedule.Options{Hold: hold, KeepHosts: true})
}
