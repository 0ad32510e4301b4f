package gateway

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/finding/findingtest"
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
		{after: 2 * time.Second, missing: two, told: "2 ports not bound as expected yet (lrp-1 "},
		{after: 3 * time.Second, missing: two[1:]},
		{after: 5 * time.Second, missing: two[1:], told: "1 port not bound as expected yet (lrp-2 "},
		{after: 19 * time.Second, missing: two[1:]},
		{after: 20 * time.Second, missing: two[1:], told: "waiting for 20s: 1 port"},
		{after: 30 * time.Second, told: "checking that it stays so"},
		{after: 50 * time.Second, err: errors.New("connection lost"), told: "connection lost"},
	} {
		line := w.next(step.missing, step.err, begun.Add(step.after))
		if step.told == "" {
			assert.Empty(t, line, "%s", step.after)
		} else {
			assert.Contains(t, line, step.told, "%s", step.after)
		}
	}
}

func TestUnresponsiveHosts(t *testing.T) {
	t.Parallel()
	s := Service{unresponsive: map[string]bool{"c1": false, "c2": true}}
	changed := []schedule.Change{{Ports: []schedule.Port{{Name: "lrp-1"}, {Name: "lrp-2"}}}}
	silent := s.unresponsiveHosts(changed, ovsdb.Southbound{Redirects: map[string]string{
		"cr-lrp-1": "c1",
		"cr-lrp-2": "c2",
	}})
	assert.Equal(t, []finding.Finding{finding.About(finding.NewHostSilent, "c2", finding.Args{})}, silent)
}
