package maintenance_test

import (
	"context"
	"errors"
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
	machine = maintenance.Progress{
		Holds: []maintenance.Hold{{Name: "nova-compute", Count: 6, Derived: true}, {Name: "bgp"}},
	}
	stuck = maintenance.Progress{Blocked: []finding.Finding{{Code: finding.GatewayStays}}, Unbound: []string{"lrp-2"}}
)

func TestDrainer_outcomes(t *testing.T) {
	t.Parallel()
	type look struct {
		after   time.Duration
		seen    maintenance.Progress
		outcome maintenance.Outcome
		line    string
	}
	open := maintenance.Progress{Open: true}
	for name, looks := range map[string][]look{
		"drained once nothing has stood there for a while": {
			{0, moving, maintenance.GoOn, moving.Text()},
			{time.Second, settles, maintenance.GoOn, "gateway 2"},
			{2 * time.Second, maintenance.Progress{}, maintenance.GoOn, maintenance.Progress{}.Text()},
			{3 * time.Second, settles, maintenance.GoOn, "gateway 2"},
			{4 * time.Second, maintenance.Progress{}, maintenance.GoOn, maintenance.Progress{}.Text()},
			{6 * time.Second, maintenance.Progress{}, maintenance.GoOn, ""},
			{7 * time.Second, maintenance.Progress{}, maintenance.Drained, ""},
		},
		"the grace period begins when all have moved that can": {
			{0, moving, maintenance.GoOn, moving.Text()},
			{29 * time.Minute, machine, maintenance.GoOn, machine.Text()},
			{39*time.Minute - time.Second, machine, maintenance.GoOn, "STALLED: " + machine.Text() + ", for 9m59s"},
			{39 * time.Minute, machine, maintenance.GraceOver, ""},
		},
		"the timeout is for all": {
			{0, moving, maintenance.GoOn, moving.Text()},
			{time.Minute, moving, maintenance.GoOn, moving.Text() + ", for 1m0s"},
			{5 * time.Minute, moving, maintenance.GoOn, "STALLED: " + moving.Text() + ", for 5m0s"},
			{time.Hour, moving, maintenance.TimeOver, "STALLED: " + moving.Text() + ", for 1h0m0s"},
		},
		"what is blocked is named": {
			{0, stuck, maintenance.GoOn, stuck.Text()},
			{
				time.Hour, stuck, maintenance.TimeOver,
				"STALLED: " + stuck.Text() + ", for 1h0m0s",
			},
		},
		"a data plane that is slow is no hold": {
			{0, settles, maintenance.GoOn, "gateway 2"},
			{10*time.Minute - time.Second, settles, maintenance.GoOn, "STALLED: gateway 2, for 9m59s"},
			{10 * time.Minute, settles, maintenance.GraceOver, ""},
		},
		"not while the node is open": {
			{0, open, maintenance.GoOn, open.Text()},
			{10 * time.Minute, open, maintenance.GraceOver, "STALLED: " + open.Text() + ", for 10m0s"},
		},
		"given up": {{0, maintenance.Progress{Ended: true}, maintenance.GivenUp, maintenance.Progress{}.Text()}},
	} {
		var w world
		d := maintenance.Drainer{
			Limits: maintenance.Limits{Timeout: time.Hour, Grace: 10 * time.Minute}, Begun: at, Own: true, Unasked: true,
		}
		for _, l := range looks {
			w.seen.Progress = l.seen
			outcome, line := w.step(t, &d, l.after)
			assert.Equal(t, l.outcome, outcome, "%s after %s", name, l.after)
			assert.Equal(t, l.line, line, "%s after %s", name, l.after)
		}
	}
}

