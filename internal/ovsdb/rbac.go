package ovsdb

import (
	"context"
	"fmt"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// Restricted reports whether the Southbound server at the endpoint restricts its clients to the rights of a role. The
// row's role does not show that: before OVS 3.3.0 a server applies the role that the row had when it opened the
// listener. Nothing is written: a permitted attempt is aborted.
func (d *Dialer) Restricted(ctx context.Context, endpoint string) (bool, error) {
	g, err := d.Global(ctx, ovndb.SB, endpoint)
	if err != nil {
		return false, err
	}
	defer g.Close()
	results, err := send(ctx, g.client,
		ovsdb.Operation{Op: ovsdb.OperationInsert, Table: g.table, Row: ovsdb.Row{connectionsField: set([]any(nil))}},
		ovsdb.Operation{Op: ovsdb.OperationAbort},
	)
	if err != nil {
		return false, fmt.Errorf("cannot try the rights at %s: %w", endpoint, err)
	}
	for _, r := range results {
		switch r.Error {
		case "":
		case "permission error": // ovsdb_perm_error in ovsdb/ovsdb-error.c
			return true, nil
		case "aborted": // RFC 7047, 5.2.8
			return false, nil
		default:
			return false, fmt.Errorf("cannot try the rights at %s: %s", endpoint, detail(r))
		}
	}
	return false, fmt.Errorf("cannot try the rights at %s: the server has not aborted", endpoint)
}
