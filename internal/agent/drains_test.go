package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
)

// One that has lost the lease, and its databases with it, knows only how drains were: another one tells.
func TestOnlyTheUnitThatActsTellsOfDrains(t *testing.T) {
	t.Parallel()
	a, now := played(t)
	a.gateways.drains.say([]report.Drain{{Chassis: "c1", Gateways: 3}, {Chassis: "c2", Stalled: true}, {Chassis: "c3", Done: true}})
	lines := []string{`ovn_central_drains{state="running"} 1`, `ovn_central_drains{state="stalled"} 1`, `ovn_central_drain_gateways{node="c1"} 3`}
	tells := func(yes bool) {
		text := get(t, a, "/metrics").Body.String()
		for _, line := range lines {
			assert.Equal(t, yes, strings.Contains(text, line), line)
		}
	}
	tells(false)
	acts(a)
	tells(true)
	assert.Len(t, a.status().Drains, 3)
	*now += a.config.TTL
	tells(false)
	assert.Equal(t, []report.Drain{}, a.status().Drains)
}
