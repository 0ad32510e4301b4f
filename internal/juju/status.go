package juju

import (
	"context"
	"fmt"

	"github.com/ovn-central/ovn-central-operator/internal/run"
)

// StatusWord is a state that a charm may give its unit. Others, `error` for
// one, only Juju sets.
type StatusWord string

// The four words. Source: jujuc/status-set.go.
const (
	Maintenance StatusWord = "maintenance"
	Blocked     StatusWord = "blocked"
	Waiting     StatusWord = "waiting"
	Active      StatusWord = "active"
)

// StatusSet sets the unit's status and its message, which is folded to one line.
// It is seen at once and stays even if the hook fails.
func (t *Tools) StatusSet(ctx context.Context, word StatusWord, message string) error {
	if err := t.tell(ctx, "status-set", "--", string(word), argument(run.Redact(oneLine(message)))); err != nil {
		return fmt.Errorf("cannot set status %s: %w", word, err)
	}
	return nil
}
