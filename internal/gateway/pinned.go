package gateway

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Options that pin a switch port to a chassis (ovn-nb(5)). options:requested-chassis does not: it only limits which
// chassis may bind the interface of a virtual machine (consider_vif_lport_ in controller/binding.c). Localports are on
// every chassis, and a virtual port is where its parent is.
const (
	l2Option   = "l2gateway-chassis"
	vtepOption = "vtep-physical-switch"
)

func (inv *Inventory) pinned(t *topology) {
	ports := map[string]ovsdb.LogicalRouterPort{}
	for _, p := range inv.NB.RouterPorts {
		ports[p.UUID] = p
	}
	for _, r := range inv.NB.Routers {
		if !r.Pinned {
			continue
		}
		p := pinnedRouter(r, ports, t)
		for _, g := range inv.NB.Groups { // sync_ha_chassis_group_router in utils.py gives it the router's name
			if g.Name == r.Name && g.ExternalIDs[routerIDKey] != "" && !p.Mistaken {
				p.Group, p.Members = g.Name, planned(pick(inv.NB.HAChassis, g.Members))
				p.Zones = foreign.Names(items(r.ExternalIDs[zoneHintsKey], ","))
			}
		}
		inv.pin(p)
	}
	for _, s := range inv.NB.SwitchPorts {
		if p := pinnedPort(s); p.Kind != "" {
			inv.pin(p)
		}
	}
	slices.SortFunc(inv.State.Pinned, func(a, b schedule.Pinned) int { return schedule.CompareNames(a.Name, b.Name) })
}

// pinnedPort returns a port as a pinned gateway. The kind is empty if the port is not pinned.
func pinnedPort(s ovsdb.LogicalSwitchPort) schedule.Pinned {
	p := schedule.Pinned{Name: s.Name, Ports: []string{s.Name}, Record: s.UUID}
	if findable(s.Name) {
		p.Record = s.Name
	}
	switch s.Type {
	case "l2gateway":
		p.Kind, p.Chassis = schedule.PinnedL2, s.Options[l2Option]
		if network := s.Options["network_name"]; network != "" {
			p.Networks = []string{network}
		}
	case "vtep":
		p.Kind, p.Chassis = schedule.PinnedVTEP, s.Options[vtepOption]
	}
	return p
}

func pinnedRouter(r ovsdb.LogicalRouter, ports map[string]ovsdb.LogicalRouterPort, t *topology) schedule.Pinned {
	p := schedule.Pinned{
		Name: r.Name, Kind: schedule.PinnedRouter, Chassis: r.Chassis, Disabled: r.Disabled, Record: r.UUID,
		OfNode: strings.HasPrefix(r.Name, nodePrefix) || strings.HasPrefix(r.Name, bgpPrefix),
	}
	if findable(r.Name) {
		p.Record = r.Name
	}
	marked, listed := false, true // whether Neutron marks gateways, and all of them have candidates
	for _, uuid := range r.Ports {
		port, found := ports[uuid]
		if !found {
			continue
		}
		p.Ports, p.Peers = append(p.Ports, port.Name), append(p.Peers, t.peersOf[port.Name]...)
		has := len(port.GatewayChassis) > 0 || port.Group != ""
		if has {
			p.Candidates = append(p.Candidates, port.Name)
		}
		if t.isGateway(port) {
			marked, listed = true, listed && has
		}
		if network := t.networkOf[port.Name]; network != "" {
			p.Networks = append(p.Networks, network)
		}
	}
	p.Mistaken = marked && listed
	return p
}

func (inv *Inventory) pin(p schedule.Pinned) {
	slices.SortFunc(p.Ports, schedule.CompareNames)
	slices.SortFunc(p.Candidates, schedule.CompareNames)
	for i, port := range p.Ports {
		if on := inv.SB.Pinned[port]; i == 0 || p.Active == p.Chassis {
			p.Active = on
		}
	}
	inv.State.Pinned = append(inv.State.Pinned, p)
}

