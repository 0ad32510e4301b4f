package juju

import (
	"context"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// StatusWord is a state that a charm may set for its unit. Only Juju sets others, such as `error`.
type StatusWord string

// The four words. Source: jujuc/status-set.go.
const (
	Maintenance StatusWord = "maintenance"
	Blocked     StatusWord = "blocked"
	Waiting     StatusWord = "waiting"
	Active      StatusWord = "active"
)

// StatusSet sets the unit's status and its message, folded to one line, at once and even if the hook fails.
func (t *Tools) StatusSet(ctx context.Context, word StatusWord, message string) error {
	if err := t.tell(ctx, "status-set", "--", string(word), argument(run.Redact(oneLine(message)))); err != nil {
		return fmt.Errorf("cannot set status %s: %w", word, err)
	}
	return nil
}
