package scenario

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/tests/system/machines/client"
)

// stores waits until the files of the remaining unit contain the writes.
func (w *worstNight) stores(ctx context.Context, t *testing.T, writes map[string][]string) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		stored, err := client.Stored(ctx, w.Machines[w.left])
		for db, numbers := range writes {
			for _, n := range numbers {
				if err == nil && !stored[db][n] {
					err = fmt.Errorf("%s has no write %s to %s", w.left, n, db)
				}
			}
		}
		return err
	})
}

// keeps requires that a new cluster has its source's writes and its own; the first since may be the old cluster's.
func (w *worstNight) keeps(ctx context.Context, t *testing.T, before map[string][]string,
	made map[string]map[string]bool,
) {
	t.Helper()
	now := w.client.Acknowledged()
	stored, err := client.Stored(ctx, w.Machines[w.left])
	require.NoError(t, err)
	for db, numbers := range now {
		require.NotEmpty(t, made[db], db)
		for row := range made[db] {
			assert.True(t, stored[db][row], "%s has lost the write %s, which its copy had", db, row)
		}
		since := numbers[len(before[db]):]
		first := slices.IndexFunc(since, func(n string) bool { return stored[db][n] })
		require.NotEqual(t, -1, first, "a write to the new cluster of %s", db)
		for _, n := range since[first:] {
			assert.True(t, stored[db][n], "%s has lost the write %s, which it has acknowledged", db, n)
		}
		lost := 0
		for _, n := range numbers {
			if !stored[db][n] {
				lost++
			}
		}
		t.Logf("%s: made of %d writes; of %d acknowledged before, and %d after, %d are lost", db, len(made[db]), len(before[db]), len(since), lost)
	}
}

// proves runs recovery-status until it has read an acknowledged write from both servers of each of the units.
func (w *worstNight) proves(ctx context.Context, t *testing.T, units []string) {
	t.Helper()
	eventually(ctx, t, convergence, func() error {
		results, err := w.Run(ctx, w.left, "recovery-status")
		proof := fmt.Sprint(results["proof"])
		for _, unit := range units {
			for _, db := range databases {
				if line := db.short + ": " + strings.ReplaceAll(string(finding.ProvedMember), "{unit}", unit); !strings.Contains(proof, line) {
					return errors.Join(err, fmt.Errorf("recovery-status: %v", results))
				}
			}
		}
		t.Log(proof)
		return err
	})
}

// chassisFollows resets the client's ovn-controller as the action says, so that it follows the new cluster.
func (w *worstNight) chassisFollows(ctx context.Context, t *testing.T) {
	t.Helper()
	_, err := w.client.Machine.Exec(ctx, "ovn-appctl", "-t", "ovn-controller", "sb-cluster-state-reset")
	require.NoError(t, err)
	eventually(ctx, t, convergence, func() error {
		_, err := w.client.NB(ctx, "--wait=hv", "sync")
		return err
	})
}
