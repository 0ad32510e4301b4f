package ovsdb

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The journal is kept in rows of table DNS to which no switch refers. ovn-northd reads only referenced rows
// (sync_dns_entries in northd/northd.c) and none of their external_ids; Neutron touches only rows with an ls_name
// there. So an entry is in the same database as the change that it describes, and is written in the same transaction.
const (
	noteTable = "DNS"
	// noteKey marks a row as ours. textKey has the row's text.
	noteKey  = "ovn-central-operator"
	noteKind = "gateways"
	textKey  = "ovn-central-operator:plan"
)

// noteRow returns a journal row with a text.
func noteRow(text string) ovsdb.Row {
	return ovsdb.Row{externalIDs: pairs(map[string]string{noteKey: noteKind, textKey: text})}
}

// Journal returns the texts of the journal, by the UUIDs of their rows.
func (g *Gateways) Journal(ctx context.Context) (map[string]string, error) {
	ours := includes(externalIDs, pairs(map[string]string{noteKey: noteKind}))
	answers, err := g.read(ctx, g.nb, query{noteTable, []string{externalIDs}, []ovsdb.Condition{ours}})
	if err != nil {
		return nil, fmt.Errorf("cannot read the journal of gateways in %s: %w", ovndb.NB, err)
	}
	texts := map[string]string{}
	for _, r := range answers[0] {
		texts[r.uuid()] = r.pairs(externalIDs)[textKey]
	}
	return texts, nil
}

// operations returns operations that ignore missing rows.
func (n Notes) operations() (ops []ovsdb.Operation) {
	for _, text := range n.Added {
		ops = append(ops, insert(noteTable, "", noteRow(text)))
	}
	for _, row := range slices.Sorted(maps.Keys(n.Changed)) {
		ops = append(ops, update(noteTable, row, noteRow(n.Changed[row])))
	}
	for _, row := range n.Dropped {
		ops = append(ops, ovsdb.Operation{Op: ovsdb.OperationDelete, Table: noteTable, Where: at(row)})
	}
	return ops
}