// misnamed describes the chassis of candidates and pins that are not given by name. ovn-controller knows their names
// alone (ha_chassis_group in ovn-nb(5)).
func (inv *Inventory) misnamed() {
	inv.State.Misnamed = map[string]finding.Reason{}
	names, hosts := map[string]bool{"": true}, map[string]finding.Reason{}
	for _, c := range inv.SB.Chassis {
		names[c.Name] = true
		hosts[c.UUID] = finding.Reason{Code: finding.NameIsUUID, Name: c.Name}
	}
	for _, c := range inv.SB.Chassis {
		if hosts[c.Hostname].IsZero() {
			hosts[c.Hostname] = finding.Reason{Code: finding.NameIsHost, Name: c.Name}
		} else {
			hosts[c.Hostname] = finding.Reason{Code: finding.NameIsHostOfSeveral}
		}
	}
	named := func(chassis string) {
		if is := hosts[chassis]; !is.IsZero() && !names[chassis] {
			inv.State.Misnamed[chassis] = is
		}
	}
	for _, rows := range []map[string]ovsdb.CandidateRow{inv.NB.GatewayChassis, inv.NB.HAChassis} {
		for _, r := range rows {
			named(r.Chassis)
		}
	}
	for _, p := range inv.State.Pinned {
		named(p.Chassis)
	}
}

// Ignored finds the rows of Gateway_Chassis that have a chassis as a candidate and that OVN ignores: those of a pinned
// router's port, and those of a port with a group. The findings have the command that deletes them.
func (inv *Inventory) Ignored(chassis string) (all []finding.Finding) {
	t := newTopology(inv.NB, inv.State.Chassis)
	for _, p := range inv.NB.RouterPorts {
		for _, r := range pick(inv.NB.GatewayChassis, p.GatewayChassis) {
			if r.Chassis != chassis {
				continue
			}
			drop := finding.Do(command.Direct("ovn-nbctl", "lrp-del-gateway-chassis", p.Name, chassis))
			switch router := t.routerOf[p.UUID]; {
			case router.Pinned:
				all = append(all, finding.About(finding.CandidatesIgnored, p.Name, finding.Args{Value: router.Name}, drop))
			case p.Group != "":
				all = append(all, finding.About(finding.GatewayStoredTwice, p.Name, finding.Args{}, drop))
			}
		}
	}
	return schedule.SortFindings(all)
}

var (
	recordName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.:-]*$`)
	uuidName   = regexp.MustCompile(`^[0-9a-fA-F-]+$`)
)

// findable reports whether ovn-nbctl finds a row by this name: it first tries a name as a UUID, and parses a leading
// dash as an option.
func findable(name string) bool {
	return recordName.MatchString(name) && !(len(name) >= 4 && len(name) <= 36 && uuidName.MatchString(name))
}

// Orphans finds candidates that name a missing chassis, and chassis that lack a row. They are only reported: only a
// person knows whether a machine comes back.
func (inv *Inventory) Orphans() []finding.Finding {
	all := inv.incomplete()
	for _, g := range inv.State.Groups {
		for _, c := range g.Candidates {
			if inv.State.Unavailable(c.Chassis).Code == finding.ChassisMissing {
				all = append(all, finding.About(finding.CandidateUnknown, c.Chassis, finding.Args{}))
			}
		}
	}
	return schedule.SortFindings(all)
}

// incomplete finds the chassis that lack one of their two rows.
func (inv *Inventory) incomplete() (all []finding.Finding) {
	there := map[string]bool{}
	for _, c := range inv.SB.Chassis {
		there[c.Name] = true
		if !c.Known && c.Follows == 0 && c.Asked() && len(inv.SB.Private) > 0 {
			all = append(all, finding.About(finding.ChassisIncomplete, c.Name, finding.Args{Value: "Chassis_Private"}))
		}
	}
	for _, name := range inv.SB.Private {
		if !there[name] {
			all = append(all, finding.About(finding.ChassisIncomplete, name, finding.Args{Value: "Chassis"}))
		}
	}
	return all
}

// Unused returns the groups that have the chassis as a member and that no port uses. No plan covers them.
func (inv *Inventory) Unused(chassis string) (all []string) {
	for _, g := range inv.NB.Groups {
		_, planned := inv.stored[g.Name]
		isMember := func(r ovsdb.CandidateRow) bool { return r.Chassis == chassis }
		if !planned && slices.ContainsFunc(pick(inv.NB.HAChassis, g.Members), isMember) {
			all = append(all, g.Name)
		}
	}
	slices.Sort(all)
	return all
}