// Between two steps, the time since the last gateway left is followed. A drain ends with a step that finds nothing
// left, unless a gateway has come back meanwhile.
func TestDrainer_cleared_between_steps(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cleared []time.Duration // negative: a gateway has come back
		seen    maintenance.Progress
		outcome maintenance.Outcome
	}{
		"stayed away for long enough": {
			[]time.Duration{7 * time.Second}, maintenance.Progress{}, maintenance.Drained,
		},
		"not yet": {
			[]time.Duration{7001 * time.Millisecond}, maintenance.Progress{}, maintenance.GoOn,
		},
		"a machine is left":                 {[]time.Duration{0}, machine, maintenance.GoOn},
		"one has come back, and left again": {[]time.Duration{0, -1}, maintenance.Progress{}, maintenance.GoOn},
		"it was not followed":               {nil, maintenance.Progress{}, maintenance.GoOn},
		"it has come back, and left for good": {
			[]time.Duration{-1, 6 * time.Second}, maintenance.Progress{}, maintenance.Drained,
		},
	} {
		w := world{seen: maintenance.Sight{Progress: settles}}
		d := maintenance.Drainer{
			Limits: maintenance.Limits{Timeout: time.Hour, Grace: time.Minute}, Begun: at, Own: true, Unasked: true,
		}
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
func TestLimits_grace_below_timeout(t *testing.T) {
	t.Parallel()
	assert.Nil(t, maintenance.Limits{Timeout: maintenance.DefaultTimeout, Grace: maintenance.DefaultGrace}.Check())
	for _, grace := range []time.Duration{time.Minute, time.Hour} {
		refused := maintenance.Limits{Timeout: time.Minute, Grace: grace}.Check()
		require.NotNil(t, refused)
		assert.Equal(t, 400, refused.Code)
	}
	for grace, timeout := range map[time.Duration]time.Duration{
		-time.Second: time.Minute, 0: 0, -2 * time.Second: -time.Second,
	} {
		refused := maintenance.Limits{Timeout: timeout, Grace: grace}.Check()
		require.NotNil(t, refused, "%s of %s", grace, timeout)
		assert.Equal(t, 400, refused.Code)
	}
	assert.Equal(t, 1800*time.Second, maintenance.GraceFor(3600*time.Second))
	assert.Equal(t, 30*time.Second, maintenance.GraceFor(time.Minute))
}

func TestParseRecords_reads_written_drain(t *testing.T) {
	t.Parallel()
	n := maintenance.Note{By: "a", At: at, Reason: "disk", Hostname: "h"}
	begun := maintenance.ParseRecords(maintenance.Begin("c1", n,
		maintenance.Limits{Timeout: time.Hour, Grace: time.Minute}).Set)
	assert.Equal(t, map[string]maintenance.Note{"c1": n}, begun.Cordons)
	assert.Equal(t, map[string]maintenance.Drain{"c1": {Note: n, TimeoutSeconds: 3600, GraceSeconds: 60}}, begun.Drains)
	undone := maintenance.ParseRecords(maintenance.BeginUndrain("c1", begun.Drains["c1"], n).Set)
	assert.Empty(t, undone.Cordons)
	assert.True(t, undone.Drains["c1"].Undrain)
	assert.Equal(t, []string{"ovn-central:drain/c1"}, maintenance.End("c1").Drop)
}

// A repeated drain keeps the members that the first one recorded, even if the chassis is gone.
func TestCarried_members_of_drain_are_kept(t *testing.T) {
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

// world simulates the effects of a drain.
type world struct {
	now  time.Time
	seen maintenance.Sight
	// moved is the progress after a move; if it is nil, Move moves nothing.
	moved                *maintenance.Progress
	moves, asked, synced int
	fails                error
}

func (w *world) Now() time.Time { return w.now }

func (w *world) Look(context.Context) (maintenance.Sight, error) { return w.seen, w.fails }

func (w *world) Move(context.Context) (maintenance.Sight, bool, error) {
	w.moves++
	if w.moved == nil {
		return w.seen, false, nil
	}
	w.seen.Progress = *w.moved
	return w.seen, true, nil
}

func (w *world) Ask(context.Context) error {
	w.asked++
	w.seen.Asked++
	return nil
}

func (w *world) Sync(context.Context) error {
	w.synced++
	return nil
}

// step makes a step of a drain at a time after its beginning.
func (w *world) step(t *testing.T, d *maintenance.Drainer, after time.Duration) (outcome maintenance.Outcome,
	line string,
) {
	t.Helper()
	w.now = at.Add(after)
	outcome, line, _, err := d.Step(t.Context(), w)
	assert.ErrorIs(t, err, w.fails)
	return outcome, line
}

func TestDrainer_command_moves_at_once_and_proves(t *testing.T) {
	t.Parallel()
	w := &world{
		seen: maintenance.Sight{
			Progress: moving, Claims: maintenance.Claims{Hosts: map[string]string{"a": "c2"}, Asked: 7, Followed: 7},
		}, moved: &settles,
	}
	d := maintenance.Drainer{Limits: maintenance.Limits{Timeout: time.Hour, Grace: time.Minute}, Begun: at, Own: true}
	_, line := w.step(t, &d, 0)
	assert.Equal(t, "gateway 2", line)
	assert.Equal(t, 1, w.moves)
	w.seen.Progress = maintenance.Progress{}
	outcome, _ := w.step(t, &d, time.Second)
	assert.Equal(t, maintenance.GoOn, outcome)
	assert.Equal(t, 1, w.asked)
	assert.True(t, d.Progress.Unproved)
	w.seen.Hosts = map[string]string{"a": "c3"} // c3 may have been asked before it claimed the gateway
	w.seen.Followed = w.seen.Asked
	w.step(t, &d, 2*time.Second)
	assert.Equal(t, 2, w.asked)
	w.seen.Followed = w.seen.Asked
	d.Cleared(at.Add(time.Second))
	outcome, _ = w.step(t, &d, 4*time.Second)
	assert.Equal(t, maintenance.Drained, outcome)
	assert.Equal(t, 2, w.asked)
	assert.Equal(t, 1, w.moves)

	w.seen.Progress = stuck // it came back before the drain had settled
	w.step(t, &d, 5*time.Second)
	w.seen.Progress = maintenance.Progress{}
	w.step(t, &d, 6*time.Second)
	assert.True(t, d.Progress.Unproved)
}

func TestDrainer_error_ends_only_at_timeout(t *testing.T) {
	t.Parallel()
	w := &world{seen: maintenance.Sight{Progress: settles}}
	d := maintenance.Drainer{Limits: maintenance.Limits{Timeout: time.Hour, Grace: time.Minute}, Begun: at, Own: true}
	w.step(t, &d, 0)
	w.fails = errors.New("no connection")
	outcome, line := w.step(t, &d, 59*time.Minute)
	assert.Equal(t, maintenance.GoOn, outcome)
	assert.Empty(t, line)
	assert.True(t, d.Stalled(w.now))
	outcome, _ = w.step(t, &d, time.Hour)
	assert.Equal(t, maintenance.TimeOver, outcome)
	assert.Equal(t, settles, d.Progress)
}

func TestDrainer_force_waits_for_no_port(t *testing.T) {
	t.Parallel()
	holds := []maintenance.Hold{
		{Name: maintenance.HoldCompute, Count: 2, Derived: true},
		{Name: maintenance.HoldMember, Count: 1, Derived: true},
		{Name: "ovn-bgp-agent", Count: 1},
	}
	w := &world{seen: maintenance.Sight{Progress: maintenance.Progress{Holds: holds}}}
	d := maintenance.Drainer{Limits: maintenance.Limits{Timeout: time.Hour}, Begun: at, Own: true, Force: true}
	w.step(t, &d, 0)
	assert.Equal(t, holds[1:], d.Progress.Holds)
	w.seen.Progress.Holds = holds[:1]
	w.step(t, &d, 0)
	outcome, _ := w.step(t, &d, maintenance.SettledFor)
	assert.Equal(t, maintenance.Drained, outcome)
}

// look is the number of gateways left at a second, and whether the agent should continue then.
type look struct {
	at, left int
	due      bool
}

func TestDrainer_continues_for_dead_command(t *testing.T) {
	t.Parallel()
	for name, looks := range map[string][]look{
		"its command gets on": {{0, 300, false}, {9, 200, false}, {18, 100, false}, {27, 0, false}},
		"its command died": {
			{0, 300, false}, {5, 200, false}, {14, 200, false}, {15, 200, true}, {16, 0, false},
		},
		"Neutron chooses the node again":  {{0, 3, false}, {2, 0, false}, {100, 1, true}, {101, 0, false}, {102, 2, true}},
		"what was done did not help":      {{0, 1, false}, {10, 1, true}, {11, 1, false}, {20, 1, true}},
		"there was nothing to do at all":  {{0, 0, false}, {1, 0, false}},
		"Neutron puts more there at once": {{0, 3, false}, {5, 4, false}, {10, 4, true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w world
			var d maintenance.Drainer
			for _, l := range looks {
				moves := w.moves
				w.seen.Left = l.left
				w.step(t, &d, time.Duration(l.at)*time.Second)
				assert.Equal(t, l.due, w.moves > moves, "at %d", l.at)
			}
		})
	}
}

func TestDrainer_stalled_without_progress(t *testing.T) {
	t.Parallel()
	w := world{seen: maintenance.Sight{Progress: maintenance.Progress{Left: 3}}}
	var d maintenance.Drainer
	w.step(t, &d, 0)
	assert.False(t, d.Stalled(at.Add(299*time.Second)))
	assert.True(t, d.Stalled(at.Add(300*time.Second)))
	w.seen.Left = 2
	w.step(t, &d, 301*time.Second)
	assert.False(t, d.Stalled(at.Add(302*time.Second)))
	w.seen.Left = 0
	w.step(t, &d, 303*time.Second)
	assert.False(t, d.Stalled(at.Add(time.Hour)), "a node that is empty")

	w.seen.Hosts = map[string]string{"a": "c2"} // not proved to respond
	d = maintenance.Drainer{}
	w.step(t, &d, 0)
	assert.Equal(t, maintenance.Progress{Unproved: true}, d.Progress)
	assert.False(t, d.Stalled(at.Add(299*time.Second)))
	assert.True(t, d.Stalled(at.Add(300*time.Second)))
}

// Gateways are unbound for a moment whenever they move. Only if they stay unbound, the drain requests signs of life, at
// growing intervals, and moves gateways according to them.
func TestDrainer_syncs_for_unbound_gateways(t *testing.T) {
	t.Parallel()
	for _, own := range []bool{false, true} {
		var w world
		d := maintenance.Drainer{Own: own, Limits: maintenance.Limits{Timeout: 2 * time.Hour}, Begun: at}
		var asked []int
		for second := range 3600 {
			w.seen.Unbound = []string{"lrp-1"}
			if second == 4 {
				w.seen.Unbound = nil
			}
			synced := w.synced
			w.step(t, &d, time.Duration(second)*time.Second)
			if w.synced > synced {
				asked = append(asked, second)
			}
		}
		assert.Equal(t, []int{10, 20, 40, 80, 160, 320, 640, 1240, 1840, 2440, 3040}, asked)
		assert.Equal(t, len(asked), w.moves)
	}
}
