package systemd_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/run/runtest"
	"github.com/ovn-central/ovn-central-operator/internal/systemd"
)

func states(t *testing.T, answer string) (map[ovndb.Service]systemd.Properties, error) {
	t.Helper()
	asked := runtest.Expect("systemctl", "show", "--property=Id,LoadState,ActiveState,UnitFileState,MainPID,InvocationID",
		"ovn-northd.service", "ovn-ovsdb-server-nb.service", "ovn-ovsdb-server-sb.service", "ovn-central.service")
	return systemd.Services{Runner: runtest.New(t, asked.Writes(answer))}.States(t.Context())
}

// The answers are systemd 252's, with the units of ovn-central 23.03 of Debian 12; their InvocationIDs were added.
func TestServicesHaveTheStatesThatSystemdGivesThem(t *testing.T) {
	t.Parallel()
	four := func(northd, nb, sb, central systemd.Properties) map[ovndb.Service]systemd.Properties {
		return map[ovndb.Service]systemd.Properties{ovndb.Northd: northd, ovndb.NorthboundServer: nb, ovndb.SouthboundServer: sb, ovndb.Umbrella: central}
	}
	same := func(s systemd.Properties) map[ovndb.Service]systemd.Properties { return four(s, s, s, s) }
	const northd, nb = "13f063d222232c91640bff2833305395", "4b691484bff94a94d3a0d84f87d12888"
	const sb, central = "d532e4f6d1517d43e031046714df4469", "45e739d328c6a36ecc80a1e65478c6a4"
	stopped := systemd.Properties{Active: "inactive", Enabled: "disabled"}
	tests := map[string]map[ovndb.Service]systemd.Properties{
		"running": four(
			systemd.Properties{Active: "active", Enabled: "static", MainPID: 643, Invocation: northd},
			systemd.Properties{Active: "active", Enabled: "enabled", MainPID: 1004, Invocation: nb},
			systemd.Properties{Active: "active", Enabled: "enabled", MainPID: 585, Invocation: sb},
			systemd.Properties{Active: "active", Enabled: "enabled", Invocation: central},
		),
		"held": four( // masked until the next boot, while they run
			systemd.Properties{Active: "active", Enabled: "masked-runtime", Masked: true, MainPID: 643, Invocation: northd},
			systemd.Properties{Active: "active", Enabled: "masked-runtime", Masked: true, MainPID: 1004, Invocation: nb},
			systemd.Properties{Active: "active", Enabled: "masked-runtime", Masked: true, MainPID: 585, Invocation: sb},
			systemd.Properties{Active: "active", Enabled: "masked-runtime", Masked: true, Invocation: central},
		),
		"stopped": four(systemd.Properties{Active: "inactive", Enabled: "static"}, stopped, stopped, stopped),
		"missing": same(systemd.Properties{Active: "inactive", Missing: true}),
		"masked":  same(systemd.Properties{Active: "inactive", Enabled: "masked", Masked: true}),
	}
	for name, wanted := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := states(t, string(golden(t, "systemctl-show-"+name+".txt")))
			require.NoError(t, err)
			assert.Equal(t, wanted, got)
			assert.Equal(t, wanted[ovndb.NorthboundServer].Active == "active", got[ovndb.NorthboundServer].Running())
		})
	}
}

func TestStatesThatSystemdDoesNotTellAreAnError(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"nothing":            "",
		"one service only":   "Id=ovn-northd.service\nLoadState=loaded\nActiveState=active\nMainPID=1\n",
		"no number":          "Id=ovn-northd.service\nMainPID=many\n",
		"of another service": "Id=ssh.service\n\nId=a.service\n\nId=b.service\n\nId=c.service\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := states(t, answer)
			require.Error(t, err)
		})
	}
}
