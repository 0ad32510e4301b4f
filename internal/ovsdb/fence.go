package ovsdb

import (
	"context"
	"errors"
	"fmt"
)

// ErrFenced is returned where a key no longer has the value under which something may be
// written: nothing was.
var ErrFenced = errors.New("another process may write by now")

// Fence has every transaction that writes NB through this connection begin with a wait, for no
// time, for a key of external_ids of NB_Global to have that value.
func (g *Gateways) Fence(ctx context.Context, key, value string) error {
	uuid, err := g.global(ctx)
	if err != nil {
		return fmt.Errorf("cannot fence what is written: %w", err)
	}
	g.fence = Guard{Has: map[string]string{key: value}}.operations(uuid)
	return nil
}
