package reconcile

import (
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
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
		r := record{servicesKept: servicesKept{Running: tt.running}}
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

// Charmed OpenStack Upgrader compares it as PEP 440 says (cou/apps/auxiliary.py), which a
// revision of the package would not pass.
func TestVersionThatJujuShowsIsUpstreams(t *testing.T) {
	t.Parallel()
	for installed, shown := range map[string]string{
		"22.03.3-0ubuntu0.22.04.4":        "22.03.3",
		"23.03.1-1~deb12u2":               "23.03.1",
		"24.03.2-0ubuntu0.24.04.1~cloud0": "24.03.2",
		"1:25.09.0-1":                     "25.09.0",
		"":                                "",
	} {
		assert.Equal(t, shown, upstream(installed))
	}
}

// A machine was so slow that systemctl did not return in time: the server runs all the same.
func TestServiceThatWasSlowToStartIsKnownToRunWhatIsInstalled(t *testing.T) {
	t.Parallel()
	slow := []runtest.Call{
		runtest.Expect("systemctl", "unmask", "ovn-ovsdb-server-nb"),
		runtest.Expect("systemctl", "unmask", "--runtime", "ovn-ovsdb-server-nb"),
		runtest.Expect("systemctl", "start", "ovn-ovsdb-server-nb").Fails(1, "Job for ovn-ovsdb-server-nb.service timed out.\n"),
	}
	for title, c := range map[string]struct {
		ran, want map[ovndb.Service]ovndb.Version
	}{
		"it never ran": {nil, map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVN: "25.03", OVS: "3.5"}}},
		"it ran an older one, which may be the one that failed": {
			map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVN: "23.03", OVS: "3.1"}},
			map[ovndb.Service]ovndb.Version{ovndb.NorthboundServer: {OVN: "23.03", OVS: "3.1"}},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			u := &Reconciler{Paths: ovndb.Paths{DB: t.TempDir()}, Machine: &observe.Machine{Services: systemd.Services{Runner: runtest.New(t, slow...)}, Log: slog.New(slog.DiscardHandler)}}
			installed := &progress{payload: &payload{version: ovndb.Version{OVN: "25.03", OVS: "3.5"}, installed: true}}
			p := pass{record: recorded(t, u, unitKept{}), progress: installed}
			p.record.Running = c.ran
			require.ErrorContains(t, u.start(t.Context(), p, []ovndb.Service{ovndb.NorthboundServer}), "timed out")
			kept, err := u.loadRecord()
			require.NoError(t, err)
			assert.Equal(t, c.want, kept.Running)
		})
	}
}
