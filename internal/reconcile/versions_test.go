package reconcile

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

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
			u.Packages.Runner = runtest.New(t, runtest.Expect("dpkg-query", "--show", `--showformat=${Package} ${db:Status-Status} ${Version}\n`, "ovn-central", "openvswitch-common").
				Writes("ovn-central installed 25.03\nopenvswitch-common installed 3.5\n"))
			p := pass{record: recorded(t, u, unitKept{}), progress: new(progress)}
			for service, version := range c.ran {
				p.record.restarts.Started(service, version)
			}
			require.ErrorContains(t, u.start(t.Context(), p, []ovndb.Service{ovndb.NorthboundServer}), "timed out")
			kept, err := u.loadRecord()
			require.NoError(t, err)
			for service, want := range c.want {
				runs, _ := kept.restarts.Runs(service)
				assert.Equal(t, want, runs)
			}
		})
	}
}
