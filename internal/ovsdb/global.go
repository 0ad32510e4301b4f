package ovsdb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/model"
	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// globalRow is the part of NB_Global and SB_Global that the product reads.
type globalRow struct {
	UUID        string            `ovsdb:"_uuid"`
	ExternalIDs map[string]string `ovsdb:"external_ids"`
}

const externalIDs = "external_ids"

// Global is a connection to a database's only NB_Global or SB_Global row, in
// whose external_ids the product keeps what all units must agree on. Reads are
// those of the server that is connected to, and may be older than the leader's;
// a swap is decided by the leader.
type Global struct {
	client client.Client
	table  string
}

// Global connects to the first of the endpoints that serves the database. The
// caller closes the connection.
func (d *Dialer) Global(ctx context.Context, db ovndb.Database, endpoints ...string) (*Global, error) {
	table := "NB_Global"
	if db == ovndb.SB {
		table = "SB_Global"
	}
	m, err := model.NewClientDBModel(string(db), map[string]model.Model{table: &globalRow{}})
	if err != nil {
		return nil, fmt.Errorf("cannot model %s: %w", db, err)
	}
	c, err := d.connect(ctx, m, endpoints...)
	if err != nil {
		return nil, err
	}
	return &Global{client: c, table: table}, nil
}

// Close ends the connection.
func (g *Global) Close() { g.client.Close() }

// Read returns the row's external_ids; nil where the row is not there yet.
func (g *Global) Read(ctx context.Context) (map[string]string, error) {
	_, ids, err := g.row(ctx)
	return ids, err
}

func (g *Global) row(ctx context.Context) (uuid string, ids map[string]string, err error) {
	results, err := transact(ctx, g.client, ovsdb.Operation{
		Op: ovsdb.OperationSelect, Table: g.table, Columns: []string{"_uuid", externalIDs},
	})
	if err != nil {
		return "", nil, fmt.Errorf("cannot read %s: %w", g.table, err)
	}
	if len(results[0].Rows) == 0 {
		return "", nil, nil
	}
	row := results[0].Rows[0]
	found, _ := row["_uuid"].(ovsdb.UUID)
	return found.GoUUID, stringMap(row[externalIDs]), nil
}

func stringMap(value any) map[string]string {
	all := map[string]string{}
	m, _ := value.(ovsdb.OvsMap)
	for k, v := range m.GoMap {
		key, _ := k.(string)
		all[key], _ = v.(string)
	}
	return all
}

// Swap replaces the value of key by next, if it still is old when the leader
// commits it; an empty old means that the key is not there, or empty. It says
// whether it did: false means that another client was first. After an error, the
// swap may have been made or not: read again.
func (g *Global) Swap(ctx context.Context, key, old, next string) (bool, error) {
	uuid, ids, err := g.row(ctx)
	if err != nil {
		return false, err
	}
	value, there := ids[key]
	if value != old {
		return false, nil
	}
	var ops []ovsdb.Operation
	if uuid == "" {
		ops, err = g.insertRow(key, next)
	} else {
		ops, err = g.swap(uuid, key, old, next, there)
	}
	if err != nil {
		return false, fmt.Errorf("cannot make the transaction: %w", err)
	}
	results, err := send(ctx, g.client, ops...)
	if err != nil {
		return false, fmt.Errorf("cannot write %s: %w", g.table, err)
	}
	for _, r := range results {
		switch r.Error {
		case "":
		case "timed out", "constraint violation": // the wait was in vain; a second row
			return false, nil
		default:
			return false, fmt.Errorf("cannot write %s: %s: %s", g.table, r.Error, r.Details)
		}
	}
	if uuid == "" {
		return true, nil
	}
	// An insert into a map does not overwrite: the value tells which client was first.
	after := results[len(results)-1].Rows
	return len(after) == 1 && stringMap(after[0][externalIDs])[key] == next, nil
}

