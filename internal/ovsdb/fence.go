package ovsdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/ovsdb"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

// ErrFenced is returned if the key of [Gateways.Fence] has another value: nothing was written.
var ErrFenced = errors.New("another process may write by now")

// Fence makes every transaction that writes NB through this connection fail unless a key of external_ids of NB_Global
// has that value (R14).
func (g *Gateways) Fence(ctx context.Context, key, value string) error {
	uuid, err := g.global(ctx)
	if err != nil {
		return fmt.Errorf("cannot fence what is written: %w", err)
	}
	g.fence = Guard{Has: map[string]string{key: value}}.operations(uuid)
	return nil
}

// write runs one transaction on NB, if the fence, the guard and the lists permit it. If ask is true, it also increments
// nb_cfg and returns the new value.
func (g *Gateways) write(ctx context.Context, guard Guard, a Amendment, ask bool,
	lists ...Candidates,
) (asked int64, err error) {
	defer func() {
		if err != nil && !errors.Is(err, ErrFenced) {
			err = fmt.Errorf("cannot write to NB: %w", err)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	ops, uuid := slices.Clone(g.fence), ""
	gone := append(slices.Sorted(maps.Keys(a.Put)), a.Drop...)
	if ask || len(gone) > 0 || !guard.empty() {
		if uuid, err = g.global(ctx); err != nil {
			return 0, err
		}
		ops = append(ops, guard.operations(uuid)...)
	}
	if len(gone) > 0 {
		ops = append(ops, amended(ovndb.NB.GlobalTable(), uuid, gone, a.Put))
	}
	ops = append(ops, amendedJournal(a)...)
	for n, x := range lists {
		ops = append(ops, x.operations(n)...)
	}
	if ask {
		ops = append(ops, signOfLife(uuid)...)
	}
	results, err := commit(ctx, g.nb, ops...)
	switch i := failed(results); {
	case err == nil && ask:
		return askedFor(results)
	case err == nil || i < 0:
		return 0, err
	case errors.Is(err, ErrChanged) && i < len(g.fence):
		return 0, ErrFenced
	case results[i].Error == constraintViolation &&
		slices.ContainsFunc(lists, func(x Candidates) bool { return x.Holder == "" }):
		return 0, fmt.Errorf("%w: %w", ErrChanged, err) // a group of this name exists by now
	}
	return 0, err
}

// Errors of operations (RFC 7047).
const (
	waitFailed          = "timed out"
	constraintViolation = "constraint violation"
)

// commit runs one transaction. It returns [ErrChanged] if a wait failed: then nothing was written.
func commit(ctx context.Context, c client.Client, ops ...ovsdb.Operation) ([]ovsdb.OperationResult, error) {
	results, err := send(ctx, c, ops...)
	if err != nil {
		return nil, err
	}
	switch i := failed(results); {
	case i < 0:
		return results, nil
	case results[i].Error == waitFailed:
		return results, ErrChanged
	default:
		return results, errors.New(detail(results[i]))
	}
}

// failed is the index of the failed operation; -1 if there is none.
func failed(results []ovsdb.OperationResult) int {
	return slices.IndexFunc(results, func(r ovsdb.OperationResult) bool { return r.Error != "" })
}
