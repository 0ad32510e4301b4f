package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/transact"
)

func insert(table, name string, row map[string]any) transact.Operation {
	o := transact.Operation{"op": "insert", "table": table, "row": row}
	if name != "" {
		o["uuid-name"] = name
	}
	return o
}

func fill(b *testing.B, socket, database string, transactions [][]transact.Operation) {
	b.Helper()
	for _, operations := range transactions {
		_, err := transact.Do(b.Context(), socket, database, operations...)
		require.NoError(b, err)
	}
}

// Values as OVSDB writes them (RFC 7047, section 5.1).
func set(items ...any) []any { return []any{"set", items} }

func named(name string) []string { return []string{"named-uuid", name} }

func pairs(keysAndValues ...string) []any {
	all := []any{}
	for pair := range slices.Chunk(keysAndValues, 2) {
		all = append(all, pair)
	}
	return []any{"map", all}
}

// id has the length of Neutron's IDs and of a system-id.
func id(kind, n int) string { return fmt.Sprintf("%08x-0000-4000-8000-%012x", n*7919, kind<<32+n) }

const batchSize = 500

// northbound returns what Neutron writes.
func northbound() [][]transact.Operation { return routers(gateways, hosts, candidates) }

func routers(count, hosts, candidates int) (all [][]transact.Operation) {
	first := []transact.Operation{insert("NB_Global", "", map[string]any{})}
	for n := range networks {
		port := fmt.Sprintf("localnet%d", n)
		first = append(first,
			insert("Logical_Switch_Port", port, map[string]any{
				"name": "provnet-" + id(5, n), "type": "localnet", "options": pairs("network_name", network(n), "mcast_flood", "false"),
			}),
			insert("Logical_Switch", "", map[string]any{"name": "neutron-" + id(4, n), "ports": named(port)}),
		)
	}
	all = append(all, first)
	for begin := 0; begin < count; begin += batchSize {
		var some []transact.Operation
		ports := make([][]any, networks)
		for n := begin; n < min(begin+batchSize, count); n++ {
			some = append(some, router(n, hosts, candidates)...)
			ports[n%networks] = append(ports[n%networks], named(fmt.Sprintf("switchport%d", n)))
		}
		for n, list := range ports {
			some = append(some, transact.Operation{
				"op": "mutate", "table": "Logical_Switch", "where": []any{[]any{"name", "==", "neutron-" + id(4, n)}},
				"mutations": []any{[]any{"ports", "insert", set(list...)}},
			})
		}
		all = append(all, some)
	}
	return all
}

func network(n int) string { return fmt.Sprintf("physnet%d", n) }

// router has a gateway with candidates, the best with the same priority in any cloud. Neutron sets the option, without
// which ovn-northd writes a flow for every two routers of a network.
func router(n, hosts, some int) (all []transact.Operation) {
	port, routerID := "lrp-"+id(2, n), id(1, n)
	list := []any{}
	for i := range some {
		name, chassis := fmt.Sprintf("candidate%d_%d", n, i), id(0, hostAmong(n, i, hosts))
		list = append(list, named(name))
		all = append(all, insert("Gateway_Chassis", name, map[string]any{
			"name": port + "_" + chassis, "chassis_name": chassis, "priority": candidates - i,
		}))
	}
	here := fmt.Sprintf("port%d", n)
	return append(all,
		insert("Logical_Router_Port", here, map[string]any{
			"name": port, "mac": fmt.Sprintf("fa:16:3e:%02x:%02x:%02x", n>>16, n>>8&255, n&255), "networks": fmt.Sprintf("10.%d.%d.1/16", n>>8, n&255),
			"gateway_chassis": set(list...),
			"external_ids": pairs("neutron:is_ext_gw", "True", "neutron:network_name", "neutron-"+id(4, n%networks),
				"neutron:revision_number", "5", "neutron:router_name", routerID, "neutron:subnet_ids", id(6, n%networks)),
		}),
		insert("Logical_Router", "", map[string]any{
			"name": "neutron-" + routerID, "ports": named(here), "options": pairs("always_learn_from_arp_request", "false", "dynamic_neigh_routers", "true"),
			"external_ids": pairs("neutron:availability_zone_hints", "", "neutron:gw_port_id", id(2, n), "neutron:revision_number", "7",
				"neutron:router_name", fmt.Sprintf("router-%d", n)),
		}),
		insert("Logical_Switch_Port", fmt.Sprintf("switchport%d", n), map[string]any{
			"name": id(2, n), "type": "router", "addresses": "router",
			"options": pairs("router-port", port, "nat-addresses", "router", "exclude-lb-vips-from-garp", "true"),
		}),
	)
}

// hostAmong returns the chassis of a candidate. Gateways of one master have different backups.
func hostAmong(n, rank, hosts int) int { return (n + rank*(1+n/hosts%(hosts/candidates))) % hosts }

func southbound() (all [][]transact.Operation) {
	first := append(chassisRows(hosts), insert("Datapath_Binding", "datapath", map[string]any{"tunnel_key": 1}))
	for n := range gateways {
		first = append(first, insert("Port_Binding", "", map[string]any{
			"logical_port": "cr-lrp-" + id(2, n), "type": "chassisredirect", "datapath": named("datapath"), "tunnel_key": n + 1,
			"chassis": named(fmt.Sprintf("chassis%d", hostAmong(n, 0, hosts))), "options": pairs("distributed-port",
				"lrp-"+id(2, n)), "up": true,
		}))
	}
	return [][]transact.Operation{first}
}

func chassisRows(hosts int) []transact.Operation {
	var mappings []string
	for n := range networks {
		mappings = append(mappings, network(n)+":br-ex"+strconv.Itoa(n))
	}
	first := []transact.Operation{insert("SB_Global", "", map[string]any{})}
	for n := range hosts {
		encap, chassis := fmt.Sprintf("encap%d", n), fmt.Sprintf("chassis%d", n)
		config := pairs("ovn-bridge-mappings", strings.Join(mappings, ","), "ovn-cms-options", "enable-chassis-as-gw,availability-zones=az1",
			"datapath-type", "system", "iface-types", "bareudp,erspan,geneve,gre,gtpu,internal,ip6erspan,ip6gre,lisp,patch,srv6,stt,system,tap,vxlan",
			"is-interconn", "false", "ovn-chassis-mac-mappings", "", "ovn-enable-lflow-cache", "true", "ovn-monitor-all", "true",
			"port-up-notif", "true", "ct-no-masked-label", "true")
		first = append(first,
			insert("Encap", encap, map[string]any{"type": "geneve", "ip": fmt.Sprintf("192.0.2.%d", n), "chassis_name": id(0, n)}),
			insert("Chassis", chassis, map[string]any{
				"name": id(0, n), "hostname": fmt.Sprintf("gateway-%d.example.org", n), "encaps": named(encap), "other_config": config,
			}),
			sign(n),
		)
	}
	return first
}

// sign returns the row in which a chassis gives signs of life.
func sign(n int) transact.Operation {
	return insert("Chassis_Private", "", map[string]any{
		"name": id(0, n), "chassis": named(fmt.Sprintf("chassis%d", n)), "nb_cfg_timestamp": 1_700_000_000_000,
	})
}
