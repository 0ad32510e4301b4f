package maintenance_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/node/maintenance"
)

var (
	moving  = maintenance.Progress{Left: 9, Holds: []maintenance.Hold{{Name: "gateway", Count: 9, Derived: true}}}
	settles = maintenance.Progress{Holds: []maintenance.Hold{{Name: "gateway", Count: 2, Derived: true}}}
	machine = maintenance.Progress{Holds: []maintenance.Hold{{Name: "nova-compute", Count: 6, Derived: true}, {Name: "bgp"}}}
	stuck   = maintenance.Progress{Blocked: []finding.Finding{{Code: finding.GatewayStays}}, Unbound: []string{"lrp-2"}}
)

func TestDrainIsJudgedByWhatIsLeftAndForHowLong(t *testing.T) {
	t.Parallel()
	type look struct {
		after   time.Duration
		seen    maintenance.Progress
		outcome maintenance.Outcome
		line    string
	}
	for name, looks := range map[string][]look{
		"drained once nothing has stood there for a while": {
			{0, moving, maintenance.GoOn, "9 gateways to move, gateway 9"},
			{time.Second, settles, maintenance.GoOn, "gateway 2"},
			{2 * time.Second, maintenance.Progress{}, maintenance.GoOn, "nothing is left"},
			{3 * time.Second, settles, maintenance.GoOn, "gateway 2"},
			{4 * time.Second, maintenance.Progress{}, maintenance.GoOn, "nothing is left"},
			{6 * time.Second, maintenance.Progress{}, maintenance.GoOn, ""},
			{7 * time.Second, maintenance.Progress{}, maintenance.Drained, ""},
		},
		"the grace period begins when all have moved that can": {
			{0, moving, maintenance.GoOn, "9 gateways to move, gateway 9"},
			{29 * time.Minute, machine, maintenance.GoOn, "nova-compute 6, hold bgp"},
			{39*time.Minute - time.Second, machine, maintenance.GoOn, "STALLED: nova-compute 6, hold bgp, for 9m59s"},
			{39 * time.Minute, machine, maintenance.GraceOver, ""},
		},
		"the timeout is for all": {
			{0, moving, maintenance.GoOn, "9 gateways to move, gateway 9"},
			{time.Minute, moving, maintenance.GoOn, "9 gateways to move, gateway 9, for 1m0s"},
			{5 * time.Minute, moving, maintenance.GoOn, "STALLED: 9 gateways to move, gateway 9, for 5m0s"},
			{time.Hour, moving, maintenance.TimeOver, "STALLED: 9 gateways to move, gateway 9, for 1h0m0s"},
		},
		"what is blocked is named": {
			{0, stuck, maintenance.GoOn, "1 gateway blocked, 1 gateway not bound to any chassis"},
			{time.Hour, stuck, maintenance.TimeOver, "STALLED: 1 gateway blocked, 1 gateway not bound to any chassis, for 1h0m0s"},
		},
		"a data plane that is slow is no hold": {
			{0, settles, maintenance.GoOn, "gateway 2"},
			{10*time.Minute - time.Second, settles, maintenance.GoOn, "STALLED: gateway 2, for 9m59s"},
			{10 * time.Minute, settles, maintenance.GraceOver, ""},
		},
		"not while the node is open": {
			{0, maintenance.Progress{Open: true}, maintenance.GoOn, "not cordoned"},
			{10 * time.Minute, maintenance.Progress{Open: true}, maintenance.GraceOver, "STALLED: not cordoned, for 10m0s"},
		},
		"given up": {{0, maintenance.Progress{Ended: true}, maintenance.GivenUp, "nothing is left"}},
	} {
		var w world
		d := maintenance.Drainer{Limits: maintenance.Limits{Timeout: time.Hour, Grace: 10 * time.Minute}, Begun: at, Own: true, Unasked: true}
		for _, l := range looks {
			w.seen.Progress = l.seen
			outcome, line := w.step(t, &d, l.after)
			assert.Equal(t, l.outcome, outcome, "%s after %s", name, l.after)
			assert.Equal(t, l.line, line, "%s after %s", name, l.after)
		}
	}
}

