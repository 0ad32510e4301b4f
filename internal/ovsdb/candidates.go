package ovsdb

import (
	"fmt"

	"github.com/ovn-org/libovsdb/ovsdb"
)

// Candidates is a change of a list of candidates.
type Candidates struct {
	// Port reports whether the list is that of a router port, in Gateway_Chassis; otherwise it is that of an
	// HA_Chassis_Group. Holder is the UUID of the port or group, Name the port's name.
	Port         bool
	Holder, Name string
	// Before is the list as it was read, After is the new list. A row without a UUID is new; in Gateway_Chassis it needs a
	// name that no other row has.
	Before, After []CandidateRow
	// Routers are the routers of the list, as they were read. Their zones influence the plan.
	Routers []LogicalRouter
	// Create is the group to create; Holder is empty then.
	Create NewGroup
}

// NewGroup is an HA_Chassis_Group to create.
type NewGroup struct {
	// Ports are the UUIDs of its router ports.
	Ports       []string
	ExternalIDs map[string]string
}

// table returns the table of the candidates, the table of the row that has the list, and the list's column.
func (x Candidates) table() (table, holder, column string) {
	if x.Port {
		return "Gateway_Chassis", routerPortTable, gatewayChassisColumn
	}
	return "HA_Chassis", groupTable, "ha_chassis"
}

// operations first waits for the rows to be unchanged, with timeout 0.
func (x Candidates) operations(n int) []ovsdb.Operation {
	table, holder, column := x.table()
	ops, before := x.guards()
	var there []ovsdb.UUID
	for i, r := range x.After {
		if old, known := before[r.UUID]; known {
			there = append(there, ovsdb.UUID{GoUUID: r.UUID})
			if old.Priority != r.Priority {
				ops = append(ops, update(table, r.UUID, ovsdb.Row{priorityColumn: r.Priority}))
			}
			continue
		}
		name := fmt.Sprintf("new_%d_%d", n, i)
		fresh := ovsdb.Row{chassisColumn: r.Chassis, priorityColumn: r.Priority}
		if x.Port {
			fresh["name"] = r.Name
		}
		ops = append(ops, insert(table, name, fresh))
		there = append(there, ovsdb.UUID{GoUUID: name})
	}
	if x.Holder != "" {
		return append(ops, update(holder, x.Holder, ovsdb.Row{column: set(there)}))
	}
	group := fmt.Sprintf("group_%d", n)
	ops = append(ops, insert(groupTable, group, ovsdb.Row{
		"name": x.Name, column: set(there), externalIDs: pairs(x.Create.ExternalIDs),
	}))
	for _, port := range x.Create.Ports {
		ops = append(ops, update(routerPortTable, port, ovsdb.Row{groupColumn: set([]ovsdb.UUID{{GoUUID: group}})}))
	}
	return ops
}

// guards returns operations that wait for the rows as they were read, and these rows by UUID.
func (x Candidates) guards() (ops []ovsdb.Operation, before map[string]CandidateRow) {
	table, holder, column := x.table()
	for _, r := range x.Routers {
		ops = append(ops, unchanged(routerTable, r.UUID, ovsdb.Row{externalIDs: pairs(r.ExternalIDs)}))
	}
	for _, port := range x.Create.Ports {
		nothing := set([]ovsdb.UUID{})
		ops = append(ops, unchanged(routerPortTable, port, ovsdb.Row{groupColumn: nothing, gatewayChassisColumn: nothing}))
	}
	if x.Holder == "" {
		return ops, nil
	}
	before = map[string]CandidateRow{}
	var read []ovsdb.UUID
	for _, r := range x.Before {
		before[r.UUID] = r
		read = append(read, ovsdb.UUID{GoUUID: r.UUID})
		ops = append(ops, unchanged(table, r.UUID, ovsdb.Row{chassisColumn: r.Chassis, priorityColumn: r.Priority}))
	}
	list := ovsdb.Row{column: set(read), "name": x.Name} // new rows are named after the holder
	if x.Port {
		list[groupColumn] = set([]ovsdb.UUID{}) // OVN ignores the list of a port with a group
	}
	return append(ops, unchanged(holder, x.Holder, list)), before
}
