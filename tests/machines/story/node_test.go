package story

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/machines/juju"
)

// decommission has the action on one unit retire the node that another unit's machine is. The
// action waits until Juju has removed that unit; what is returned waits for the action's end.
// The chassis is one in name only.
func (s *story) decommission(ctx context.Context, t *testing.T, on, unit string) (ended func()) {
	t.Helper()
	const node = "retired"
	ctl := func(args ...string) string {
		t.Helper()
		out, err := s.machines[on].Exec(ctx, slices.Insert(args, 1, "--no-leader-only", "--timeout=30")...)
		require.NoError(t, err)
		return strings.TrimSpace(out)
	}
	ctl("ovn-sbctl", "chassis-add", node, "geneve", s.machines[unit].Address().String(), "--", "set", "Chassis", node, "hostname="+node+".example")
	var result juju.ActionResult
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		result, failed = s.Run(ctx, on, "decommission", "node="+node, "i-really-mean-it=true", "drain-node-timeout=120", "remove-member-timeout=240", "cluster-ready-timeout=120")
	}()
	eventually(ctx, t, 3*time.Minute, func() error {
		if ids := ctl("ovn-nbctl", "get", "NB_Global", ".", "external_ids"); !strings.Contains(ids, "ovn-central:drain/"+node) {
			return fmt.Errorf("no drain is recorded in %s", ids)
		}
		return nil
	})
	return func() {
		t.Helper()
		<-done
		require.NoError(t, failed)
		require.Equal(t, "completed", result.Status, "%s %v", result.Message, result.Results)
		assert.Contains(t, result.Results["status"], node+".example is decommissioned")
		assert.Contains(t, result.Results["status"], unit+" has left")
		ctl("ovn-sbctl", "chassis-del", node)
		removed, err := s.Run(ctx, on, "remove-node", "node="+node, "i-really-mean-it=true")
		require.NoError(t, err)
		require.Equal(t, "completed", removed.Status, removed.Message)
		assert.NotContains(t, ctl("ovn-nbctl", "get", "NB_Global", ".", "external_ids"), "ovn-central:drain/")
	}
}
