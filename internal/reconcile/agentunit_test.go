package reconcile

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
)

func TestRestartsWaitLongerAndLongerWhereSystemdKnowsHow(t *testing.T) {
	t.Parallel()
	const backoff = "RestartSec=2\nRestartSteps=5\nRestartMaxDelaySec=60\nWatchdogSec=30\n"
	for _, version := range []int{0, 249, 252, 253} {
		unit := agentUnit(ovndb.Paths{}, version)
		assert.NotContains(t, unit, "RestartSteps", version)
		assert.Equal(t, strings.Replace(agentUnit(ovndb.Paths{}, 254), "RestartSteps=5\nRestartMaxDelaySec=60\n", "", 1), unit, version)
	}
	for _, version := range []int{254, 257} {
		assert.Contains(t, agentUnit(ovndb.Paths{}, version), backoff, version)
	}
}
