package ovsdb

import (
	"context"
	"fmt"
	"slices"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// Northbound is the part of NB about gateways, at one moment. Names are those in ovn-nb(5).
type Northbound struct {
	// Config is nb_cfg of NB_Global: how many syncs were requested. ovn-northd answers them first.
	Config int64
	// IDs are external_ids of NB_Global.
	IDs         map[string]string
	Routers     []LogicalRouter
	RouterPorts []LogicalRouterPort
	Switches    []LogicalSwitch
	// SwitchPorts are the ports of types localnet, router, external, l2gateway and vtep.
	SwitchPorts []LogicalSwitchPort
	// GatewayChassis and HAChassis are the rows of candidates, by UUID.
	GatewayChassis, HAChassis map[string]CandidateRow
	Groups                    []HAChassisGroup
	Malformed                 []Malformed
}

// LogicalRouter is a row of Logical_Router.
type LogicalRouter struct {
	UUID, Name  string
	Ports       []string
	ExternalIDs map[string]string
	// Disabled reports whether ovn-northd omits the router from SB, with all of its ports (build_datapaths in northd.c).
	Disabled bool
	// Pinned reports whether options:chassis is set, which makes the router a gateway router (northd.c). Chassis is its
	// value. If a CMS sets it to the empty text, no chassis hosts the router.
	Pinned  bool
	Chassis string
}

// LogicalRouterPort is a row of Logical_Router_Port.
type LogicalRouterPort struct {
	UUID, Name string
	// GatewayChassis and Group are UUIDs.
	GatewayChassis []string
	Group          string
	ExternalIDs    map[string]string
	// Resides reports whether traffic from the port's switch crosses the router on the gateway's chassis
	// (reside-on-redirect-chassis). Bridged reports whether traffic reaches this gateway by the switches' localnet ports
	// (redirect-type).
	Resides, Bridged bool
	// Switchless reports whether the port needs no switch: its peer is the port of another router, or only the router
	// itself sends through it (bfd-only of kube-ovn's OVN).
	Switchless bool
}

// LogicalSwitch is a row of Logical_Switch.
type LogicalSwitch struct {
	UUID, Name string
	Ports      []string
	// NetworkType is the type of Neutron's network (OVN_NETTYPE_EXT_ID_KEY in neutron/common/ovn/constants.py); empty if
	// it is unknown, as in earlier releases.
	NetworkType string
}

// LogicalSwitchPort is a row of Logical_Switch_Port.
type LogicalSwitchPort struct {
	UUID, Name, Type string
	Options          map[string]string
	// Group is a UUID.
	Group string
	// Gateway reports whether Neutron has made the port for a router's gateway.
	Gateway bool
	// ExternalIDs are read for external ports only.
	ExternalIDs map[string]string
}

// CandidateRow is a row of Gateway_Chassis, or of HA_Chassis, which has no name.
type CandidateRow struct {
	UUID, Name, Chassis string
	Priority            int
}

// HAChassisGroup is a row of HA_Chassis_Group.
type HAChassisGroup struct {
	UUID, Name string
	// Members are UUIDs of HA_Chassis.
	Members     []string
	ExternalIDs map[string]string
}

// Northbound reads NB. It works with every schema since OVN 20.12.
func (g *Gateways) Northbound(ctx context.Context) (Northbound, error) {
	ofType := func(kind string, more ...string) query {
		columns := append([]string{"name", "type", "options", "ha_chassis_group"}, more...)
		return query{"Logical_Switch_Port", columns, []ovsdb.Condition{equals("type", kind)}}
	}
	answers, err := g.read(ctx, g.nb,
		query{table: "NB_Global", columns: []string{"nb_cfg", externalIDs}},
		query{table: routerTable, columns: []string{"name", "ports", externalIDs, "enabled", "options"}},
		query{
			table:   routerPortTable,
			columns: []string{"name", "gateway_chassis", "ha_chassis_group", externalIDs, "options", "peer"},
		},
		query{table: "Logical_Switch", columns: []string{"name", "ports", externalIDs}},
		query{table: "Gateway_Chassis", columns: []string{"name", "chassis_name", "priority"}},
		query{table: "HA_Chassis", columns: []string{"chassis_name", "priority"}},
		query{table: "HA_Chassis_Group", columns: []string{"name", "ha_chassis", externalIDs}},
		ofType("localnet"), ofType("router"), ofType("external", externalIDs), ofType("l2gateway"), ofType("vtep"),
		query{table: "Logical_Switch_Port", where: []ovsdb.Condition{includes(externalIDs, gatewayOwner())}},
	)
	if err != nil {
		return Northbound{}, fmt.Errorf("cannot look for gateways in NB: %w", err)
	}
	n := Northbound{GatewayChassis: candidates(answers[4]), HAChassis: candidates(answers[5])}
	for _, r := range answers[0] {
		n.Config, n.IDs = r.number("nb_cfg"), r.pairs(externalIDs)
	}
	for _, r := range answers[1] {
		chassis, pinned := r.pairs("options")["chassis"]
		n.Routers = append(n.Routers, LogicalRouter{
			r.uuid(), foreign.Name(r.text("name")), r.references("ports"), r.pairs(externalIDs), r["enabled"] == false,
			pinned, foreign.Name(chassis),
		})
	}
	n.addPorts(answers[2])
	for _, r := range answers[3] {
		n.Switches = append(n.Switches, LogicalSwitch{
			r.uuid(), foreign.Name(r.text("name")), r.references("ports"), r.pairs(externalIDs)["neutron:provnet-network-type"],
		})
	}
	n.addGroups(answers[6])
	last, gateways := len(answers)-1, map[string]bool{}
	for _, r := range answers[last] {
		gateways[r.uuid()] = true
	}
	for _, some := range answers[7:last] {
		for _, r := range some {
			options := r.pairs("options")
			for key, value := range options {
				options[key] = foreign.Name(value)
			}
			n.SwitchPorts = append(n.SwitchPorts, LogicalSwitchPort{
				r.uuid(), foreign.Name(r.text("name")), r.text("type"), options, r.reference("ha_chassis_group"),
				gateways[r.uuid()], r.pairs(externalIDs),
			})
		}
	}
	return n, nil
}

// gatewayOwner returns Neutron's value, in every release, in external_ids of the switch port of a router's gateway.
func gatewayOwner() ovsdb.OvsMap {
	return pairs(map[string]string{"neutron:device_owner": "network:router_gateway"})
}

// addPorts omits ports whose own name, or a candidate's, is malformed: they can't be written back unchanged.
func (n *Northbound) addPorts(rows []row) {
	for _, r := range rows {
		options := r.pairs("options")
		p := LogicalRouterPort{
			r.uuid(), r.text("name"), r.references("gateway_chassis"), r.reference("ha_chassis_group"),
			r.pairs(externalIDs), options["reside-on-redirect-chassis"] == "true", options["redirect-type"] == "bridged",
			r.text("peer") != "" || options["bfd-only"] == "true",
		}
		if !n.unnamed(routerPortTable, r, n.GatewayChassis, p.GatewayChassis) {
			n.RouterPorts = append(n.RouterPorts, p)
		}
	}
}

// addGroups omits groups for the same reason.
func (n *Northbound) addGroups(rows []row) {
	for _, r := range rows {
		g := HAChassisGroup{r.uuid(), r.text("name"), r.references("ha_chassis"), r.pairs(externalIDs)}
		if !n.unnamed(groupTable, r, n.HAChassis, g.Members) {
			n.Groups = append(n.Groups, g)
		}
	}
}

// unnamed reports whether the name of a row, or of a chassis among its candidates, is malformed, and records the row.
func (n *Northbound) unnamed(table string, r row, all map[string]CandidateRow, candidates []string) bool {
	return unnamed(&n.Malformed, table, r, r.text("name")) || slices.ContainsFunc(candidates, func(uuid string) bool {
		return unnamed(&n.Malformed, table, r, all[uuid].Chassis)
	})
}

func candidates(rows []row) map[string]CandidateRow {
	all := map[string]CandidateRow{}
	for _, r := range rows {
		name, chassis := foreign.Name(r.text("name")), shared(r.text("chassis_name"))
		all[r.uuid()] = CandidateRow{r.uuid(), name, chassis, int(r.number("priority"))}
	}
	return all
}
