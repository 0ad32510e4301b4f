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
		return plan.Northd{Found: plan.NorthdNone, Since: since, Standby: standby}
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
		"own hangs, others stand by":        {says(u0, ovndb.NorthdUnresponsive), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, active(u0, true), none(noon, true)},
		"the active one's unit is down":     {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{says(u1, ""), says(u2, ovndb.NorthdStandby)}, active(u1, true), none(noon, true)},
		"all others are down":               {says(u0, ovndb.NorthdUnconnected), []plan.NorthdReport{says(u1, ""), says(u2, "")}, active(u1, true), none(noon, false)},
		"none was active before":            {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, none(earlier, true), none(earlier, true)},
		"none was active, by a later clock": {says(u0, ovndb.NorthdStandby), nil, none(noon.Add(time.Hour), false), none(noon, false)},
		"another has taken the lock of own": {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, active(u0, true), plan.Northd{Standby: true}},
		"another has taken a peer's lock":   {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, active(u1, true), plan.Northd{Standby: true}},
		"own has ended, another stood by":   {says(u0, ovndb.NorthdDown), []plan.NorthdReport{says(u1, ovndb.NorthdStandby)}, active(u0, true), plan.Northd{Standby: true}},
		"own has ended, no other stood by":  {says(u0, ovndb.NorthdDown), []plan.NorthdReport{says(u1, "")}, active(u0, true), none(noon, false)},
		"a peer can't be read":              {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{{Unit: u1}, says(u2, "")}, none(earlier, false), plan.Northd{}},
		"a report that does not count":      {says(u0, ovndb.NorthdStandby), []plan.NorthdReport{{Unit: u1, Health: ovndb.NorthdActive}}, plan.Northd{}, plan.Northd{}},
	} {
		assert.Equal(t, c.want, plan.JudgeNorthd(noon, c.own, c.peers, c.before), name)
	}
}

func TestNorthdOverdue(t *testing.T) {
	t.Parallel()
	none := plan.Northd{Found: plan.NorthdNone, Since: noon}
	assert.False(t, none.Overdue(noon.Add(9*time.Second), 5*time.Second))
	assert.True(t, none.Overdue(noon.Add(10*time.Second), 5*time.Second))
	assert.False(t, none.Overdue(noon.Add(time.Minute), 0), "without probes")
	assert.True(t, none.Overdue(noon.Add(2*time.Minute), 0))
	assert.False(t, plan.Northd{}.Overdue(noon, time.Second))
	assert.False(t, plan.Northd{Found: plan.NorthdActive}.Overdue(noon, time.Second))
}
