// Package gateway shows where gateways are and should be, and moves them: it reads the databases, plans with package
// schedule, writes the plan unless something else has changed meanwhile, and proves the result.
package gateway

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/ovn-central/ovn-central-operator/internal/command"
	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/cordon"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// Options of a chassis, in ovn-cms-options.
const (
	gatewayOption  = "enable-chassis-as-gw"
	externalOption = "enable-chassis-as-extport-host"
	zonesOption    = "availability-zones="
)

// Inventory is the contents of both databases that concern gateways.
type Inventory struct {
	NB ovsdb.Northbound
	SB ovsdb.Southbound
	// State is the input of plans; Findings describe irregularities in the rows.
	State    schedule.State
	Findings []finding.Finding
	stored   map[string]stored
	// named has the UUID of the row of Gateway_Chassis with each name; it is empty for a row to be written.
	named map[string]string
}

// stored has a group's owner, and its candidates as the database keeps them, without those to write.
type stored struct {
	ovsdb.Candidates
	owner schedule.Owner
}

// Neutrons reports whether Neutron owns a group.
func (inv *Inventory) Neutrons(group string) bool {
	s, found := inv.stored[group]
	return found && s.owner != schedule.Other
}

// BuildInventory makes an inventory from the rows.
func BuildInventory(nb ovsdb.Northbound, sb ovsdb.Southbound) *Inventory {
	nb.Routers = identified(nb.Routers)
	c := &Inventory{NB: nb, SB: sb, stored: map[string]stored{}, named: map[string]string{}}
	for uuid, r := range nb.GatewayChassis {
		c.named[r.Name] = uuid
	}
	for _, m := range slices.Concat(nb.Malformed, sb.Malformed) {
		c.find(finding.RowNameInvalid, m.Table+" "+m.UUID,
			finding.Args{Total: foreign.MaxName, Detail: finding.Said(fmt.Sprintf("%q", m.Name))})
	}
	cordons := cordon.Names(nb.IDs)
	for _, row := range sb.Chassis {
		cordoned := slices.Contains(cordons, row.Name)
		c.State.Chassis = append(c.State.Chassis, c.chassis(row, cordoned))
	}
	if sb.Config < nb.Config { // no ovn-controller was asked yet
		c.find(finding.NorthdBehind, "", finding.Args{Count: int(sb.Config), Total: int(nb.Config)})
	}
	t := newTopology(nb, c.State.Chassis)
	c.pinned(t)
	c.misnamed()
	users, unhosted := c.gateways(t)
	for _, g := range nb.Groups {
		c.group(t, g, users[g.UUID])
	}
	c.host(t, unhosted, len(users) > 0)
	for _, p := range t.external[""] { // no ovn-controller binds them
		c.find(finding.ExternalUngrouped, p.Name, finding.Args{})
	}
	c.localnets(t)
	c.unconnected(t)
	c.joined(t)
	c.Findings = schedule.SortFindings(c.Findings)
	return c
}

// identified names each router by its UUID if its name does not identify it: OVN allows several routers of the same
// name, or without one (Logical_Router in ovn-nb(5)).
func identified(routers []ovsdb.LogicalRouter) []ovsdb.LogicalRouter {
	named := map[string]int{"": 2}
	for _, r := range routers {
		named[r.Name]++
	}
	routers = slices.Clone(routers)
	for i, r := range routers {
		if named[r.Name] > 1 {
			routers[i].Name = r.UUID
		}
	}
	return routers
}

func (inv *Inventory) find(code finding.Code, name string, args finding.Args, remedies ...finding.Remedy) {
	inv.Findings = append(inv.Findings, finding.About(code, name, args, remedies...))
}

const namedInDetail = 3

func firstOf(names []string) finding.Words {
	return finding.Said(strings.Join(names[:min(namedInDetail, len(names))], ", "))
}

