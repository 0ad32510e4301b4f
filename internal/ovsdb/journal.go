package ovsdb

import (
	"context"
	"fmt"
	"slices"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// The journal stands in rows of DNS that no switch refers to: ovn-northd reads only those
// that one does (sync_dns_entries in northd/northd.c) and no external_ids of them, and
// Neutron touches only those with an ls_name among theirs. So that what is noted is in the
// database that it tells of, and is written in the same transaction.
const (
	noteTable = "DNS"
	// noteKey marks a row as one of ours, by its kind: a note of what was changed, or what is kept
	// of a revision. textKey is where its text is.
	noteKey      = "ovn-central-operator"
	noteKind     = "gateways"
	revisionKind = "revisions"
	textKey      = "ovn-central-operator:plan"
)

// JournalRow is a text of the journal.
type JournalRow struct{ UUID, Text string }

// row is the note as a new row of a kind.
func (n JournalRow) row(kind string) ovsdb.Row {
	return ovsdb.Row{externalIDs: pairs(map[string]string{noteKey: kind, textKey: n.Text})}
}

// Journal reads the journal, in no order.
func (g *Gateways) Journal(ctx context.Context) ([]JournalRow, error) {
	return g.journal(ctx, noteKind)
}

// Revisions reads what is kept of revisions, in no order.
func (g *Gateways) Revisions(ctx context.Context) ([]JournalRow, error) {
	return g.journal(ctx, revisionKind)
}

func (g *Gateways) journal(ctx context.Context, kind string) ([]JournalRow, error) {
	marked := pairs(map[string]string{noteKey: kind})
	answers, err := read(ctx, g.nb, query{
		noteTable,
		[]string{externalIDs},
		[]ovsdb.Condition{ovsdb.NewCondition(externalIDs, ovsdb.ConditionIncludes, marked)},
	})
	if err != nil {
		return nil, fmt.Errorf("cannot read the journal of gateways in %s: %w", ovndb.NB, err)
	}
	var all []JournalRow
	for _, r := range answers[0] {
		all = append(all, JournalRow{r.uuid(), r.pairs(externalIDs)[textKey]})
	}
	return all, nil
}

// renoted give rows another text.
func renoted(rows []JournalRow) (ops []ovsdb.Operation) {
	for _, n := range rows {
		ops = append(ops, ovsdb.Operation{Op: ovsdb.OperationUpdate, Table: noteTable, Where: at(n.UUID), Row: n.row(noteKind)})
	}
	return ops
}

// AmendJournal gives rows another text, and drops others; those that are gone by now don't
// matter.
func (g *Gateways) AmendJournal(ctx context.Context, changed, dropped []JournalRow) error {
	ops := renoted(changed)
	for _, n := range dropped {
		ops = append(ops, ovsdb.Operation{Op: ovsdb.OperationDelete, Table: noteTable, Where: at(n.UUID)})
	}
	if len(ops) == 0 {
		return nil
	}
	if _, err := transact(ctx, g.nb, append(slices.Clone(g.fence), ops...)...); err != nil {
		return fmt.Errorf("cannot amend the journal of gateways in %s: %w", ovndb.NB, err)
	}
	return nil
}
