package converge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/deploy"
)

func TestWhatRunsIsPublishedAndNotWhatIsInstalled(t *testing.T) {
	t.Parallel()
	old, installed := deploy.Version{OVN: "23.03", OVS: "3.1"}, deploy.Version{OVN: "25.03", OVS: "3.5"}
	const northd, nb, sb = deploy.Northd, deploy.NorthboundServer, deploy.SouthboundServer
	type running = map[deploy.Service]deploy.Version
	for name, tt := range map[string]struct {
		running running
		want    []deploy.Version
	}{
		"all were restarted":         {running{northd: installed, nb: installed, sb: installed}, []deploy.Version{installed}},
		"none was":                   {running{northd: old, nb: old, sb: old}, []deploy.Version{old}},
		"a server was":               {running{northd: old, nb: installed, sb: old}, []deploy.Version{old, installed}},
		"ovn-northd was not":         {running{northd: old, nb: installed, sb: installed}, []deploy.Version{old, installed}},
		"ovn-northd never ran":       {running{nb: installed, sb: installed}, []deploy.Version{installed}},
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
	assert.Empty(t, r.pending(deploy.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}))
	assert.Equal(t, map[deploy.Service]string{
		deploy.Northd: "upgrade from 23.03.1-1 to 25.03-1", deploy.NorthboundServer: "upgrade from 23.03.1-1 to 25.03-1",
	}, r.pending(deploy.Version{OVN: "25.03-1", OVS: "3.5.0-1"}))
	r.started(deploy.NorthboundServer, deploy.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"})
	assert.Equal(t, map[deploy.Service]string{deploy.NorthboundServer: "upgrade of openvswitch from 3.1.0-2 to 4.0.0-1"},
		r.pending(deploy.Version{OVN: "23.03.1-1", OVS: "4.0.0-1"}), "a newer openvswitch-common alone")
}
