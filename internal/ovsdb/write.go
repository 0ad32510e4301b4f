package ovsdb

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

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
