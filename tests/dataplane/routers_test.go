package dataplane

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

type routed struct {
	port, mac, address string
	// group is the name of its HA_Chassis_Group; empty if its candidates are rows of Gateway_Chassis.
	group string
}

// addGateway adds a router with a gateway and candidates, best first. It uses Gateway_Chassis and a group by turns.
func (w *world) addGateway(candidates ...string) {
	w.t.Helper()
	n := len(w.gateways) + 1
	g := routed{port: fmt.Sprintf("lrp-%d", n), mac: fmt.Sprintf("02:aa:00:00:00:%02x", n), address: fmt.Sprintf("%s.%d", providerNetwork, 100+n)}
	router := fmt.Sprintf("r-%d", n)
	args := []string{
		"lr-add", router, "--", "lrp-add", router, g.port, g.mac, g.address + "/24", "--",
		"lsp-add", "physnet1", g.port + "-sw", "--", "lsp-set-type", g.port + "-sw", "router", "--", "lsp-set-addresses", g.port + "-sw", "router", "--",
		"lsp-set-options", g.port + "-sw", "router-port=" + g.port, "--", "set", "Logical_Router_Port", g.port, "external_ids:neutron\\:is_ext_gw=True",
	}
	if n%2 == 0 {
		g.group = "neutron-" + router
	}
	var rows []string
	for i, chassis := range candidates {
		row := fmt.Sprintf("@c%d", i)
		rows = append(rows, row)
		args = append(args, "--", "--id="+row, "create")
		if g.group == "" {
			args = append(args, "Gateway_Chassis", "name="+g.port+"_"+chassis)
		} else {
			args = append(args, "HA_Chassis")
		}
		args = append(args, "chassis_name="+chassis, fmt.Sprintf("priority=%d", len(candidates)-i))
	}
	list := strings.Join(rows, ",")
	if g.group == "" {
		args = append(args, "--", "set", "Logical_Router_Port", g.port, "gateway_chassis="+list)
	} else {
		args = append(args, "--", "--id=@group", "create", "HA_Chassis_Group", "name="+g.group, "ha_chassis="+list,
			"--", "set", "Logical_Router_Port", g.port, "ha_chassis_group=@group")
	}
	w.nbctl(args...)
	w.gateways = append(w.gateways, g)
}

// rows returns columns of a table's rows, each as plain text. The elements of a set have blanks between them.
func (w *world) rows(ctl func(args ...string) string, columns string, command ...string) [][]string {
	w.t.Helper()
	text := ctl(slices.Concat([]string{"--format=csv", "--data=bare", "--no-headings", "--columns=" + columns}, command)...)
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	require.NoError(w.t, err, text)
	return rows
}

// candidates returns the candidates of each port in NB, best first.
func (w *world) candidates() map[string][]string {
	w.t.Helper()
	type candidate struct {
		chassis  string
		priority int
	}
	there := map[string]candidate{}
	for _, table := range []string{"Gateway_Chassis", "HA_Chassis"} {
		for _, row := range w.rows(w.nbctl, "_uuid,chassis_name,priority", "list", table) {
			priority, err := strconv.Atoi(row[2])
			require.NoError(w.t, err)
			there[row[0]] = candidate{row[1], priority}
		}
	}
	groups := map[string]string{}
	for _, row := range w.rows(w.nbctl, "_uuid,ha_chassis", "list", "HA_Chassis_Group") {
		groups[row[0]] = row[1]
	}
	all := map[string][]string{}
	for _, row := range w.rows(w.nbctl, "name,gateway_chassis,ha_chassis_group", "list", "Logical_Router_Port") {
		var sorted []candidate
		for _, uuid := range strings.Fields(row[1] + " " + groups[row[2]]) {
			sorted = append(sorted, there[uuid])
		}
		slices.SortFunc(sorted, func(a, b candidate) int { return cmp.Compare(b.priority, a.priority) })
		for _, c := range sorted {
			all[row[0]] = append(all[row[0]], c.chassis)
		}
	}
	return all
}

// places has the chassis of each port.
type places map[string]string

// best returns each port's first candidate.
func best(candidates map[string][]string) places {
	all := places{}
	for port, chassis := range candidates {
		all[port] = chassis[0]
	}
	return all
}

// without returns the places after a chassis has failed: its ports are on their first backups.
func without(failed string, candidates map[string][]string) places {
	all := best(candidates)
	for port, chassis := range all {
		if chassis == failed {
			all[port] = candidates[port][1]
		}
	}
	return all
}

// on returns the ports on a chassis.
func (p places) on(chassis string) (ports []string) {
	for port, at := range p {
		if at == chassis {
			ports = append(ports, port)
		}
	}
	slices.Sort(ports)
	return ports
}

// spread returns the difference between the numbers of ports on the fullest and on the emptiest chassis.
func (p places) spread(chassis ...string) int {
	var loads []int
	for _, name := range chassis {
		loads = append(loads, len(p.on(name)))
	}
	return slices.Max(loads) - slices.Min(loads)
}

// bound returns where SB has the ports bound. The name is empty if a port is unbound.
func (w *world) bound() places {
	w.t.Helper()
	names := map[string]string{}
	for _, row := range w.rows(w.sbctl, "_uuid,name", "list", "Chassis") {
		names[row[0]] = row[1]
	}
	all := places{}
	for _, row := range w.rows(w.sbctl, "logical_port,chassis", "find", "Port_Binding", "type=chassisredirect") {
		all[strings.TrimPrefix(row[0], "cr-")] = names[row[1]]
	}
	return all
}
