package agentservice

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestUnit_restart_backoff_by_systemd_version(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"Type=notify", "WatchdogSec=30", "Restart=on-failure", "ExecReload=kill -HUP $MAINPID"} {
		assert.Contains(t, strings.Split(unit(ovndb.Paths{}, 0), "\n"), line)
	}
	const backoff = "RestartSec=2\nRestartSteps=5\nRestartMaxDelaySec=60\nWatchdogSec=30\n"
	for _, version := range []int{0, 249, 252, 253} {
		text := unit(ovndb.Paths{}, version)
		assert.NotContains(t, text, "RestartSteps", version)
		assert.Equal(
			t, strings.Replace(unit(ovndb.Paths{}, 254), "RestartSteps=5\nRestartMaxDelaySec=60\n", "", 1), text, version,
		)
	}
	for _, version := range []int{254, 257} {
		assert.Contains(t, unit(ovndb.Paths{}, version), backoff, version)
	}
}
