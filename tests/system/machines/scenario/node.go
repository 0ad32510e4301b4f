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
)

// operate calls the agent of a unit by the specification's paths, and returns the answer and its reason.
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

// operateByTheSocket drains and removes an empty node through a unit's agent, within all restrictions of its service.
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

// decommission has the action on another unit retire the node that a unit's machine is. The action waits until Juju has
// removed that unit; what is returned waits for the action's end. The chassis has the row of an ovn-controller, and
// none runs.
func (s *story) decommission(ctx context.Context, t *testing.T, unit string) (ended func()) {
	t.Helper()
	const node = "retired"
	on := otherThan(unit, s.alive(ctx, t))
	ctl := func(command ...string) string { return s.ctl(ctx, t, on, command...) }
	ctl("ovn-sbctl", "chassis-add", node, "geneve", s.Machines[unit].Address().String(), "--",
		"set", "Chassis", node, "hostname="+node+".example", "other_config:datapath-type=system")
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
		assert.Contains(t, results["status"], node+".example ")
		assert.Contains(t, results["status"], unit)
		ctl("ovn-sbctl", "chassis-del", node)
		_, err := s.Run(ctx, on, "remove-node", "node="+node, "i-really-mean-it=true")
		require.NoError(t, err)
		assert.NotContains(t, ctl("ovn-nbctl", "get", "NB_Global", ".", "external_ids"), "ovn-central:drain/")
	}
}
