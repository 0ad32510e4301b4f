package reconcile

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

func TestWhatRunsIsPublishedAndNotWhatIsInstalled(t *testing.T) {
	t.Parallel()
	old, installed := plan.Version{OVN: "23.03", OVS: "3.1"}, plan.Version{OVN: "25.03", OVS: "3.5"}
	const northd, nb, sb = plan.Northd, plan.NorthboundServer, plan.SouthboundServer
	type running = map[plan.Service]plan.Version
	for name, tt := range map[string]struct {
		running running
		want    []plan.Version
	}{
		"all were restarted":         {running{northd: installed, nb: installed, sb: installed}, []plan.Version{installed}},
		"none was":                   {running{northd: old, nb: old, sb: old}, []plan.Version{old}},
		"a server was":               {running{northd: old, nb: installed, sb: old}, []plan.Version{old, installed}},
		"ovn-northd was not":         {running{northd: old, nb: installed, sb: installed}, []plan.Version{old, installed}},
		"ovn-northd never ran":       {running{nb: installed, sb: installed}, []plan.Version{installed}},
		"a server was never started": {running{northd: installed, nb: installed}, nil},
		"nothing was":                {nil, nil},
	} {
		r := record{Running: tt.running}
		assert.Equal(t, tt.want, r.running(installed), name)
	}
}

// What a unit remembers from before this charm knew of Open vSwitch's version makes no
// restart due.
func TestRecordOfTheVersionOfOVNAloneIsStillRead(t *testing.T) {
	t.Parallel()
	var r record
	require.NoError(t, json.Unmarshal([]byte(`{"running":{"ovn-northd":"23.03.1-1","ovn-ovsdb-server-nb":"23.03.1-1"}}`), &r))
	assert.Empty(t, r.pending(plan.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}))
	assert.Equal(t, map[plan.Service]string{
		plan.Northd: "upgrade from 23.03.1-1 to 25.03-1", plan.NorthboundServer: "upgrade from 23.03.1-1 to 25.03-1",
	}, r.pending(plan.Version{OVN: "25.03-1", OVS: "3.5.0-1"}))
	r.started(plan.NorthboundServer, plan.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"})
	assert.Equal(t, map[plan.Service]string{plan.NorthboundServer: "upgrade of openvswitch from 3.1.0-2 to 4.0.0-1"},
		r.pending(plan.Version{OVN: "23.03.1-1", OVS: "4.0.0-1"}), "a newer openvswitch-common alone")
}
