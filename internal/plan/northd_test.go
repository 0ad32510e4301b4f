package plan_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
)

func TestJudgeNorthd(t *testing.T) {
	t.Parallel()
	const u0, u1, u2 = "ovn-central/0", "ovn-central/1", "ovn-central/2"
	says := func(unit string, h ovndb.NorthdHealth) plan.NorthdReport {
		return plan.NorthdReport{Unit: unit, Known: true, Health: h}
	}
	active := func(unit string, standby bool) plan.Northd {
		return plan.Northd{Found: plan.NorthdActive, Unit: unit, Standby: standby}
	}
	none := func(since time.Time, standby bool) plan.Northd {
		return plan.Northd{Found: plan.NorthdNone, Since: since, Standby: standby, Asked: since, Answered: true}
	}
	earlier := noon.Add(-time.Minute)
	reports := func(all ...plan.NorthdReport) []plan.NorthdReport { return all }
	const on, standby, hung, off = ovndb.NorthdActive, ovndb.NorthdStandby, ovndb.NorthdUnresponsive, ovndb.NorthdDown
	down1, stands1, stands2 := says(u1, ""), says(u1, standby), says(u2, standby)
	hangs1 := plan.NorthdReport{Unit: u1, Known: true, Up: true, Health: hung}
	unknown1, unknown2 := plan.NorthdReport{Unit: u1}, plan.NorthdReport{Unit: u2}
	before0, before1, taken := active(u0, true), active(u1, true), plan.Northd{Standby: true}
	for name, c := range map[string]struct {
		own          ovndb.NorthdHealth
		peers        []plan.NorthdReport
		before, want plan.Northd
	}{
		"active":                      {on, reports(stands1, unknown2), plan.Northd{}, active(u0, true)},
		"peer active":                 {hung, reports(says(u1, on)), none(earlier, false), active(u1, false)},
		"hangs, others on standby":    {hung, reports(stands1), before0, none(noon, true)},
		"active peer's unit down":     {standby, reports(down1, stands2), before1, none(noon, true)},
		"all others down":             {ovndb.NorthdUnconnected, reports(down1, says(u2, "")), before1, none(noon, false)},
		"none before":                 {standby, reports(stands1), none(earlier, true), none(earlier, true)},
		"none before, clock set back": {standby, nil, none(noon.Add(time.Hour), false), none(noon, false)},
		"own lock taken":              {standby, reports(stands1), before0, taken},
		"peer's lock taken":           {standby, reports(stands1), before1, taken},
		"ended, peer on standby":      {off, reports(stands1), before0, taken},
		"ended, peer down":            {off, reports(down1), before0, none(noon, false)},
		"peer hangs": {
			standby, reports(hangs1), before1, plan.Northd{Found: plan.NorthdNone, Since: noon, Asked: noon, Hangs: u1},
		},
		"peer unread":    {standby, reports(unknown1, says(u2, "")), none(earlier, false), plan.Northd{}},
		"report unknown": {standby, reports(plan.NorthdReport{Unit: u1, Health: on}), plan.Northd{}, plan.Northd{}},
	} {
		assert.Equal(t, c.want, plan.JudgeNorthd(noon, time.Minute, says(u0, c.own), c.peers, c.before), name)
	}
}

// If no session has the lock, no report of another unit counts, and no ovn-northd can have taken over.
func TestOutdated(t *testing.T) {
	t.Parallel()
	peers := []plan.NorthdReport{
		{Unit: "ovn-central/1", Known: true, Health: ovndb.NorthdActive, Up: true},
		{Unit: "ovn-central/2", Known: true, Health: ovndb.NorthdStandby, Up: true},
		{Unit: "ovn-central/3", Up: true},
	}
	own := plan.NorthdReport{Unit: "ovn-central/0", Known: true, Health: ovndb.NorthdDown}
	for _, before := range []plan.Northd{{}, {Found: plan.NorthdActive, Unit: own.Unit, Standby: true}} {
		judge := func(peers []plan.NorthdReport) plan.Northd {
			return plan.JudgeNorthd(noon, time.Minute, own, peers, before)
		}
		assert.Equal(t, plan.Northd{Found: plan.NorthdActive, Unit: "ovn-central/1", Standby: true}, judge(peers))
		assert.Equal(t, plan.Northd{Found: plan.NorthdNone, Since: noon, Asked: noon}, judge(plan.Outdated(peers)))
	}
}

// A member that stays down for long holds nothing up, and one that was kicked still counts for a while.
func TestCounting(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return noon.Add(time.Duration(minute) * time.Minute) }
	n := plan.Northd{}
	for minute, c := range []struct {
		down int
		lost time.Time
	}{{0, time.Time{}}, {2, at(1)}, {2, at(1)}, {1, at(1)}, {3, at(4)}, {0, at(4)}, {1, at(6)}} {
		n = plan.Northd{Found: plan.NorthdActive}.Counting(at(minute), c.down, n)
		assert.Equal(t, plan.Northd{Found: plan.NorthdActive, MembersDown: c.down, Lost: c.lost}, n, minute)
	}
}

