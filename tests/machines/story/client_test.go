package story

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/machines/client"
)

// chassisRegisters waits until ovn-controller has connected and written its row.
func chassisRegisters(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	eventually(ctx, t, 3*time.Minute, func() error {
		out, err := c.SB(ctx, "--bare", "--columns=hostname", "find", "Chassis", "name="+c.Machine.Name())
		if err == nil && strings.TrimSpace(out) != c.Machine.Name() {
			err = fmt.Errorf("chassis %s isn't there, but %q", c.Machine.Name(), out)
		}
		return err
	})
}

// accessIsControlled shows what the certificate of a chassis lets it write: its
// own row, not that of another, nor what only ovn-northd writes. It may read.
func accessIsControlled(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	_, err := c.Chassis(ctx, "set", "Chassis", c.Machine.Name(), "external_ids:shown=yes")
	assert.NoError(t, err)
	_, err = c.Chassis(ctx, "--bare", "--columns=name", "list", "Chassis")
	assert.NoError(t, err)

	_, err = c.SB(ctx, "--may-exist", "chassis-add", "another", "geneve", "192.0.2.9")
	require.NoError(t, err)
	for name, command := range map[string][]string{
		"the row of another chassis": {"set", "Chassis", "another", "external_ids:shown=yes"},
		"a row for another chassis":  {"chassis-add", "third", "geneve", "192.0.2.10"},
		"SB_Global":                  {"set", "SB_Global", ".", "external_ids:shown=yes"},
		"who listens":                {"create", "Connection", "target=punix\\:shown"},
		"an address set":             {"create", "Address_Set", "name=shown"},
	} {
		_, err := c.Chassis(ctx, command...)
		assert.ErrorContains(t, err, "permission error", name)
	}
	_, err = c.SB(ctx, "chassis-del", "another")
	assert.NoError(t, err)
}

// more says whether both databases have acknowledged n more writes than before.
func more(c *client.Client, before map[string]int, n int) error {
	now := c.Acknowledged()
	for db, count := range now {
		if count < before[db]+n {
			return fmt.Errorf("%s has acknowledged %d writes, %d before", db, count, before[db])
		}
	}
	return nil
}

// nothingIsLost ends the writing and reads everything back.
func nothingIsLost(ctx context.Context, t *testing.T, c *client.Client) {
	t.Helper()
	require.NoError(t, c.StopWriter(ctx))
	writes, err := c.Verify(ctx)
	require.NoError(t, err)
	for db, w := range writes {
		t.Logf("%s: %d writes acknowledged, %d failed, longest gap %v", db, w.Acknowledged, w.Unacknowledged, w.LongestGap)
		assert.Positive(t, w.Acknowledged, db)
		assert.Zero(t, w.Lost, db)
	}
}
