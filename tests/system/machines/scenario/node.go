package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/tests/harness/cluster"
)

// operate asks the agent of a unit, as systemd runs it, by the specification's paths, and returns
// the answer's reason and all that it says.
func (s *story) operate(ctx context.Context, t *testing.T, unit, method, path string) (reason, said string) {
	t.Helper()
	const ask = `import http.client, socket, sys
class Operations(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(170)
        self.sock.connect("/var/run/ovn/ovn-central-agent.sock")
asked = Operations("localhost")
asked.request(sys.argv[1], sys.argv[2])
print(asked.getresponse().read().decode())`
	said, err := s.Machines[unit].Exec(ctx, "python3", "-c", ask, method, path)
	require.NoError(t, err)
	var answer struct{ Kind, Reason string }
	require.NoError(t, json.Unmarshal([]byte(said), &answer), said)
	assert.Equal(t, "Status", answer.Kind)
	return answer.Reason, said
}

// operateByTheSocket has a unit's agent, with all that systemd denies it, drain a node that has
// nothing, and take it out.
func (s *story) operateByTheSocket(ctx context.Context, t *testing.T) {
	unit := s.alive(ctx, t)[0]
	for _, asked := range []struct{ do, method, path, reason, intent string }{
		{"", "GET", "/cluster-health-statuses", "Success", ""},
		{"", "POST", "/nodes/emptied/drain", "NotFound", ""},
		{"chassis-add emptied geneve 192.0.2.77", "POST", "/nodes/emptied/drain?timeout=150&grace-period=0", "Success", "ovn-central:drain/emptied"},
		{"", "POST", "/nodes/emptied/remove-from-cluster", "Conflict", "ovn-central:drain/emptied"},
		{"chassis-del emptied", "POST", "/nodes/emptied/remove-from-cluster", "Success", ""},
	} {
		if asked.do != "" {
			s.ctl(ctx, t, unit, strings.Fields("ovn-sbctl "+asked.do)...)
		}
		reason, said := s.operate(ctx, t, unit, asked.method, asked.path)
		require.Equal(t, asked.reason, reason, "%s %s: %s", asked.method, asked.path, said)
		if ids := s.ctl(ctx, t, unit, "ovn-nbctl", "get", "NB_Global", ".", "external_ids"); asked.intent == "" {
			assert.NotContains(t, ids, `/emptied"`, asked.path)
		} else {
			assert.Contains(t, ids, asked.intent, asked.path)
		}
	}
}

// decommission has the action on another unit retire the node that a unit's machine is. The
// action waits until Juju has removed that unit; what is returned waits for the action's end.
// The chassis is one in name only.
func (s *story) decommission(ctx context.Context, t *testing.T, unit string) (ended func()) {
	t.Helper()
	const node = "retired"
	on := otherThan(unit, s.alive(ctx, t))
	ctl := func(command ...string) string { return s.ctl(ctx, t, on, command...) }
	ctl("ovn-sbctl", "chassis-add", node, "geneve", s.Machines[unit].Address().String(), "--", "set", "Chassis", node, "hostname="+node+".example")
	var results map[string]any
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		results, failed = s.Run(ctx, on, "decommission", "node="+node, "i-really-mean-it=true", "drain-node-timeout=120", "remove-member-timeout=240", "cluster-ready-timeout=120")
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
		require.NoError(t, failed, results)
		assert.Contains(t, results["status"], node+".example is decommissioned")
		assert.Contains(t, results["status"], unit+" has left")
		ctl("ovn-sbctl", "chassis-del", node)
		_, err := s.Run(ctx, on, "remove-node", "node="+node, "i-really-mean-it=true")
		require.NoError(t, err)
		assert.NotContains(t, ctl("ovn-nbctl", "get", "NB_Global", ".", "external_ids"), "ovn-central:drain/")
	}
}

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
