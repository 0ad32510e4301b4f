package ovsdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Global is a connection to a database's only NB_Global or SB_Global row. The row's external_ids have what all units
// must agree on. Reads come from the connected server and may be older than the leader's data. The leader decides
// whether a swap succeeds.
type Global struct {
	client transactor
	table  string
}

// Global connects to the first of the endpoints that serves the database. The caller closes the connection.
func (d *Dialer) Global(ctx context.Context, db ovndb.Database, endpoints ...string) (*Global, error) {
	s, err := d.session(ctx, string(db), endpoints...)
	if err != nil {
		return nil, err
	}
	return &Global{client: s, table: db.GlobalTable()}, nil
}

// Close ends the connection.
func (g *Global) Close() { g.client.Close() }

// WithGlobal connects as [Dialer.Global] does, reads external_ids, and calls do with them.
func (d *Dialer) WithGlobal(
	ctx context.Context, db ovndb.Database, endpoints []string, do func(g *Global, ids map[string]string) error,
) error {
	g, err := d.Global(ctx, db, endpoints...)
	if err != nil {
		return err
	}
	defer g.Close()
	ids, err := g.Read(ctx)
	if err != nil {
		return err
	}
	return do(g, ids)
}

// Read returns the row's external_ids; nil if the row does not exist yet.
func (g *Global) Read(ctx context.Context) (map[string]string, error) {
	_, ids, err := g.row(ctx)
	return ids, err
}

func (g *Global) row(ctx context.Context) (uuid string, ids map[string]string, err error) {
	answers, err := readKnown(ctx, g.client, query{table: g.table, columns: []string{externalIDs}})
	if err != nil || len(answers[0]) == 0 {
		return "", nil, err
	}
	return answers[0][0].uuid(), answers[0][0].pairs(externalIDs), nil
}

// Swap sets the value of key to next if it still is old when the leader commits the transaction. An empty old means a
// missing or empty key. Swap reports whether it set the value; if not, another client was first. After an error the
// result is unknown: read again.
func (g *Global) Swap(ctx context.Context, key, old, next string) (bool, error) {
	uuid, ids, err := g.row(ctx)
	if err != nil {
		return false, err
	}
	if ids[key] != old {
		return false, nil
	}
	results, err := commit(ctx, g.client, swap(g.table, uuid, ids, key, next)...)
	switch i := failed(results); {
	case errors.Is(err, ErrChanged), i >= 0 && results[i].Error == constraintViolation: // the row exists already
		return false, nil
	case err != nil:
		return false, fmt.Errorf("cannot write %s: %w", g.table, err)
	}
	if uuid == "" {
		return true, nil
	}
	// An insert into a map does not overwrite: the value tells which client was first.
	after := results[len(results)-1].Rows
	return len(after) == 1 && row(after[0]).pairs(externalIDs)[key] == next, nil
}

// Put sets pairs in external_ids, regardless of previous values.
func (g *Global) Put(ctx context.Context, pairs map[string]string) error {
	return g.amend(ctx, slices.Collect(maps.Keys(pairs)), pairs)
}

// Drop removes keys from external_ids, regardless of their values.
func (g *Global) Drop(ctx context.Context, keys ...string) error { return g.amend(ctx, keys, nil) }

func (g *Global) amend(ctx context.Context, gone []string, put map[string]string) error {
	uuid, _, err := g.row(ctx)
	switch {
	case err != nil || uuid == "" && len(put) == 0:
		return err
	case uuid == "":
		return fmt.Errorf("cannot write %s: it has no row", g.table)
	}
	if _, err := transact(ctx, g.client, amended(g.table, uuid, gone, put)); err != nil {
		return fmt.Errorf("cannot write %s: %w", g.table, err)
	}
	return nil
}

// swap replaces the value of a key if it is the one in ids. It waits for that pair, not for the whole map, since
// other clients write to the map all the time. It inserts a missing row, as ovn-northd does at its first start. The
// schema allows one row, so one of two concurrent inserts fails.
func swap(table, uuid string, ids map[string]string, key, next string) (ops []ovsdb.Operation) {
	put := map[string]string{key: next}
	if uuid == "" {
		return []ovsdb.Operation{insert(table, "global", ovsdb.Row{externalIDs: pairs(put)})}
	}
	var gone []string
	if old, there := ids[key]; there {
		gone = []string{key}
		ops = append(ops, fits(table, uuid, includes(externalIDs, pairs(map[string]string{key: old}))))
	}
	return append(ops, amended(table, uuid, gone, put),
		ovsdb.Operation{Op: ovsdb.OperationSelect, Table: table, Where: at(uuid), Columns: []string{externalIDs}})
}
