package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/observe/observetest"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/plan"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

// reporting is three units, of which 1 and 2 have published how their ovn-northd are.
func reporting(s observetest.Scenario, northds ...string) observe.Report {
	r := s.Report()
	r.Application.Peers = map[string]observe.Peer{}
	for i, northd := range northds {
		unit := []string{"ovn-central/1", "ovn-central/2"}[i]
		r.Application.Peers[unit] = observe.Peer{State: relation.UnitState{Hostname: "m", Northd: northd}}
	}
	return r
}

// What a unit said before it went silent doesn't count.
func TestNorthdReports(t *testing.T) {
	t.Parallel()
	known := func(unit string, h ovndb.NorthdHealth) plan.NorthdReport {
		return plan.NorthdReport{Unit: unit, Known: true, Health: h}
	}
	unknown := func(unit string) plan.NorthdReport { return plan.NorthdReport{Unit: unit} }
	const u1, u2 = "ovn-central/1", "ovn-central/2"
	for name, c := range map[string]struct {
		change func(*observetest.Scenario)
		want   []plan.NorthdReport
	}{
		"all are up": {func(*observetest.Scenario) {}, []plan.NorthdReport{known(u1, "active"), known(u2, "standby")}},
		"the active one's unit is down": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00", "aa02").Down("aa01"), observetest.Up("bb00", "bb02").Down("bb01")
		}, []plan.NorthdReport{known(u1, ""), known(u2, "standby")}},
		"one of its servers is down": {func(s *observetest.Scenario) {
			s.NB = observetest.Up("aa00", "aa02").Down("aa01")
		}, []plan.NorthdReport{known(u1, "active"), known(u2, "standby")}},
		"no quorum": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Up("aa00").Down("aa01", "aa02").CutOff(), observetest.Up("bb00").Down("bb01", "bb02").CutOff()
		}, []plan.NorthdReport{known(u1, ""), known(u2, "")}},
		"no server here": {func(s *observetest.Scenario) {
			s.NB, s.SB = observetest.Members{Condition: ovndb.Down}, observetest.Members{Condition: ovndb.Down}
		}, []plan.NorthdReport{unknown(u1), unknown(u2)}},
	} {
		s := observetest.Three(t)
		c.change(&s)
		assert.Equal(t, c.want, status.NorthdReports(reporting(s, "active", "standby")), name)
	}
	r := reporting(observetest.Three(t), "active")
	r.Application.Peers["ovn-central/1"] = observe.Peer{}
	assert.Equal(t, []plan.NorthdReport{unknown(u1), unknown(u2)}, status.NorthdReports(r), "of a charm that reports none")
}

func TestNorthdIsReportedWithWhatIsToBeDone(t *testing.T) {
	t.Parallel()
	const (
		restart = "juju run ovn-central/0 restart-services services=ovn-northd"
		release = "juju run ovn-central/0 release-northd"
	)
	elsewhere := plan.Northd{Found: plan.NorthdActive, Unit: "ovn-central/1"}
	none, standby := plan.Northd{Found: plan.NorthdNone}, plan.Northd{Found: plan.NorthdNone, Standby: true}
	for title, c := range map[string]struct {
		own    ovndb.NorthdHealth
		judged plan.Northd
		warned bool
		next   string
	}{
		"active":                       {ovndb.NorthdActive, plan.Northd{Found: plan.NorthdActive, Unit: "ovn-central/0"}, false, ""},
		"standby":                      {ovndb.NorthdStandby, elsewhere, false, ""},
		"restarts, another works":      {ovndb.NorthdDown, elsewhere, false, ""},
		"held, another works":          {ovndb.NorthdHeld, elsewhere, false, ""},
		"held, none active":            {ovndb.NorthdHeld, none, true, release},
		"none works":                   {ovndb.NorthdUnconnected, none, true, ""},
		"none answers":                 {ovndb.NorthdUnresponsive, none, true, restart},
		"hangs, and may have the lock": {ovndb.NorthdUnresponsive, standby, true, restart},
		"hangs, another is active":     {ovndb.NorthdUnresponsive, elsewhere, true, restart},
		"paused, another is active":    {ovndb.NorthdPaused, elsewhere, true, ""},
		"all stand by":                 {ovndb.NorthdStandby, standby, true, ""},
		"standby, others not known":    {ovndb.NorthdStandby, plan.Northd{}, false, ""},
	} {
		lines, warnings, next := status.NorthdReport(c.own, reporting(observetest.Three(t), "standby", ""), c.judged)
		assert.Equal(t, []string{
			"ovn-central/0: " + string(c.own), "ovn-central/1: standby (as of its last hook)", "ovn-central/2: not reported as working (as of its last hook)",
		}, lines, title)
		assert.Equal(t, c.warned, len(warnings) == 1, title)
		assert.Equal(t, one(c.next), next, title)
	}
	s := observetest.Three(t)
	s.NB, s.SB = observetest.Up("aa00", "aa02").Down("aa01"), observetest.Up("bb00", "bb02").Down("bb01")
	lines, _, _ := status.NorthdReport(ovndb.NorthdStandby, reporting(s, "active", "standby"), none)
	assert.Equal(t, "ovn-central/1: not known (its members are down)", lines[1])
}

func one(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}
