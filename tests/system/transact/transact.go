// Package transact writes rows to a database server over a connection of its own: thousands of them at once.
package transact

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"
)

// Operation is one operation of a transaction (RFC 7047, section 5.2).
type Operation map[string]any

// patience bounds one transaction, for a server that is busy with hundreds of MiB.
const patience = 20 * time.Minute

// Do runs a transaction, and returns the rows of each operation.
func Do(ctx context.Context, socket, database string, operations ...Operation) (rows [][]map[string]any, err error) {
	connection, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	if err := connection.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	params := []any{database}
	for _, o := range operations {
		params = append(params, o)
	}
	if err := json.NewEncoder(connection).Encode(map[string]any{"id": 0, "method": "transact", "params": params}); err != nil {
		return nil, err
	}
	var answer struct {
		Error  any
		Result []struct {
			Error, Details string
			Rows           []map[string]any
		}
	}
	if err := json.NewDecoder(connection).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Error != nil {
		return nil, fmt.Errorf("cannot run a transaction: %v", answer.Error)
	}
	for _, r := range answer.Result {
		if r.Error != "" {
			return nil, fmt.Errorf("%s: %s", r.Error, r.Details)
		}
		rows = append(rows, r.Rows)
	}
	return rows, nil
}

// Grow inserts rows of a table until the database's file has so many MiB. row returns the nth row, from 1 on; batch is
// the number of rows in a transaction. It returns the number of rows.
func Grow(ctx context.Context, socket, file string, mib int64, batch int, database, table string,
	row func(n int) map[string]any,
) (int, error) {
	for n := 0; ; {
		found, err := os.Stat(file)
		if err != nil || found.Size() >= mib<<20 {
			return n, err
		}
		var inserts []Operation
		for range batch {
			n++
			inserts = append(inserts, Operation{"op": "insert", "table": table, "row": row(n)})
		}
		if _, err := Do(ctx, socket, database, inserts...); err != nil {
			return n, err
		}
	}
}
