package status_test

import (
	"testing"
	"time"

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
		return plan.NorthdReport{Unit: unit, Known: true, Health: h, Up: h != ""}
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
	up := func(unit string) plan.NorthdReport { return plan.NorthdReport{Unit: unit, Up: true} }
	assert.Equal(t, []plan.NorthdReport{up(u1), up(u2)}, status.NorthdReports(r), "of a charm that reports none")

	asked := time.Unix(1764000000, 0)
	r.Application.Peers[u1] = observe.Peer{State: relation.UnitState{Hostname: "m", NorthdHeard: map[string]time.Time{u2: asked.Add(1), r.Application.Unit: asked}}}
	assert.Equal(t, asked, status.NorthdReports(r)[0].Heard)
}

func TestNorthds(t *testing.T) {
	t.Parallel()
	assert.Equal(t, []string{
		"ovn-central/0: standby", "ovn-central/1: active (as of its last hook)", "ovn-central/2: not reported as working (as of its last hook)",
	}, status.Northds(ovndb.NorthdStandby, reporting(observetest.Three(t), "active", "")))
	s := observetest.Three(t)
	s.NB, s.SB = observetest.Up("aa00", "aa02").Down("aa01"), observetest.Up("bb00", "bb02").Down("bb01")
	assert.Equal(t, "ovn-central/1: not known (its members are down)", status.Northds(ovndb.NorthdStandby, reporting(s, "active", "standby"))[1])
}
