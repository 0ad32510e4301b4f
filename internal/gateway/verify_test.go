package gateway

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
	"github.com/ovn-central/ovn-central-operator/internal/ovsdb"
)

func TestApply_codes(t *testing.T) {
	t.Parallel()
	changed := []schedule.Change{{
		Group: "lrp-1", Ports: []schedule.Port{{Name: "lrp-1"}}, After: []schedule.Candidate{{Chassis: "c1", Priority: 1}},
		Interrupts: true,
	}}
	s := &Service{Now: time.Now}
	o := Operation{service: s, Plan: schedule.Plan{Changes: changed, Cost: schedule.Cost{Interruptions: 1}}}
	assert.Equal(t, []string{"error WOULD_INTERRUPT Count=1"}, findingtest.All(finding.Reasons(o.Apply(t.Context()))))
	assert.Equal(t, []string{"warning BINDING_MISSING lrp-1"}, findingtest.All(s.misplaced(changed, ovsdb.Southbound{})))

	unsettled, err := s.awaitStable(t.Context(), time.Millisecond, func() ([]finding.Finding, error) { return nil, nil })
	require.NoError(t, err)
	assert.Equal(t, []string{"info BINDINGS_UNSETTLED Duration=3s"}, findingtest.All(unsettled))
}

// D6: long waits are reported.
func TestWaited_next(t *testing.T) {
	t.Parallel()
	begun := time.Unix(1000, 0)
	w := waited{begun: begun}
	two := []finding.Finding{schedule.Unbound("lrp-1", "c1"), schedule.Unbound("lrp-2", "c1")}
	for _, step := range []struct {
		after   time.Duration
		missing []finding.Finding
		err     error
		told    string
	}{
		{after: time.Second, missing: two},
		{after: 2 * time.Second, missing: two, told: "2s: 2 .*lrp-1 "},
		{after: 3 * time.Second, missing: two[1:]},
		{after: 5 * time.Second, missing: two[1:], told: "5s: 1 .*lrp-2 "},
		{after: 19 * time.Second, missing: two[1:]},
		{after: 20 * time.Second, missing: two[1:], told: "20s: 1 "},
		{after: 30 * time.Second, told: " 3s "},
		{after: 50 * time.Second, err: errors.New("connection lost"), told: "connection lost"},
	} {
		line := w.next(step.missing, step.err, begun.Add(step.after))
		if step.told == "" {
			assert.Empty(t, line, "%s", step.after)
		} else {
			assert.Regexp(t, step.told, line, "%s", step.after)
		}
	}
}

// A chassis that does not respond is not expected to host anything.
func TestMisplaced_expects_chassis_that_responds(t *testing.T) {
	t.Parallel()
	s := Service{unresponsive: map[string]bool{"c1": true}}
	changed := []schedule.Change{{Group: "lrp-1", Ports: []schedule.Port{{Name: "lrp-1"}}, After: []schedule.Candidate{
		{Chassis: "c1", Priority: 3}, {Chassis: "c2", Priority: 2}, {Chassis: "c3", Priority: 1},
	}}}
	for host, want := range map[string][]string{
		"c2": nil,
		"c3": {"warning GATEWAY_MISPLACED lrp-1 Other=c3 Value=c2"},
		"":   {"warning GATEWAY_UNBOUND lrp-1 Value=c2"},
	} {
		found := s.misplaced(changed, ovsdb.Southbound{Redirects: map[string]string{"cr-lrp-1": host}})
		assert.Equal(t, want, findingtest.All(found), host)
	}
}

// OVN binds the ports of a disabled router nowhere, so that none is expected. Of several changes of a group only the
// last one counts.
func TestMisplaced_expects_last_change_of_enabled_routers(t *testing.T) {
	t.Parallel()
	to := func(chassis string, p schedule.Port) schedule.Change {
		return schedule.Change{
			Group: p.Name, Ports: []schedule.Port{p}, After: []schedule.Candidate{{Chassis: chassis, Priority: 1}},
		}
	}
	sb := ovsdb.Southbound{Redirects: map[string]string{"cr-lrp-1": "", "cr-lrp-2": "c2"}}
	off, twice := schedule.Port{Name: "lrp-1", Disabled: true}, schedule.Port{Name: "lrp-2"}
	var s Service
	assert.Empty(t, s.misplaced([]schedule.Change{to("c1", off), to("c1", twice), to("c2", twice)}, sb))
	assert.Equal(t, []string{"warning GATEWAY_MISPLACED lrp-2 Other=c2 Value=c1"},
		findingtest.All(s.misplaced([]schedule.Change{to("c2", twice), to("c1", twice)}, sb)))
}

// Each finished operation prints how to revert it, or that there is nothing to revert.
func TestFinish_tells_how_to_revert(t *testing.T) {
	t.Parallel()
	one := func(names ...string) (all []schedule.Candidate) {
		for i, name := range names {
			all = append(all, schedule.Candidate{Chassis: name, Priority: 9 - i})
		}
		return all
	}
	moved := schedule.Change{Group: "lrp-1", Before: one("c1"), After: one("c2", "c1")}
	added := schedule.Change{Group: "lrp-2", Before: one("c1"), After: one("c1", "c2")}
	s := Service{Undo: func(plan string) string { return "revert " + plan }}
	for _, c := range []struct {
		changed []schedule.Change
		count   string
		reverts bool
	}{
		{[]schedule.Change{moved}, "1", true},
		{[]schedule.Change{added}, "1", false},
		{[]schedule.Change{added, moved}, "2", true},
	} {
		said := s.result(&run{Run: journal.Begin("g1", "", "", "")}, c.changed)
		assert.Regexp(t, "^"+c.count+" ", said)
		assert.Equal(t, c.reverts, strings.HasSuffix(said, ": revert g1"), said)
	}
}

func TestUnresponsiveHosts(t *testing.T) {
	t.Parallel()
	s := Service{unresponsive: map[string]bool{"c1": false, "c2": true}}
	changed := []schedule.Change{{Ports: []schedule.Port{{Name: "lrp-1"}, {Name: "lrp-2"}}}}
	sb := ovsdb.Southbound{Redirects: map[string]string{"cr-lrp-1": "c1", "cr-lrp-2": "c2"}}
	silent := s.unresponsiveHosts(changed, sb)
	assert.Equal(t, []finding.Finding{finding.About(finding.NewHostSilent, "c2", finding.Args{})}, silent)
}