// What was followed between two looks counts: a drain ends with the look that finds nothing left, unless
// something has come back meanwhile.
func TestDrainEndsByWhatWasFollowedBetweenItsLooks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cleared []time.Duration // negative is one that has come back
		seen    maintenance.Progress
		outcome maintenance.Outcome
	}{
		"stayed away for long enough":         {[]time.Duration{7 * time.Second}, maintenance.Progress{}, maintenance.Drained},
		"not yet":                             {[]time.Duration{7001 * time.Millisecond}, maintenance.Progress{}, maintenance.GoOn},
		"a machine is left":                   {[]time.Duration{0}, machine, maintenance.GoOn},
		"one has come back, and left again":   {[]time.Duration{0, -1}, maintenance.Progress{}, maintenance.GoOn},
		"it was not followed":                 {nil, maintenance.Progress{}, maintenance.GoOn},
		"it has come back, and left for good": {[]time.Duration{-1, 6 * time.Second}, maintenance.Progress{}, maintenance.Drained},
	} {
		w := world{seen: maintenance.Sight{Progress: settles}}
		d := maintenance.Drainer{Limits: maintenance.Limits{Timeout: time.Hour, Grace: time.Minute}, Begun: at, Own: true, Unasked: true}
		outcome, _ := w.step(t, &d, 0)
		require.Equal(t, maintenance.GoOn, outcome)
		for _, cleared := range test.cleared {
			if cleared < 0 {
				d.Cleared(time.Time{})
			} else {
				d.Cleared(at.Add(cleared))
			}
		}
		w.seen.Progress = test.seen
		outcome, _ = w.step(t, &d, 10*time.Second)
		assert.Equal(t, test.outcome, outcome, name)
	}
}

// 002-3.
func TestGracePeriodIsSmallerThanTheTimeout(t *testing.T) {
	t.Parallel()
	assert.Nil(t, maintenance.Limits{Timeout: maintenance.DefaultTimeout, Grace: maintenance.DefaultGrace}.Check())
	for _, grace := range []time.Duration{time.Minute, time.Hour} {
		refused := maintenance.Limits{Timeout: time.Minute, Grace: grace}.Check()
		require.NotNil(t, refused)
		assert.Equal(t, 400, refused.Code)
	}
	for grace, timeout := range map[time.Duration]time.Duration{-time.Second: time.Minute, 0: 0, -2 * time.Second: -time.Second} {
		refused := maintenance.Limits{Timeout: timeout, Grace: grace}.Check()
		require.NotNil(t, refused, "%s of %s", grace, timeout)
		assert.Equal(t, 400, refused.Code)
	}
	assert.Equal(t, 1800*time.Second, maintenance.GraceFor(3600*time.Second))
	assert.Equal(t, 30*time.Second, maintenance.GraceFor(time.Minute))
}

func TestRecordsOfADrainAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	n := maintenance.Note{By: "a", At: at, Reason: "disk", Hostname: "h"}
	begun := maintenance.ParseRecords(maintenance.Begin("c1", n, maintenance.Limits{Timeout: time.Hour, Grace: time.Minute}).Set)
	assert.Equal(t, map[string]maintenance.Note{"c1": n}, begun.Cordons)
	assert.Equal(t, map[string]maintenance.Drain{"c1": {Note: n, TimeoutSeconds: 3600, GraceSeconds: 60}}, begun.Drains)
	undone := maintenance.ParseRecords(maintenance.BeginUndrain("c1", begun.Drains["c1"], n).Set)
	assert.Empty(t, undone.Cordons)
	assert.True(t, undone.Drains["c1"].Undrain)
	assert.Equal(t, []string{"ovn-central:drain/c1"}, maintenance.End("c1").Drop)
}

// A drain that begins again has the members that the first one has found, though the chassis is gone since.
func TestMembersThatADrainHasFoundAreKept(t *testing.T) {
	t.Parallel()
	nb := maintenance.Member{Database: "OVN_Northbound", Short: "aaaa", Address: "ssl:10.0.0.5:6643"}
	sb := maintenance.Member{Database: "OVN_Southbound", Short: "bbbb", Address: "ssl:10.0.0.5:6644"}
	found := nb
	found.Unit = "ovn-central/1"
	n := maintenance.Node{Chassis: "c1", Members: []maintenance.Member{found}}
	assert.Equal(t, []maintenance.Member{found}, n.Carried())
	n.Drain = &maintenance.Drain{Undrain: true, Members: []maintenance.Member{nb, sb}}
	assert.Equal(t, []maintenance.Member{found, sb}, n.Carried())
	n.Members = nil
	assert.Equal(t, []maintenance.Member{nb, sb}, n.Carried())
}
