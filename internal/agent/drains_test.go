package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/gateway"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
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

func TestDrainThatCannotGoOnIsToldOfAndStalls(t *testing.T) {
	t.Parallel()
	a, now := played(t)
	d := &a.gateways.drains
	inv := gateway.BuildInventory(ovsdb.Northbound{IDs: maintenance.Begin("c1", maintenance.Note{Hostname: "host1"}, maintenance.Limits{}).Set}, ovsdb.Southbound{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no database can be read
	fails := func(after time.Duration) report.Drain {
		*now += after
		_, err := d.reconcile(ctx, "a", true, inv)
		require.ErrorIs(t, err, context.Canceled)
		said := d.status(*now)
		require.Len(t, said, 1)
		assert.False(t, said[0].Done)
		assert.Equal(t, []string{"c1", "host1"}, []string{said[0].Chassis, said[0].Node})
		assert.Contains(t, said[0].Text, "cannot go on: ")
		return said[0]
	}
	said := fails(0)
	assert.NotContains(t, said.Text, "nothing is left", "that is not known")
	d.all["c1"].progress, d.all["c1"].known = maintenance.Progress{Left: 3}, true // as it was read once
	said = fails(time.Minute)
	assert.Regexp(t, "^3 gateways to move, cannot go on: ", said.Text)
	assert.Equal(t, 3, said.Gateways)
	assert.False(t, said.Stalled)
	assert.True(t, fails(5*time.Minute).Stalled)
}
