package ovsdb

import (
	"context"
	"errors"
	"fmt"

	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/model"
	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/raft"
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
func (d *Dialer) Global(ctx context.Context, db raft.Database, endpoints ...string) (*Global, error) {
	table := "NB_Global"
	if db == raft.SB {
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
// commits it; an empty old means that the key must not be there. In the same
// transaction it sets the pairs of also, which needs an old that is not empty.
// It says whether it did: false means that somebody else was first. After an
// error, the swap may have been made or not: read again.
func (g *Global) Swap(ctx context.Context, key, old, next string, also map[string]string) (bool, error) {
	if old == "" && len(also) > 0 {
		return false, errors.New("cannot guard further pairs by a key that is not there")
	}
	uuid, ids, err := g.row(ctx)
	if err != nil {
		return false, err
	}
	if ids[key] != old {
		return false, nil
	}
	var ops []ovsdb.Operation
	if uuid == "" {
		ops, err = g.insertRow(key, next)
	} else {
		ops, err = g.update(uuid, key, old, next, also)
	}
	if err != nil {
		return false, fmt.Errorf("cannot make the transaction: %w", err)
	}
	results, err := g.client.Transact(ctx, ops...)
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
	after := results[len(results)-1].Rows
	if old == "" && uuid != "" {
		// An insert into a map does not overwrite: the value tells who was first.
		return len(after) == 1 && stringMap(after[0][externalIDs])[key] == next, nil
	}
	return true, nil
}

// insertRow makes the row, which ovn-northd else makes when it first starts. The
// schema allows one row only, so that of two who insert it one fails.
func (g *Global) insertRow(key, next string) ([]ovsdb.Operation, error) {
	value, err := ovsdb.NewOvsMap(map[string]string{key: next})
	return []ovsdb.Operation{{
		Op: ovsdb.OperationInsert, Table: g.table, UUIDName: "global", Row: ovsdb.Row{externalIDs: value},
	}}, err
}

// update guards the swap with a wait on the one pair, not on the whole map:
// others write to the same map all the time.
func (g *Global) update(uuid, key, old, next string, also map[string]string) ([]ovsdb.Operation, error) {
	at := []ovsdb.Condition{ovsdb.NewCondition("_uuid", ovsdb.ConditionEqual, ovsdb.UUID{GoUUID: uuid})}
	var ops []ovsdb.Operation
	set := map[string]string{key: next}
	gone := []string{}
	for k, v := range also {
		gone = append(gone, k) // an insert would not overwrite
		set[k] = v
	}
	if old != "" {
		was, err := ovsdb.NewOvsMap(map[string]string{key: old})
		if err != nil {
			return nil, err
		}
		now := 0
		ops = append(ops, ovsdb.Operation{
			Op: ovsdb.OperationWait, Table: g.table, Timeout: &now, Columns: []string{"_uuid"}, Until: "==",
			Where: append(at, ovsdb.NewCondition(externalIDs, ovsdb.ConditionIncludes, was)),
			Rows:  []ovsdb.Row{{"_uuid": ovsdb.UUID{GoUUID: uuid}}},
		})
		gone = append(gone, key)
	}
	var mutations []ovsdb.Mutation
	if len(gone) > 0 {
		keys, err := ovsdb.NewOvsSet(gone)
		if err != nil {
			return nil, err
		}
		mutations = append(mutations, *ovsdb.NewMutation(externalIDs, ovsdb.MutateOperationDelete, keys))
	}
	pairs, err := ovsdb.NewOvsMap(set)
	if err != nil {
		return nil, err
	}
	mutations = append(mutations, *ovsdb.NewMutation(externalIDs, ovsdb.MutateOperationInsert, pairs))
	return append(ops,
		ovsdb.Operation{Op: ovsdb.OperationMutate, Table: g.table, Where: at, Mutations: mutations},
		ovsdb.Operation{Op: ovsdb.OperationSelect, Table: g.table, Where: at, Columns: []string{externalIDs}},
	), nil
}
