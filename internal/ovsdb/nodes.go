package ovsdb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Guard is the condition of a transaction on external_ids of NB_Global. Other clients write to the same map all the
// time, so only single pairs are compared.
type Guard struct {
	// Has are required pairs, Lacks forbidden ones.
	Has, Lacks map[string]string
	// NoCandidate is a chassis that may be in no list of candidates of NB.
	NoCandidate string
}

func (g Guard) empty() bool { return len(g.Has)+len(g.Lacks) == 0 && g.NoCandidate == "" }

// operations fail the transaction if the row of this UUID does not fit.
func (g Guard) operations(uuid string) []ovsdb.Operation {
	var conditions []ovsdb.Condition
	if len(g.Has) > 0 {
		conditions = append(conditions, includes(externalIDs, pairs(g.Has)))
	}
	if len(g.Lacks) > 0 {
		conditions = append(conditions, ovsdb.NewCondition(externalIDs, ovsdb.ConditionExcludes, pairs(g.Lacks)))
	}
	ops := []ovsdb.Operation{fits(ovndb.NB.GlobalTable(), uuid, conditions...)}
	if g.NoCandidate != "" {
		for _, table := range []string{"Gateway_Chassis", "HA_Chassis"} {
			ops = append(ops, none(table, chassisColumn, equals(chassisColumn, g.NoCandidate)))
		}
	}
	return ops
}

// ErrUninitialized is returned if no client has used NB yet: the first one makes the row.
var ErrUninitialized = errors.New("NB_Global has no row yet: ovn-northd makes it once it runs, " +
	"and so does ovn-nbctl init")

// global is the UUID of the only row of NB_Global.
func (g *Gateways) global(ctx context.Context) (string, error) {
	answers, err := read(ctx, g.nb, query{table: ovndb.NB.GlobalTable()})
	if err != nil {
		return "", err
	}
	switch len(answers[0]) {
	case 0:
		return "", ErrUninitialized
	case 1:
	default:
		return "", fmt.Errorf("NB_Global has %d rows", len(answers[0]))
	}
	return answers[0][0].uuid(), nil
}

// Amendment is a change of external_ids of NB_Global and of the journal.
type Amendment struct {
	// Put are pairs to set, Drop keys to remove.
	Put  map[string]string
	Drop []string
	// Added are the texts of new rows of the journal, Changed new texts of existing rows, and Dropped rows to delete,
	// by UUID.
	Added   []string
	Changed map[string]string
	Dropped []string
}

// AmendIDs makes an amendment in one transaction, if NB_Global fits the guard; otherwise it writes nothing and returns
// [ErrChanged], or [ErrFenced].
func (g *Gateways) AmendIDs(ctx context.Context, guard Guard, a Amendment) error {
	_, err := g.write(ctx, guard, a, false)
	return err
}

// AmendIDsAndSync is [Gateways.AmendIDs] and [Gateways.SyncNorthd] in one transaction.
func (g *Gateways) AmendIDsAndSync(ctx context.Context, guard Guard, a Amendment, waiting Waiting) error {
	asked, err := g.write(ctx, guard, a, true)
	if err != nil {
		return err
	}
	return g.AwaitNorthd(ctx, asked, waiting)
}

// BoundPort is a port that SB binds to a chassis; Port is for people.
type BoundPort struct{ Port, Type, Chassis string }

// Occupied is what SB has on chassis, at one moment.
type Occupied struct {
	// Ports are the ports bound to a chassis.
	Ports []BoundPort
	// Addresses are the tunnel endpoints of each chassis.
	Addresses map[string][]string
}

// Occupied reads what is on a chassis; an empty name means all chassis.
func (g *Gateways) Occupied(ctx context.Context, chassis string) (Occupied, error) {
	fail := func(err error) (Occupied, error) {
		return Occupied{}, fmt.Errorf("cannot read what is on chassis in SB: %w", err)
	}
	answers, err := read(ctx, g.sb, query{table: "Chassis", columns: []string{"name", "encaps"}},
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
	answers, err = read(ctx, g.sb, query{"Port_Binding", []string{"logical_port", "type", "chassis"}, where})
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
// chassis's ovn-controller has responded since the chassis was read, if a port of the types is bound to it, or if it is
// a candidate. Without a row of Chassis, only the name counts. Tunnel endpoints are deleted with the row of Chassis.
func (g *Gateways) RemoveChassis(ctx context.Context, was ChassisRow, types []string) error {
	name := was.Name
	fail := func(err error) error { return fmt.Errorf("cannot remove chassis %s: %w", name, err) }
	answers, err := read(ctx, g.sb,
		query{"Chassis_Private", []string{"nb_cfg"}, []ovsdb.Condition{equals("name", name)}},
		query{"Chassis", []string{"name"}, []ovsdb.Condition{equals("name", name)}})
	if err != nil {
		return fail(err)
	}
	var ops []ovsdb.Operation
	if len(answers[0]) == 0 {
		ops = append(ops, none("Chassis_Private", "name", equals("name", name)))
	}
	for _, r := range answers[0] {
		follows := r.number("nb_cfg")
		if was.Known {
			follows = was.Follows
		}
		ops = append(ops, unchanged("Chassis_Private", r.uuid(), ovsdb.Row{"nb_cfg": follows}))
	}
	if len(answers[1]) == 0 { // ports are bound to a row
		ops = append(ops, none("Chassis", "name", equals("name", name)))
	}
	for _, r := range answers[1] {
		ops = append(ops, unchanged("Chassis", r.uuid(), ovsdb.Row{"name": name}))
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
	answers, err := read(ctx, g.sb, query{"Chassis_Private", nil, []ovsdb.Condition{equals("name", was.Name)}},
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

// none fails the transaction if a row fits the conditions, the first of which compares the column. All such rows are
// equal in that column, and a wait treats equal rows as one (ovsdb_execute_wait in ovsdb/execution.c).
func none(table, column string, where ...ovsdb.Condition) ovsdb.Operation {
	return ovsdb.Operation{
		Op: ovsdb.OperationWait, Table: table, Timeout: new(0), Where: where,
		Columns: []string{column}, Until: "!=", Rows: []ovsdb.Row{{column: where[0].Value}},
	}
}