// A peer's report from before the question is no evidence: another ovn-northd may have taken over since. After a
// takeover the unit with the active ovn-northd is asked, and answers, before a third unit reports an error.
func TestNorthdProved(t *testing.T) {
	t.Parallel()
	const probe = 5 * time.Second
	own := plan.NorthdReport{Unit: "ovn-central/0", Known: true, Health: ovndb.NorthdStandby}
	peer := plan.NorthdReport{Unit: "ovn-central/1", Known: true, Health: ovndb.NorthdStandby, Up: true}
	dead := plan.NorthdReport{Unit: "ovn-central/2", Known: true}
	judge := func(after time.Duration, before plan.Northd) plan.Northd {
		return plan.JudgeNorthd(noon.Add(after), probe, own, []plan.NorthdReport{peer, dead}, before)
	}
	n := judge(0, plan.Northd{Found: plan.NorthdActive, Unit: dead.Unit})
	assert.Equal(t, noon, n.Asked)
	assert.False(t, n.Answered, "the one that is up has not reported since")

	peer.Heard = n.Asked
	n = judge(9*time.Second, n)
	assert.Equal(t, noon, n.Asked, "it asks once")
	assert.True(t, n.Answered)
	assert.False(t, n.Proved(probe), "the other has answered before it could take over")

	n = judge(10*time.Second, n)
	assert.Equal(t, noon.Add(10*time.Second), n.Asked, "it asks once more")
	assert.False(t, n.Proved(probe))

	peer.Heard = n.Asked
	n = judge(11*time.Second, n)
	assert.Equal(t, noon.Add(10*time.Second), n.Asked)
	assert.True(t, n.Proved(probe))
	assert.False(t, n.Proved(0), "without probes it takes longer")
	assert.True(t, judge(time.Hour, n).Proved(probe))

	peer.Health = ovndb.NorthdActive
	assert.Equal(t, plan.Northd{Found: plan.NorthdActive, Unit: peer.Unit}, judge(12*time.Second, n))

	peer.Up = false
	none := plan.Northd{Found: plan.NorthdNone, Since: noon, Asked: noon}
	n = plan.JudgeNorthd(noon.Add(time.Hour), probe, own, []plan.NorthdReport{dead}, none)
	assert.True(t, n.Proved(probe), "nothing else is up")
	assert.False(t, plan.Northd{}.Proved(probe))
	assert.False(t, plan.Northd{Found: plan.NorthdActive, Answered: true, Asked: noon}.Proved(probe))
}

func TestClientsSettled(t *testing.T) {
	t.Parallel()
	same := func(look ovndb.Clients, n int) (all []ovndb.Clients) {
		for range n {
			all = append(all, look)
		}
		return all
	}
	idle, busy := ovndb.Clients{Connected: 100}, ovndb.Clients{Connected: 100, Busy: 60}
	for name, c := range map[string]struct {
		looks []ovndb.Clients
		want  bool
	}{
		"not looked yet":            {nil, false},
		"no_clients":                {same(ovndb.Clients{}, 1), true},
		"all went":                  {append(same(busy, 5), ovndb.Clients{}), true},
		"too few looks":             {same(idle, plan.SettledObservations-1), false},
		"idle":                      {same(idle, plan.SettledObservations), true},
		"all are sent the database": {same(busy, 50), false},
		"were, and now have it":     {append(same(busy, 50), idle), true},
		"one comes":                 {append(same(idle, 50), ovndb.Clients{Connected: 101}), false},
		"one came before": {
			append(same(ovndb.Clients{Connected: 99}, 5), same(idle, plan.SettledObservations)...), true,
		},
		"some go":                           {append(same(idle, 5), ovndb.Clients{Connected: 90}), true},
		"few that never read":               {same(ovndb.Clients{Connected: 100, Busy: 5}, plan.SettledObservations), true},
		"all_receive_a_change_now_and_then": {append(same(busy, 4), idle, busy, busy), true},
	} {
		assert.Equal(t, c.want, plan.ClientsSettled(c.looks), name)
	}
}

func TestAboutClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ told, now, want int }{
		{0, 0, 0},
		{0, 5, 0},
		{0, 6, 6},
		{100, 125, 100},
		{100, 126, 126},
		{100, 75, 100},
		{100, 74, 74},
		{3, 103, 103},
		{300, 0, 0},
	} {
		assert.Equal(t, c.want, plan.AboutClients(c.told, c.now), "%+v", c)
	}
}
