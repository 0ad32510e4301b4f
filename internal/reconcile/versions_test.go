package reconcile

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestWhatRunsIsPublishedAndNotWhatIsInstalled(t *testing.T) {
	t.Parallel()
	old, installed := ovndb.Version{OVN: "23.03", OVS: "3.1"}, ovndb.Version{OVN: "25.03", OVS: "3.5"}
	const northd, nb, sb = ovndb.Northd, ovndb.NorthboundServer, ovndb.SouthboundServer
	type running = map[ovndb.Service]ovndb.Version
	for name, tt := range map[string]struct {
		running running
		want    []ovndb.Version
	}{
		"all were restarted":         {running{northd: installed, nb: installed, sb: installed}, []ovndb.Version{installed}},
		"none was":                   {running{northd: old, nb: old, sb: old}, []ovndb.Version{old}},
		"a server was":               {running{northd: old, nb: installed, sb: old}, []ovndb.Version{old, installed}},
		"ovn-northd was not":         {running{northd: old, nb: installed, sb: installed}, []ovndb.Version{old, installed}},
		"ovn-northd never ran":       {running{nb: installed, sb: installed}, []ovndb.Version{installed}},
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
	assert.Empty(t, r.pending(ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"}))
	assert.Equal(t, map[ovndb.Service]string{
		ovndb.Northd: "upgrade from 23.03.1-1 to 25.03-1", ovndb.NorthboundServer: "upgrade from 23.03.1-1 to 25.03-1",
	}, r.pending(ovndb.Version{OVN: "25.03-1", OVS: "3.5.0-1"}))
	r.started(ovndb.NorthboundServer, ovndb.Version{OVN: "23.03.1-1", OVS: "3.1.0-2"})
	assert.Equal(t, map[ovndb.Service]string{ovndb.NorthboundServer: "upgrade of openvswitch from 3.1.0-2 to 4.0.0-1"},
		r.pending(ovndb.Version{OVN: "23.03.1-1", OVS: "4.0.0-1"}), "a newer openvswitch-common alone")
}
