package ovsdb

import (
	"context"
	"fmt"
	"slices"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
)

// BoundPort is a port that SB binds to a chassis. Port is for people.
type BoundPort struct{ Port, Type, Chassis string }

// Occupied is what SB binds to chassis, and their addresses, at one moment.
type Occupied struct {
	// Ports are the ports bound to a chassis.
	Ports []BoundPort
	// Addresses are the tunnel endpoints of each chassis.
	Addresses map[string][]string
}

// Occupied reads what is bound to a chassis. An empty name means all chassis.
func (g *Gateways) Occupied(ctx context.Context, chassis string) (Occupied, error) {
	fail := func(err error) (Occupied, error) {
		return Occupied{}, fmt.Errorf("cannot read what is on chassis in SB: %w", err)
	}
	answers, err := g.read(ctx, g.sb, query{table: "Chassis", columns: []string{"name", "encaps"}},
		query{table: "Encap", columns: []string{"ip"}})
	if err != nil {
		return fail(err)
	}
	ips, names, uuid := map[string]string{}, map[string]string{}, ""
	for _, r := range answers[1] {
		ips[r.uuid()] = foreign.Name(r.text("ip"))
	}
	o := Occupied{Addresses: map[string][]string{}}
	for _, r := range answers[0] {
		name := r.text("name")
		if !foreign.IsName(name) {
			continue // [Gateways.Southbound] reports it
		}
		names[r.uuid()] = name
		for _, e := range r.references("encaps") {
			o.Addresses[name] = append(o.Addresses[name], ips[e])
		}
		if name == chassis {
			uuid = r.uuid()
		}
	}
	where := []ovsdb.Condition{ovsdb.NewCondition("chassis", ovsdb.ConditionNotEqual, set([]ovsdb.UUID{}))}
	if chassis != "" {
		if uuid == "" {
			return o, nil // nothing is bound to a missing chassis
		}
		where = []ovsdb.Condition{includes("chassis", ovsdb.UUID{GoUUID: uuid})}
	}
	answers, err = g.read(ctx, g.sb, query{"Port_Binding", []string{"logical_port", "type", "chassis"}, where})
	if err != nil {
		return fail(err)
	}
	for _, r := range answers[0] {
		port := foreign.Name(r.text("logical_port"))
		o.Ports = append(o.Ports, BoundPort{port, r.text("type"), names[r.reference("chassis")]})
	}
	return o, nil
}

// RemoveChassis deletes a chassis and its other rows in SB (R13). It deletes nothing and returns [ErrChanged] if the
// chassis's ovn-controller has responded since the chassis was read, if a port of the types is bound to the chassis,
// or if the chassis is a candidate. Without a row of Chassis, only the name counts. Tunnel endpoints are deleted with
// the row of Chassis.
func (g *Gateways) RemoveChassis(ctx context.Context, was ChassisRow, types []string) error {
	name := was.Name
	fail := func(err error) error { return fmt.Errorf("cannot remove chassis %s: %w", name, err) }
	answers, err := g.read(ctx, g.sb,
		query{"Chassis_Private", []string{configColumn}, []ovsdb.Condition{equals("name", name)}},
		query{"Chassis", []string{configColumn}, []ovsdb.Condition{equals("name", name)}})
	if err != nil {
		return fail(err)
	}
	var ops []ovsdb.Operation
	if len(answers[0]) == 0 {
		ops = append(ops, none("Chassis_Private", "name", equals("name", name)))
	}
	for _, r := range answers[0] {
		follows := r.number(configColumn)
		if was.Known {
			follows = was.Follows
		}
		ops = append(ops, unchanged("Chassis_Private", r.uuid(), ovsdb.Row{configColumn: follows}))
	}
	if len(answers[1]) == 0 { // ports are bound to a row, so none are bound
		ops = append(ops, none("Chassis", "name", equals("name", name)))
	}
	for _, r := range answers[1] {
		follows := was.Follows
		if was.Known {
			follows = r.number(configColumn)
		}
		ops = append(ops, unchanged("Chassis", r.uuid(), ovsdb.Row{"name": name, configColumn: follows}))
		on := includes("chassis", ovsdb.UUID{GoUUID: r.uuid()})
		for _, kind := range types {
			ops = append(ops, none("Port_Binding", "chassis", on, equals("type", kind)))
		}
		ops = append(ops, none("HA_Chassis", "chassis", on), none("Gateway_Chassis", "chassis", on))
	}
	ops = slices.DeleteFunc(ops, func(o ovsdb.Operation) bool { _, known := g.sb.Schema().Tables[o.Table]; return !known })
	for table, column := range map[string]string{
		"Chassis_Private": "name", "Chassis": "name", "Chassis_Template_Var": "chassis",
	} {
		if _, known := g.sb.Schema().Tables[table]; known {
			ops = append(ops, ovsdb.Operation{
				Op: ovsdb.OperationDelete, Table: table, Where: []ovsdb.Condition{equals(column, name)},
			})
		}
	}
	if _, err := commit(ctx, g.sb, ops...); err != nil {
		return fail(err)
	}
	return nil
}

// ReleasePorts unbinds the ports of the types from a chassis in one transaction. It writes nothing and returns
// [ErrChanged] if the chassis's ovn-controller has responded since the chassis was read.
func (g *Gateways) ReleasePorts(ctx context.Context, was ChassisRow, types []string) (released int, err error) {
	fail := func(err error) (int, error) {
		return 0, fmt.Errorf("cannot release the ports of chassis %s: %w", was.Name, err)
	}
	answers, err := g.read(ctx, g.sb, query{"Chassis_Private", nil, []ovsdb.Condition{equals("name", was.Name)}},
		query{"Chassis", nil, []ovsdb.Condition{equals("name", was.Name)}})
	if err != nil {
		return fail(err)
	}
	if len(answers[0]) != 1 || len(answers[1]) != 1 {
		return fail(ErrChanged)
	}
	ops := []ovsdb.Operation{unchanged("Chassis_Private", answers[0][0].uuid(), ovsdb.Row{configColumn: was.Follows})}
	on := includes("chassis", ovsdb.UUID{GoUUID: answers[1][0].uuid()})
	for _, kind := range types {
		ops = append(ops, ovsdb.Operation{
			Op: ovsdb.OperationUpdate, Table: "Port_Binding",
			Where: []ovsdb.Condition{on, equals("type", kind)},
			Row:   ovsdb.Row{"chassis": set([]ovsdb.UUID{})},
		})
	}
	results, err := commit(ctx, g.sb, ops...)
	if err != nil {
		return fail(err)
	}
	for _, r := range results {
		released += r.Count
	}
	return released, nil
}
