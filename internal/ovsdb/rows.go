package ovsdb

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/model"
	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/foreign"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Names of the tables and columns of candidates (ovn-nb(5)).
const (
	routerTable     = "Logical_Router"
	routerPortTable = "Logical_Router_Port"
	groupTable      = "HA_Chassis_Group"
	groupColumn     = "ha_chassis_group"
	chassisColumn   = "chassis_name"
	priorityColumn  = "priority"
	configColumn    = "nb_cfg"

	gatewayChassisColumn = "gateway_chassis"
)

// Timeouts of single calls. Connecting includes reading the schema; a snapshot of 10,000 routers takes some seconds.
const (
	connectTimeout = 20 * time.Second
	callTimeout    = 2 * time.Minute
)

// globalRow is the part of NB_Global and SB_Global that the product reads.
type globalRow struct {
	UUID        string            `ovsdb:"_uuid"`
	ExternalIDs map[string]string `ovsdb:"external_ids"`
}

const externalIDs = "external_ids"

// query requests columns of a table's rows.
type query struct {
	table   string
	columns []string
	where   []ovsdb.Condition
}

// row is a row as it was read.
type row ovsdb.Row

// database connects to the first of the endpoints that serves a database.
func (d *Dialer) database(ctx context.Context, db ovndb.Database, endpoints ...string) (client.Client, error) {
	m, err := model.NewClientDBModel(string(db), map[string]model.Model{db.GlobalTable(): &globalRow{}})
	if err != nil {
		return nil, fmt.Errorf("cannot model %s: %w", db, err)
	}
	return d.client(ctx, m, endpoints...)
}

// read reads rows in one transaction. It does not request tables and columns that are not in the server's schema.
func read(ctx context.Context, c client.Client, queries ...query) ([][]row, error) {
	schema := c.Schema()
	answers := make([][]row, len(queries))
	var known []query
	var asked []int
	for i, q := range queries {
		table, there := schema.Tables[q.table]
		if !there {
			continue
		}
		q.columns = slices.DeleteFunc(slices.Clone(q.columns), func(column string) bool {
			return table.Columns[column] == nil
		})
		known = append(known, q)
		asked = append(asked, i)
	}
	rows, err := readKnown(ctx, c, known...)
	for k := range rows {
		answers[asked[k]] = rows[k]
	}
	return answers, err
}

// readKnown reads rows in one transaction. Each server's schema must have all tables and columns.
func readKnown(ctx context.Context, c transactor, queries ...query) ([][]row, error) {
	var ops []ovsdb.Operation
	for _, q := range queries {
		columns := append(slices.Clone(q.columns), "_uuid")
		ops = append(ops, ovsdb.Operation{Op: ovsdb.OperationSelect, Table: q.table, Where: q.where, Columns: columns})
	}
	results, err := transact(ctx, c, ops...)
	switch {
	case err != nil && len(queries) == 0: // without a connection [read] knows no schema, so no table
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("cannot read %s: %w", queries[0].table, err)
	}
	answers := make([][]row, len(queries))
	for i := range queries {
		for _, r := range results[i].Rows {
			answers[i] = append(answers[i], row(r))
		}
	}
	return answers, nil
}

func (r row) uuid() string { return r.reference("_uuid") }

// reference returns the first of the rows that a column refers to; empty if there is none.
func (r row) reference(column string) string {
	for _, uuid := range r.references(column) {
		return uuid
	}
	return ""
}

// references returns the rows that a column refers to. A set with one element is a plain value (RFC 7047, section
// 5.1).
func (r row) references(column string) (all []string) {
	switch value := r[column].(type) {
	case ovsdb.UUID:
		return []string{value.GoUUID}
	case ovsdb.OvsSet:
		for _, item := range value.GoSet {
			if uuid, ok := item.(ovsdb.UUID); ok {
				all = append(all, uuid.GoUUID)
			}
		}
	}
	return all
}

// Malformed is a row that is left alone because the name that identifies it is malformed: a cleaned name would
// identify another row (R18). Name is for people.
type Malformed struct{ Table, UUID, Name string }

// unnamed reports whether the name of a row is malformed, and records such a row.
func unnamed(all *[]Malformed, table string, r row, name string) bool {
	if foreign.IsName(name) {
		return false
	}
	*all = append(*all, Malformed{table, r.uuid(), foreign.Name(name)})
	return true
}

