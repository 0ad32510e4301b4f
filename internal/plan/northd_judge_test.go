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
	for name, c := range map[string]struct {
		own    plan.NorthdReport
		peers  []plan.NorthdReport
		before plan.Northd
		want   plan.Northd
	}{
		"own is active":                     {says(u0, ovndb.NorthdActive), []plan.NorthdReport{says(u1, ovndb.NorthdStandby), {Unit: u2}}, plan.Northd{}, active(u0, true)},
		"another is active":                 {says(u0, ovndb.NorthdUnresponsive), []plan.NorthdReport{says(u1, ovndb.NorthdActive)}, none(earlier, false), active(u1, false)},
		"own_hangs_others_on_standby":       {says(u0, ovndb.NorthdUnresponsive), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, active(u0, true), none(noon, true)},
		"the active one's unit is down":     {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{says(u1, ""), says(u2, ovndb.NorthdStandby)}, active(u1, true), none(noon, true)},
		"all others are down":               {says(u0, ovndb.NorthdUnconnected), []plan.NorthdReport{says(u1, ""), says(u2, "")}, active(u1, true), none(noon, false)},
		"none was active before":            {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, none(earlier, true), none(earlier, true)},
		"none was active, by a later clock": {says(u0, ovndb.NorthdStandby), nil, none(noon.Add(time.Hour), false), none(noon, false)},
		"another has taken the lock of own": {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, active(u0, true), plan.Northd{Standby: true}},
		"another has taken a peer's lock":   {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, active(u1, true), plan.Northd{Standby: true}},
		"own has ended, another stood by":   {says(u0, ovndb.NorthdDown), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, active(u0, true), plan.Northd{Standby: true}},
		"own has ended, no other stood by":  {says(u0, ovndb.NorthdDown), []plan.NorthdReport{says(u1, "")}, active(u0, true), none(noon, false)},
		"a peer's hangs": {
			says(u0, ovndb.NorthdStandby),
			[]plan.NorthdReport{{Unit: u1, Known: true, Up: true, Health: ovndb.NorthdUnresponsive}},
			active(u1, true),
			plan.Northd{Found: plan.NorthdNone, Since: noon, Asked: noon, Hangs: u1},
		},
		"a peer can't be read":         {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{{Unit: u1}, says(u2, "")}, none(earlier, false), plan.Northd{}},
		"a report that does not count": {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{{Unit: u1, Health: ovndb.NorthdActive}}, plan.Northd{}, plan.Northd{}},
	} {
		assert.Equal(t, c.want, plan.JudgeNorthd(noon, time.Minute, c.own, c.peers, c.before), name)
	}
}

// A peer's report from before the question is no evidence: another may have taken over since. After a takeover the
// active unit is asked, and answers, before a third unit reports an error.
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
	assert.True(t, plan.JudgeNorthd(noon.Add(time.Hour), probe, own, []plan.NorthdReport{dead}, plan.Northd{Found: plan.NorthdNone, Since: noon, Asked: noon}).Proved(probe),
		"nothing else is up")
	assert.False(t, plan.Northd{}.Proved(probe))
	assert.False(t, plan.Northd{Found: plan.NorthdActive, Answered: true, Asked: noon}.Proved(probe))
}
