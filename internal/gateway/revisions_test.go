package gateway

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/journal"
	"github.com/ovn-central/ovn-central-operator/internal/gateway/schedule"
)

func TestRevisionsRequest_wrong(t *testing.T) {
	t.Parallel()
	one := schedule.Options{Networks: []string{"physnet1"}}
	for name, x := range map[string]struct {
		r          RevisionsRequest
		base, diff journal.Version
		want       finding.ReasonCode
	}{
		"committed and plan": {RevisionsRequest{Base: "committed"}, "committed", "plan", ""},
		"two operations": {
			RevisionsRequest{Base: "g0123abcd", Diff: "last-site-action"}, "g0123abcd", "last-site-action", "",
		},
		"the same":           {RevisionsRequest{Base: "committed"}, "committed", "committed", finding.SameVersion},
		"unknown base":       {RevisionsRequest{Base: "buffer"}, "buffer", "plan", finding.ValueIs},
		"plan as base":       {RevisionsRequest{Base: "plan"}, "plan", "committed", finding.ValueIs},
		"unknown diff":       {RevisionsRequest{Diff: "buffer"}, "committed", "buffer", finding.ValueIs},
		"networks of a plan": {RevisionsRequest{Diff: "plan", Options: one}, "committed", "plan", ""},
		"networks of a list": {RevisionsRequest{Options: one}, "committed", "plan", finding.OnlyPlanned},
		"networks of a revision": {
			RevisionsRequest{Diff: "last-site-action", Options: one}, "committed", "last-site-action", finding.OnlyPlanned,
		},
		"reschedule of a revision": {
			RevisionsRequest{Diff: "last-site-action", Reschedule: true}, "committed", "last-site-action", finding.OnlyPlanned,
		},
	} {
		assert.Equal(t, x.want, x.r.wrong(x.base, x.diff).Code, name)
	}
}

// If another client changes gateways during a reviewed run, the run makes no change that was not reviewed.
func TestOnlyReviewed(t *testing.T) {
	t.Parallel()
	to := func(group, chassis string) schedule.Change {
		return schedule.Change{Group: group, After: []schedule.Candidate{{Chassis: chassis, Priority: 1}}}
	}
	reviewed := schedule.Plan{Changes: []schedule.Change{to("lrp-1", "c1"), to("lrp-2", "c2")}}
	said := 0
	s := Service{Progress: func(context.Context, string) { said++ }}
	plan := s.onlyReviewed(t.Context(), reviewed, func(schedule.State, int) schedule.Plan {
		return schedule.Plan{Changes: []schedule.Change{to("lrp-1", "c9"), to("lrp-2", "c2"), to("lrp-3", "c1")}}
	})
	assert.Equal(t, reviewed.Changes[1:], plan(schedule.State{}, 0).Changes)
	assert.Equal(t, 1, said)
	again := s.onlyReviewed(t.Context(), reviewed, func(schedule.State, int) schedule.Plan { return reviewed })
	assert.Equal(t, reviewed.Changes, again(schedule.State{}, 0).Changes)
	assert.Equal(t, 1, said)
}