// chassis reads what ovn-controller has written about its machine.
func (inv *Inventory) chassis(row ovsdb.ChassisRow, cordoned bool) schedule.Chassis {
	x := schedule.Chassis{
		Name: row.Name, Hostname: row.Hostname, Remote: row.Remote(), VTEP: row.VTEP(),
		Unresponsive: row.Asked() && !inv.SB.Responds(row), Cordoned: cordoned,
	}
	known := false // whether its zones are
	for _, option := range items(row.Config["ovn-cms-options"], ",") {
		zones, zoned := strings.CutPrefix(option, zonesOption)
		switch {
		case option == gatewayOption:
			x.Gateway = true
		case option == externalOption:
			x.External = true
		case zoned && !known: // Neutron reads the first (get_chassis_availability_zones in utils.py)
			x.Zones, known = foreign.Names(items(zones, ":")), true
		}
	}
	var ignored []string
	x.Networks, ignored = mappings(row.Config["ovn-bridge-mappings"])
	if len(ignored) > 0 {
		inv.find(finding.MappingsInvalid, row.Name, finding.Args{Count: len(ignored), Detail: firstOf(ignored)})
	}
	return x
}

// mappings returns the networks of bridge mappings, and the mappings that ovn-controller ignores. It takes spaces as a
// part of a name, and reads no further than the first mapping that is not NETWORK:BRIDGE (add_ovs_bridge_mappings in
// controller/patch.c).
func mappings(list string) (networks, ignored []string) {
	ends := false
	for mapping := range strings.SplitSeq(list, ",") {
		network, bridge, _ := strings.Cut(mapping, ":")
		ends = ends || network == "" || bridge == ""
		switch {
		case strings.TrimSpace(mapping) == "":
		case ends, strings.TrimSpace(network) != network, strings.TrimSpace(bridge) != bridge:
			ignored = append(ignored, fmt.Sprintf("%q", foreign.Name(mapping)))
		default:
			networks = append(networks, foreign.Name(network))
		}
	}
	return networks, ignored
}

func items(list, separator string) (all []string) {
	for _, item := range strings.Split(list, separator) {
		if trimmed := strings.TrimSpace(item); trimmed != "" {
			all = append(all, trimmed)
		}
	}
	return all
}

// gateways adds the gateways that have candidates of their own. It returns the gateways that have a group, by the
// group's UUID, and the gateways that have neither.
func (inv *Inventory) gateways(
	t *topology,
) (users map[string][]ovsdb.LogicalRouterPort, unhosted []ovsdb.LogicalRouterPort) {
	users = map[string][]ovsdb.LogicalRouterPort{}
	for _, p := range inv.NB.RouterPorts {
		switch {
		case t.routerOf[p.UUID].Pinned: // handled by [Inventory.pinned]
		case p.Group != "":
			users[p.Group] = append(users[p.Group], p)
			if len(p.GatewayChassis) > 0 {
				inv.find(finding.GatewayStoredTwice, p.Name, finding.Args{}, finding.Do(
					command.Direct("ovn-nbctl", "clear", "Logical_Router_Port", p.Name, "gateway_chassis")))
			}
		case len(p.GatewayChassis) > 0:
			inv.single(t, p)
		case t.isGateway(p):
			unhosted = append(unhosted, p)
		}
	}
	return users, unhosted
}

// portOfRow is how Neutron finds the port of a row of Gateway_Chassis, by the row's name (RE_PORT_FROM_GWC in
// neutron/common/ovn/constants.py).
var portOfRow = regexp.MustCompile(`lrp-([\w-]+)_[\w-]+`)

// readable reports whether Neutron finds the port by the name of a row.
func readable(row, port string) bool {
	found := portOfRow.FindStringSubmatch(row)
	return found != nil && portPrefix+found[1] == port
}