// text returns a column's unchanged value. Package foreign cleans what is shown to people.
func (r row) text(column string) string {
	text, _ := r[column].(string)
	return text
}

func (r row) number(column string) int64 {
	number, _ := r[column].(float64)
	return int64(number)
}

func (r row) pairs(column string) map[string]string {
	all := map[string]string{}
	m, _ := r[column].(ovsdb.OvsMap)
	for k, v := range m.GoMap {
		key, _ := k.(string)
		all[key], _ = v.(string)
	}
	return all
}

// set returns a set of the library. NewOvsSet fails only for other types.
func set[T any](elements []T) ovsdb.OvsSet {
	s := ovsdb.OvsSet{GoSet: []any{}}
	for _, e := range elements {
		s.GoSet = append(s.GoSet, e)
	}
	return s
}

// pairs returns a map of the library.
func pairs(all map[string]string) ovsdb.OvsMap {
	m := ovsdb.OvsMap{GoMap: map[any]any{}}
	for key, value := range all {
		m.GoMap[key] = value
	}
	return m
}

// unchanged returns an operation that fails the transaction if the row has changed or is gone.
func unchanged(table, uuid string, was ovsdb.Row) ovsdb.Operation {
	return ovsdb.Operation{
		Op: ovsdb.OperationWait, Table: table, Timeout: new(0), Where: at(uuid),
		Columns: slices.Collect(maps.Keys(was)), Until: "==", Rows: []ovsdb.Row{was},
	}
}

// fits returns an operation that fails the transaction if the row does not fit the conditions. The opposite, a wait
// for no row, can't be sent: the library drops an empty list of rows.
func fits(table, uuid string, conditions ...ovsdb.Condition) ovsdb.Operation {
	return ovsdb.Operation{
		Op: ovsdb.OperationWait, Table: table, Timeout: new(0), Where: append(at(uuid), conditions...),
		Columns: []string{"_uuid"}, Until: "==", Rows: []ovsdb.Row{{"_uuid": ovsdb.UUID{GoUUID: uuid}}},
	}
}

// amended returns an operation that deletes keys of external_ids and inserts pairs. An insert alone does not
// overwrite.
func amended(table, uuid string, gone []string, put map[string]string) ovsdb.Operation {
	op := ovsdb.Operation{Op: ovsdb.OperationMutate, Table: table, Where: at(uuid)}
	if len(gone) > 0 {
		op.Mutations = append(op.Mutations, *ovsdb.NewMutation(externalIDs, ovsdb.MutateOperationDelete, set(gone)))
	}
	if len(put) > 0 {
		op.Mutations = append(op.Mutations, *ovsdb.NewMutation(externalIDs, ovsdb.MutateOperationInsert, pairs(put)))
	}
	return op
}

// insert returns an operation that inserts a row. name is its name within the transaction (RFC 7047, section 3.1),
// and may be empty.
func insert(table, name string, row ovsdb.Row) ovsdb.Operation {
	return ovsdb.Operation{Op: ovsdb.OperationInsert, Table: table, UUIDName: name, Row: row}
}

func update(table, uuid string, row ovsdb.Row) ovsdb.Operation {
	return ovsdb.Operation{Op: ovsdb.OperationUpdate, Table: table, Where: at(uuid), Row: row}
}

func at(uuid string) []ovsdb.Condition {
	return []ovsdb.Condition{equals("_uuid", ovsdb.UUID{GoUUID: uuid})}
}

func equals(column string, value any) ovsdb.Condition {
	return ovsdb.NewCondition(column, ovsdb.ConditionEqual, value)
}

func includes(column string, value any) ovsdb.Condition {
	return ovsdb.NewCondition(column, ovsdb.ConditionIncludes, value)
}

// none returns an operation that fails the transaction if a row fits the conditions. The first condition compares the
// column: all such rows are equal in it, and a wait treats equal rows as one (ovsdb_execute_wait in
// ovsdb/execution.c).
func none(table, column string, where ...ovsdb.Condition) ovsdb.Operation {
	return ovsdb.Operation{
		Op: ovsdb.OperationWait, Table: table, Timeout: new(0), Where: where,
		Columns: []string{column}, Until: "!=", Rows: []ovsdb.Row{{column: where[0].Value}},
	}
}