// Put sets pairs in external_ids, whatever stood there before.
func (g *Global) Put(ctx context.Context, pairs map[string]string) error {
	uuid, _, err := g.row(ctx)
	if err != nil {
		return err
	}
	if uuid == "" {
		return fmt.Errorf("cannot write %s: it has no row", g.table)
	}
	op, err := g.mutate(uuid, slices.Collect(maps.Keys(pairs)), pairs)
	if err != nil {
		return fmt.Errorf("cannot make the transaction: %w", err)
	}
	if _, err := transact(ctx, g.client, op); err != nil {
		return fmt.Errorf("cannot write %s: %w", g.table, err)
	}
	return nil
}

// Drop takes keys out of external_ids, whatever their values.
func (g *Global) Drop(ctx context.Context, keys ...string) error {
	uuid, _, err := g.row(ctx)
	if err != nil || uuid == "" {
		return err
	}
	op, err := g.mutate(uuid, keys, nil)
	if err != nil {
		return fmt.Errorf("cannot make the transaction: %w", err)
	}
	if _, err := transact(ctx, g.client, op); err != nil {
		return fmt.Errorf("cannot write %s: %w", g.table, err)
	}
	return nil
}

// insertRow makes the row, which ovn-northd else makes when it first starts. The
// schema allows one row only, so that of two inserts one fails.
func (g *Global) insertRow(key, next string) ([]ovsdb.Operation, error) {
	value, err := ovsdb.NewOvsMap(map[string]string{key: next})
	return []ovsdb.Operation{{
		Op: ovsdb.OperationInsert, Table: g.table, UUIDName: "global", Row: ovsdb.Row{externalIDs: value},
	}}, err
}

func at(uuid string) []ovsdb.Condition {
	return []ovsdb.Condition{ovsdb.NewCondition("_uuid", ovsdb.ConditionEqual, ovsdb.UUID{GoUUID: uuid})}
}

// swap guards the change with a wait on the one pair, not on the whole map: others
// write to the same map all the time.
func (g *Global) swap(uuid, key, old, next string, there bool) (ops []ovsdb.Operation, err error) {
	var gone []string
	if there {
		was, err := ovsdb.NewOvsMap(map[string]string{key: old})
		if err != nil {
			return nil, err
		}
		now := 0
		ops = append(ops, ovsdb.Operation{
			Op: ovsdb.OperationWait, Table: g.table, Timeout: &now, Columns: []string{"_uuid"}, Until: "==",
			Where: append(at(uuid), ovsdb.NewCondition(externalIDs, ovsdb.ConditionIncludes, was)),
			Rows:  []ovsdb.Row{{"_uuid": ovsdb.UUID{GoUUID: uuid}}},
		})
		gone = []string{key}
	}
	op, err := g.mutate(uuid, gone, map[string]string{key: next})
	return append(ops, op,
		ovsdb.Operation{Op: ovsdb.OperationSelect, Table: g.table, Where: at(uuid), Columns: []string{externalIDs}},
	), err
}

// mutate deletes keys, since an insert does not overwrite, and inserts pairs.
func (g *Global) mutate(uuid string, gone []string, pairs map[string]string) (ovsdb.Operation, error) {
	op := ovsdb.Operation{Op: ovsdb.OperationMutate, Table: g.table, Where: at(uuid)}
	if len(gone) > 0 {
		keys, err := ovsdb.NewOvsSet(gone)
		if err != nil {
			return op, err
		}
		op.Mutations = append(op.Mutations, *ovsdb.NewMutation(externalIDs, ovsdb.MutateOperationDelete, keys))
	}
	if len(pairs) == 0 {
		return op, nil
	}
	set, err := ovsdb.NewOvsMap(pairs)
	if err != nil {
		return op, err
	}
	op.Mutations = append(op.Mutations, *ovsdb.NewMutation(externalIDs, ovsdb.MutateOperationInsert, set))
	return op, nil
}
