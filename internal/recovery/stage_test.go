package recovery

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/finding"
)

var (
	stages = []Stage{Idle, Requested, Accepted, Made, Withdrawn, Placed, Served, Overtaken}
	events = []event{
		eventAsk, eventAccept, eventMake, eventWithdraw, eventPlace, eventOvertake, eventLead, eventUnlead, eventForget,
		eventTakeBack,
	}
)

// From idle every stage can be reached, and each is left by some event.
func TestTransitions(t *testing.T) {
	reached := []Stage{Idle}
	for i := 0; i < len(reached); i++ {
		assert.NotEmpty(t, transitions[reached[i]], reached[i])
		for what, next := range transitions[reached[i]] {
			assert.Contains(t, events, what)
			if !slices.Contains(reached, next) {
				reached = append(reached, next)
			}
		}
	}
	assert.ElementsMatch(t, stages, reached)
	for _, from := range stages {
		for _, what := range events {
			a := Attempt{Stage: from, Request: Request{Cluster: old}}
			before, after := a, a.on(what)
			if next, is := transitions[from][what]; !is {
				assert.Equal(t, before, after, "%s: %s changes nothing", from, what)
			} else {
				assert.Equal(t, next, after.Stage)
			}
			if before.Replaced() {
				assert.False(t, after.Pending() && what != eventAsk, "%s: only an operator replaces a cluster once more, not %s",
					from, what)
			}
			if what == eventMake && !before.Pending() {
				assert.NotEqual(t, Made, after.Stage, "%s: nothing is made that was not asked for", from)
			}
			assert.False(t, from == Withdrawn && after.Pending() && what != eventAsk, "what is withdrawn stays so: %s", what)
		}
	}
}

// The stage depends on the application's cluster: the old one, the attempt's own, or another unit's.
func TestAttempt(t *testing.T) {
	restore := func() Attempt { return Attempt{}.AskFor(Request{Cluster: old, Backup: "/b"}) }
	for name, c := range map[string]struct {
		attempt Attempt
		want    Stage
	}{
		"its cluster is not replaced":       {restore().Seen(old), Requested},
		"the clusters are not known":        {restore().Seen(""), Requested},
		"its own cluster":                   {restore().Accept().Makes(one).Seen(one), Placed},
		"and it is led":                     {restore().Accept().Makes(one).Seen(one).Led(true), Served},
		"and has lost its leader":           {restore().Accept().Makes(one).Seen(one).Led(true).Led(false), Placed},
		"another one":                       {restore().Accept().Makes(one).Seen(other), Overtaken},
		"another one later":                 {restore().Accept().Makes(one).Seen(one).Led(true).Seen(other), Overtaken},
		"a recovery, whichever unit has it": {Attempt{}.AskFor(Request{Cluster: old}).Seen(other), Placed},
		"asked again after it was made": {
			restore().Accept().Makes(one).AskFor(Request{Cluster: old, Backup: "/b", New: one}), Made,
		},
		"an operator withdraws it":          {restore().Accept().Makes(one).TakeBack(), Idle},
		"withdrawn":                         {restore().Withdraws(finding.Finding{Code: finding.RecoveryDying}), Withdrawn},
		"withdrawn, and the quorum is back": {restore().Withdraws(finding.Finding{}).Led(true), Idle},
	} {
		assert.Equal(t, c.want, c.attempt.Stage, name)
	}
	assert.Equal(t, other, Attempt{}.AskFor(Request{Cluster: old}).Seen(other).Request.New)
	served := restore().Accept().Makes(one).Seen(one).Led(true)
	assert.Equal(t, Served, served.Of("/b"))
	assert.Equal(t, Idle, served.Of("/c"), "another backup is another command")
}
