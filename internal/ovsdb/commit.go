package ovsdb

import (
	"context"
	"errors"
	"slices"

	"github.com/ovn-org/libovsdb/client"
	"github.com/ovn-org/libovsdb/ovsdb"
)

// ErrChanged is returned if a row is no longer as it was read: nothing was written.
var ErrChanged = errors.New("another client has changed it meanwhile")

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
