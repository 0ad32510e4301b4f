package scenario

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/system/machines"
)

// each does something to machines at the same time.
func each(ctx context.Context, t *testing.T, on []*machines.Machine, do func(context.Context, *machines.Machine) error) {
	t.Helper()
	errs := make([]error, len(on))
	var group sync.WaitGroup
	for i, m := range on {
		group.Go(func() {
			if err := do(ctx, m); err != nil {
				errs[i] = fmt.Errorf("%s: %w", m.Name(), err)
			}
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
}
