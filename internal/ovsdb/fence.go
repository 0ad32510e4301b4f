package ovsdb

import (
	"context"
	"errors"
	"fmt"
)

// ErrFenced is returned if a key no longer has the value that permits writes: nothing was written.
var ErrFenced = errors.New("another process may write by now")

// Fence makes every transaction that writes NB through this connection begin with a wait, with timeout 0, for a key of
// external_ids of NB_Global to have that value.
func (g *Gateways) Fence(ctx context.Context, key, value string) error {
	uuid, err := g.global(ctx)
	if err != nil {
		return fmt.Errorf("cannot fence what is written: %w", err)
	}
	g.fence = Guard{Has: map[string]string{key: value}}.operations(uuid)
	return nil
}
