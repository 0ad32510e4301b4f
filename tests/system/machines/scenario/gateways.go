package scenario

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
)

// spreadGateways has Juju run the actions on gateways, each on another unit. No chassis is
// there but in name, so that nothing is waited for.
func (s *story) spreadGateways(ctx context.Context, t *testing.T) {
	units := s.alive(ctx, t)
	ctl := func(command ...string) string { return s.ctl(ctx, t, units[0], command...) }
	for n, name := range []string{"gw1", "gw2"} {
		ctl("ovn-sbctl", "chassis-add", name, "geneve", fmt.Sprintf("192.0.2.%d", n+1), "--", "set", "Chassis", name,
			"other_config:ovn-cms-options=enable-chassis-as-gw", "other_config:ovn-bridge-mappings=physnet1:br-ex")
	}
	network := []string{"ovn-nbctl", "ls-add", "public", "--", "lsp-add", "public", "ln", "--", "lsp-set-type", "ln", "localnet", "--", "lsp-set-options", "ln", "network_name=physnet1"}
	for n := 1; n <= 4; n++ {
		port := fmt.Sprintf("lrp-%d", n)
		network = append(network, "--", "lr-add", "r-"+port, "--", "lrp-add", "r-"+port, port, fmt.Sprintf("00:00:00:00:00:%02x", n), fmt.Sprintf("10.0.%d.1/24", n), "--",
			"lsp-add", "public", "to-"+port, "--", "lsp-set-type", "to-"+port, "router", "--", "lsp-set-options", "to-"+port, "router-port="+port, "--",
			"lrp-set-gateway-chassis", port, "gw1", "1")
	}
	ctl(network...)
	act := func(unit, action string, args ...string) map[string]any {
		t.Helper()
		results, err := s.Run(ctx, unit, action, args...)
		require.NoError(t, err)
		return results
	}
	assert.Contains(t, act(units[0], "gateway-status")["gateways"], "gw1 is the only candidate of lrp-1; eligible chassis: 2")
	assert.Contains(t, act(units[1], "reschedule-gateways", "dry-run=true")["plan"], "reschedule: 4 gateways and 8 rows change; interrupts nothing")
	assert.Contains(t, act(units[1], "reschedule-gateways", "wait=0", "scheduler=random", "seed=7")["result"], "4 gateways changed")
	assert.Contains(t, act(units[2], "rebalance-gateways", "wait=0", "max-moves=1", "i-really-mean-it=true", "format=json")["plan"], `"interruptions": 1`)
	history, _ := act(units[0], "gateway-history")["history"].(string)
	require.Contains(t, history, units[2]+", action ")
	plan, _, _ := strings.Cut(strings.Split(history, "\n")[1], " ")
	assert.Contains(t, act(units[0], "gateway-history", "plan="+plan)["history"], ": gw1 (2), gw2 (1) -> gw2 (2), gw1 (1)")
	_, err := s.Run(ctx, units[1], "rebalance-gateways", "revert="+plan)
	require.ErrorIs(t, err, cluster.ErrAction)
	require.ErrorContains(t, err, "rebalance-gateways revert="+plan+" i-really-mean-it=true")
	act(units[1], "rebalance-gateways", "revert="+plan, "wait=0", "i-really-mean-it=true")
	assert.Equal(t, 4, strings.Count(ctl("ovn-nbctl", "--bare", "--columns=chassis_name", "find", "Gateway_Chassis", "priority=2"), "gw1"))

	// The rest of the story knows nothing of it.
	gone := []string{"ovn-nbctl", "ls-del", "public"}
	for n := 1; n <= 4; n++ {
		gone = append(gone, "--", "lr-del", fmt.Sprintf("r-lrp-%d", n))
	}
	ctl(gone...)
	ctl("ovn-sbctl", "chassis-del", "gw1", "--", "chassis-del", "gw2")
}