func (inv *Inventory) single(t *topology, p ovsdb.LogicalRouterPort) {
	rows := pick(inv.NB.GatewayChassis, p.GatewayChassis)
	for _, r := range rows {
		if p.ExternalIDs[gatewayKey] == "" || r.Name == foreign.Name(p.Name+"_"+r.Chassis) || readable(r.Name, p.Name) {
			continue
		}
		name := inv.freeName(p.Name + "_" + r.Chassis)
		inv.find(finding.CandidateMisnamed, p.Name, finding.Args{
			Value: r.Chassis, Reasons: []finding.Reason{{Code: finding.RowNamed, Value: r.Name, Name: name}},
		}, finding.Do(command.Direct("ovn-nbctl", "set", "Gateway_Chassis", r.UUID, fmt.Sprintf("name=%q", name))))
	}
	inv.add(t, schedule.Group{
		Name: p.Name, Storage: schedule.GatewayChassis, Owner: t.ownerOf(ovsdb.HAChassisGroup{}, p),
		Zones: inv.zones(t, p), Ports: []schedule.Port{inv.port(t, p)},
		Candidates: planned(rows),
	}, ovsdb.Candidates{Holder: p.UUID, Before: rows, Routers: t.routers(p)})
}

// host adds the gateways without candidates. They get candidates in the same form as the others: Neutron from 2026.2 on
// has a group for each router, with the router's name.
func (inv *Inventory) host(t *topology, unhosted []ovsdb.LogicalRouterPort, grouped bool) {
	grouped = grouped && len(inv.NB.GatewayChassis) == 0
	byRouter, there := map[string][]ovsdb.LogicalRouterPort{}, map[string]bool{}
	for _, g := range inv.NB.Groups {
		there[g.Name] = true
	}
	for _, p := range unhosted {
		router := t.routerOf[p.UUID].Name
		switch {
		case !grouped:
			inv.single(t, p)
		case router == "":
			inv.find(finding.GatewayWithoutRouter, p.Name, finding.Args{})
		case there[router]:
			inv.find(finding.GatewayOutsideGroup, p.Name, finding.Args{Value: router}, finding.Do(command.Direct(
				"ovn-nbctl", "--id=@g", "get", "HA_Chassis_Group", router, "--", "set", "Logical_Router_Port", p.Name,
				"ha_chassis_group=@g")))
		default:
			byRouter[router] = append(byRouter[router], p)
		}
	}
	for _, router := range slices.Sorted(maps.Keys(byRouter)) {
		owner := t.ownerOf(ovsdb.HAChassisGroup{}, byRouter[router]...)
		g := schedule.Group{Name: router, Storage: schedule.HAChassisGroup, Owner: owner}
		var create ovsdb.NewGroup
		for _, p := range byRouter[router] {
			g.Ports, g.Zones = append(g.Ports, inv.port(t, p)), inv.zones(t, p)
			create.Ports = append(create.Ports, p.UUID)
		}
		create.ExternalIDs = map[string]string{
			zoneHintsKey: strings.Join(g.Zones, ","), routerIDKey: strings.TrimPrefix(router, namePrefix),
		}
		inv.add(t, g, ovsdb.Candidates{Create: create, Routers: t.routers(byRouter[router]...)})
	}
}

// group adds an HA_Chassis_Group for gateways of routers, for external ports, or for both.
func (inv *Inventory) group(t *topology, row ovsdb.HAChassisGroup, users []ovsdb.LogicalRouterPort) {
	rows := pick(inv.NB.HAChassis, row.Members)
	g := schedule.Group{
		Name: row.Name, Storage: schedule.HAChassisGroup, Owner: t.ownerOf(row, users...),
		Candidates: planned(rows),
	}
	routers := map[string]bool{}
	for _, p := range users {
		g.Ports = append(g.Ports, inv.port(t, p))
		g.Zones = append(g.Zones, inv.zones(t, p)...)
		routers[t.routerOf[p.UUID].Name] = true
	}
	if len(routers) > 1 {
		names := strings.Join(slices.Sorted(maps.Keys(routers)), ", ")
		inv.find(finding.GroupShared, row.Name, finding.Args{Count: len(routers), Detail: finding.Said(names)})
	}
	external := t.external[row.UUID]
	for _, p := range external {
		active, known := inv.SB.Host(p.Name)
		g.Ports = append(g.Ports, schedule.Port{
			Name: p.Name, Network: t.networksOn[t.switchOf[p.UUID]], Active: active, External: true, Unknown: !known,
		})
	}
	switch {
	case len(users) > 0:
	case len(external) > 0:
		g.Kind, g.Follows = externalKind(row), inv.followed(t, row.Name, external)
		if g.Kind == schedule.OneExternalPort {
			g.Machines = foreign.Names(items(external[0].Options["requested-chassis"], ","))
		}
		if g.Follows == "" {
			g.Zones = foreign.Names(items(row.ExternalIDs[zoneHintsKey], ","))
		}
	default:
		// users does not include the ports of pinned routers.
		names := func(p ovsdb.LogicalRouterPort) bool { return p.Group == row.UUID }
		if t.ownerOf(row) == schedule.Other && len(rows) > 0 && !slices.ContainsFunc(inv.NB.RouterPorts, names) {
			inv.find(finding.GroupUnused, row.Name, finding.Args{})
		}
		return
	}
	inv.add(t, g, ovsdb.Candidates{Holder: row.UUID, Before: rows, Routers: t.routers(users...)})
}

