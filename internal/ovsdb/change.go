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

// Guard is the condition of a transaction on external_ids of NB_Global. It compares single pairs only, since other
// clients write to the same map all the time.
type Guard struct {
	// Has are required pairs, Lacks forbidden ones.
	Has, Lacks map[string]string
	// NoCandidate is a chassis that must not be in any list of candidates of NB.
	NoCandidate string
}

func (g Guard) empty() bool { return len(g.Has)+len(g.Lacks) == 0 && g.NoCandidate == "" }

// operations returns operations that fail the transaction if the row with this UUID does not fit.
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

// Change is a change of NB in one transaction.
type Change struct {
	Guard Guard
	// Put are pairs to set in external_ids of NB_Global, Drop keys to remove.
	Put   map[string]string
	Drop  []string
	Notes Notes
	// Lists are lists of candidates.
	Lists []Candidates
	// Ask increments nb_cfg, as `ovn-nbctl --wait=sb sync` does: ovn-northd and all ovn-controllers answer that. In the
	// same transaction as other changes it makes ovn-northd compute only once.
	Ask bool
}

// Notes is a change of the journal.
type Notes struct {
	// Added are the texts of new rows. Changed are new texts of existing rows, by UUID. Dropped are the UUIDs of rows to
	// delete.
	Added   []string
	Changed map[string]string
	Dropped []string
}

func (c Change) usesGlobal() bool { return c.Ask || len(c.Put)+len(c.Drop) > 0 || !c.Guard.empty() }

// operations returns the operations of the transaction; uuid is that of the row of NB_Global, if the change uses it.
func (c Change) operations(uuid string) (ops []ovsdb.Operation) {
	if c.usesGlobal() {
		ops = c.Guard.operations(uuid)
	}
	if gone := append(slices.Sorted(maps.Keys(c.Put)), c.Drop...); len(gone) > 0 {
		ops = append(ops, amended(ovndb.NB.GlobalTable(), uuid, gone, c.Put))
	}
	ops = append(ops, c.Notes.operations()...)
	for n, x := range c.Lists {
		ops = append(ops, x.operations(n)...)
	}
	if c.Ask {
		ops = append(ops, signOfLife(uuid)...)
	}
	return ops
}

// Write makes a change if every row is as it was read, and NB_Global fits the guard and the fence. Otherwise it writes
// nothing and returns [ErrChanged] or [ErrFenced]. After any other error the result is unknown: read again. If the
// change asks ovn-northd, Write returns the requested nb_cfg, for [Gateways.AwaitNorthd].
func (g *Gateways) Write(ctx context.Context, c Change) (asked int64, err error) {
	defer func() {
		if err != nil && !errors.Is(err, ErrFenced) {
			err = fmt.Errorf("cannot write to NB: %w", err)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	uuid := ""
	if c.usesGlobal() {
		if uuid, err = g.global(ctx); err != nil {
			return 0, err
		}
	}
	ops := slices.Concat(g.fence, c.operations(uuid))
	if len(ops) == len(g.fence) {
		return 0, nil // there is nothing to write
	}
	results, err := commit(ctx, g.nb, ops...)
	switch i := failed(results); {
	case err == nil && c.Ask:
		return askedFor(results)
	case err == nil || i < 0:
		return 0, err
	case errors.Is(err, ErrChanged) && i < len(g.fence):
		return 0, ErrFenced
	case results[i].Error == constraintViolation &&
		slices.ContainsFunc(c.Lists, func(x Candidates) bool { return x.Holder == "" }):
		return 0, fmt.Errorf("%w: %w", ErrChanged, err) // a group of this name exists already
	}
	return 0, err
}

// ErrFenced is returned if the key of [Gateways.Fence] has another value. Nothing was written.
var ErrFenced = errors.New("another process may write by now")

// Fence makes every later transaction that writes NB through this connection fail unless a key of external_ids of
// NB_Global has that value (R14).
func (g *Gateways) Fence(ctx context.Context, key, value string) error {
	uuid, err := g.global(ctx)
	if err != nil {
		return fmt.Errorf("cannot fence what is written: %w", err)
	}
	g.fence = Guard{Has: map[string]string{key: value}}.operations(uuid)
	return nil
}

// signOfLife returns operations that increment nb_cfg. The last result has the new value.
func signOfLife(uuid string) []ovsdb.Operation {
	table, where := ovndb.NB.GlobalTable(), at(uuid)
	return []ovsdb.Operation{
		{
			Op: ovsdb.OperationMutate, Table: table, Where: where,
			Mutations: []ovsdb.Mutation{*ovsdb.NewMutation(configColumn, ovsdb.MutateOperationAdd, 1)},
		},
		{Op: ovsdb.OperationSelect, Table: table, Where: where, Columns: []string{configColumn}},
	}
}

// askedFor returns the requested nb_cfg, from the last result.
func askedFor(results []ovsdb.OperationResult) (int64, error) {
	last := results[len(results)-1].Rows
	if len(last) != 1 {
		return 0, ErrChanged
	}
	return row(last[0]).number(configColumn), nil
}

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
