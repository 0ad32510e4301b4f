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
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

// An agent without the lease has only old data about drains.
func TestDrains_only_holder_reports(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	a.gateways.recordObservation(&gateway.Inventory{}, schedule.Plan{}, false, *now)
	a.gateways.drains.report.Store(&[]report.Drain{
		{Chassis: "c1", Gateways: 3},
		{Chassis: "c2", Stalled: true},
		{Chassis: "c3", Done: true},
	})
	lines := []string{
		`ovn_central_drains{state="running"} 1`, `ovn_central_drains{state="stalled"} 1`,
		`ovn_central_drain_gateways{node="c1"} 3`,
	}
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

func TestDrains_blocked_is_reported_and_stalls(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	d := &a.gateways.drains
	inv := drainedCloud(0, 0, "c2")
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no database can be read
	fails := func(after time.Duration) report.Drain {
		*now += after
		_, err := d.reconcile(ctx, "a", inv)
		require.ErrorIs(t, err, context.Canceled)
		got := d.status(*now)
		require.Len(t, got, 1)
		assert.False(t, got[0].Done)
		assert.Equal(t, []string{"c1", "host1"}, []string{got[0].Chassis, got[0].Node})
		assert.Contains(t, got[0].Text, context.Canceled.Error())
		return got[0]
	}
	got := fails(0)
	assert.NotContains(t, got.Text, maintenance.Progress{}.Text(), "unknown")
	d.all["c1"].Progress, d.all["c1"].Known = maintenance.Progress{Left: 3}, true // from an earlier reading
	got = fails(time.Minute)
	assert.Regexp(t, "^"+maintenance.Progress{Left: 3}.Text(), got.Text)
	assert.Equal(t, 3, got.Gateways)
	assert.False(t, got.Stalled)
	assert.True(t, fails(5*time.Minute).Stalled)
}

// drainedCloud returns a cloud with a drained chassis c1.
func drainedCloud(asked, followed int64, host string) *gateway.Inventory {
	ids := maintenance.Begin("c1", maintenance.Note{Hostname: "host1"}, maintenance.Limits{}).Set
	return cloud(ids, asked, followed, host)
}

// cloud returns a cloud with the gateway chassis c1 and c2, and the gateway lrp, which prefers c2 and is on host.
func cloud(ids map[string]string, asked, followed int64, host string) *gateway.Inventory {
	sb := ovsdb.Southbound{Config: followed, Redirects: map[string]string{"cr-lrp": host}}
	for _, name := range []string{"c1", "c2"} {
		sb.Chassis = append(sb.Chassis, ovsdb.ChassisRow{
			Name: name, Known: true, Config: map[string]string{"ovn-cms-options": "enable-chassis-as-gw"},
		})
	}
	return gateway.BuildInventory(ovsdb.Northbound{
		Config: asked, IDs: ids,
		GatewayChassis: map[string]ovsdb.CandidateRow{
			"1": {UUID: "1", Chassis: "c1", Priority: 1},
			"2": {UUID: "2", Chassis: "c2", Priority: 2},
		},
		RouterPorts: []ovsdb.LogicalRouterPort{{UUID: "1", Name: "lrp", GatewayChassis: []string{"1", "2"}}},
		Routers:     []ovsdb.LogicalRouter{{UUID: "r", Name: "r", Ports: []string{"1"}}},
	}, sb)
}

// simulatedDrains simulates the progress of drains.
type simulatedDrains struct {
	maintenance.Progress
	claims       maintenance.Claims
	steps, asked int
	closing      func()
}

func (p *simulatedDrains) Effects(_ string, inv *gateway.Inventory) maintenance.Effects {
	p.claims = maintenance.Claims{
		Hosts: map[string]string{"cr-lrp": inv.SB.Redirects["cr-lrp"]}, Asked: inv.NB.Config,
		Followed: inv.SB.Config,
	}
	return p
}

func (p *simulatedDrains) Now() time.Time { return time.Time{} }

func (p *simulatedDrains) Look(context.Context) (maintenance.Sight, error) {
	return maintenance.Sight{Progress: p.Progress, Claims: p.claims}, nil
}

func (p *simulatedDrains) Move(context.Context) (maintenance.Sight, bool, error) {
	p.steps++
	x := maintenance.Sight{Claims: p.claims}
	if p.Left == 0 {
		return x, false, nil
	}
	p.Progress = maintenance.Progress{}
	x.Holds = []maintenance.Hold{{Name: maintenance.HoldGateway, Count: 1, Derived: true}} // until the chassis follow
	return x, true, nil
}

func (p *simulatedDrains) Ask(context.Context) error { return nil }

func (p *simulatedDrains) Sync(context.Context) error { return nil }

func (p *simulatedDrains) AskNorthd(context.Context) error {
	p.asked++
	return nil
}

func (p *simulatedDrains) Close() {
	if p.closing != nil {
		p.closing()
	}
}

// simulateDrains replaces the agent's drains by simulated ones.
func simulateDrains(a *Agent) *simulatedDrains {
	p := new(simulatedDrains)
	a.gateways.drains.open = func(string) drainService { return p }
	return p
}

// observedDrain observes the drains and returns the report of the only one.
func observedDrain(t *testing.T, a *Agent, value string, acts bool, inv *gateway.Inventory) (got report.Drain) {
	t.Helper()
	d := &a.gateways.drains
	if !acts {
		d.end(inv)
		require.Empty(t, d.status(a.now()))
		return got
	}
	_, err := d.reconcile(t.Context(), value, inv)
	require.NoError(t, err)
	all := d.status(a.now())
	require.Len(t, all, 1)
	return all[0]
}

// R6, R17: the proof survives a moment in which the unit does not act, but not a change of the record.
func TestDrains_done_needs_proof_under_record(t *testing.T) {
	t.Parallel()
	a, now := newTestAgent(t)
	p := simulateDrains(a)
	p.Left = 1
	observedDrain(t, a, "a", true, drainedCloud(7, 7, "c1"))
	*now += 10 * time.Second
	got := observedDrain(t, a, "a", true, drainedCloud(7, 7, "c1"))
	assert.Equal(t, 1, p.steps)
	assert.Equal(t, "gateway 1", got.Text)
	observedDrain(t, a, "a", false, drainedCloud(7, 7, "c2"))
	assert.False(t, observedDrain(t, a, "a", true, drainedCloud(7, 7, "c2")).Done)
	assert.Equal(t, 1, p.asked)
	*now += 25 * time.Second // ovn-northd's time with 10,000 routers
	assert.False(t, observedDrain(t, a, "a", true, drainedCloud(8, 7, "c2")).Done)
	assert.True(t, observedDrain(t, a, "a", true, drainedCloud(8, 8, "c2")).Done)
	observedDrain(t, a, "a", false, drainedCloud(8, 8, "c2"))
	assert.True(t, observedDrain(t, a, "a", true, drainedCloud(8, 8, "c2")).Done)
	*now += time.Hour
	assert.True(t, observedDrain(t, a, "a", true, drainedCloud(8, 8, "c2")).Done)
	assert.Equal(t, 1, p.asked, "it is asked once")

	assert.False(t, observedDrain(t, a, "b", true, drainedCloud(8, 8, "c2")).Done, "another agent may have moved them")
	assert.Equal(t, 1, p.asked, "the command may still run")
	*now += time.Minute
	assert.False(t, observedDrain(t, a, "b", true, drainedCloud(8, 8, "c2")).Done)
	assert.True(t, observedDrain(t, a, "b", true, drainedCloud(9, 9, "c2")).Done)
	assert.Equal(t, 2, p.asked)
}