func (inv *Inventory) add(t *topology, g schedule.Group, kept ovsdb.Candidates) {
	if _, twice := inv.stored[g.Name]; twice {
		inv.find(finding.GroupNameTaken, g.Name, finding.Args{})
		return
	}
	for _, r := range kept.Routers {
		g.Behind = append(g.Behind, t.behind[r.UUID]...)
	}
	inv.State.Groups = append(inv.State.Groups, g)
	kept.Name, kept.Port = g.Name, g.Storage == schedule.GatewayChassis
	inv.stored[g.Name] = stored{kept, g.Owner}
}

// followed returns the group of the router that external ports are connected to; it is empty if there is none.
func (inv *Inventory) followed(t *topology, name string, external []ovsdb.LogicalSwitchPort) string {
	found := map[string]bool{}
	for _, p := range external {
		for _, router := range t.routersOn[t.switchOf[p.UUID]] {
			if group := t.groupOf[router]; group != "" {
				found[group] = true
			}
		}
	}
	groups := slices.Sorted(maps.Keys(found))
	if len(groups) > 1 {
		inv.find(finding.ExternalRoutersSeveral, name,
			finding.Args{Value: groups[0], Detail: finding.Said(strings.Join(groups, ", "))})
	}
	if len(groups) == 0 || groups[0] == name {
		return ""
	}
	return groups[0]
}

func (inv *Inventory) port(t *topology, p ovsdb.LogicalRouterPort) schedule.Port {
	active, known := inv.SB.Host(p.Name)
	return schedule.Port{
		Name: p.Name, Router: t.routerOf[p.UUID].Name, Network: t.networkOf[p.Name], Active: active,
		Disabled: t.routerOf[p.UUID].Disabled, Unknown: !known,
	}
}

// Unbound returns the gateways that have the chassis as a candidate and are bound nowhere, except those of disabled
// routers. It returns none if no port is bound, for instance because no ovn-controller runs.
func (inv *Inventory) Unbound(chassis string) (all []string) {
	known := false
	for _, g := range inv.State.Groups {
		for _, p := range g.Ports {
			known = known || p.Active != ""
			if p.Active == "" && p.Router != "" && !p.Disabled && slices.Contains(g.Ranked(), chassis) {
				all = append(all, p.Name)
			}
		}
	}
	if !known {
		return nil
	}
	return all
}

func (inv *Inventory) zones(t *topology, p ovsdb.LogicalRouterPort) []string {
	router := t.routerOf[p.UUID]
	hints := router.ExternalIDs[zoneHintsKey]
	all := foreign.Names(items(hints, ","))
	if hints != "" && len(all) != 1+strings.Count(hints, ",") {
		inv.find(finding.ZoneHintsInvalid, router.Name, finding.Quote(fmt.Sprintf("%q", foreign.Name(hints))).Args())
	}
	return all
}

func pick(rows map[string]ovsdb.CandidateRow, uuids []string) (all []ovsdb.CandidateRow) {
	for _, uuid := range uuids {
		if r, found := rows[uuid]; found {
			all = append(all, r)
		}
	}
	return all
}

func planned(rows []ovsdb.CandidateRow) (all []schedule.Candidate) {
	for _, r := range rows {
		all = append(all, schedule.Candidate{Chassis: r.Chassis, Priority: r.Priority})
	}
	return all
}
