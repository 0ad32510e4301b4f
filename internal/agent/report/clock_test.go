package report_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/agent/report"
	"github.com/ovn-central/ovn-central-operator/internal/document"
)

func TestClockAhead(t *testing.T) {
	t.Parallel()
	second := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return second.Add(time.Duration(ms) * time.Millisecond) }
	for title, c := range map[string]struct {
		asked, answered int // milliseconds after the second that was named
		ahead           time.Duration
	}{
		"in the second that was named":      {100, 200, 0},
		"asked just before it":              {-300, 10, 0},
		"answered just after it":            {900, 1500, 0},
		"a slow answer tells nothing":       {-5000, 5000, 0},
		"ahead":                             {-45100, -45000, 45 * time.Second},
		"behind":                            {61000, 61100, -time.Minute},
		"the whole second is in its favour": {1400, 1500, -400 * time.Millisecond},
	} {
		assert.Equal(t, c.ahead, report.ClockAhead(second, at(c.asked), at(c.answered)), title)
	}
}

func TestWrongClocks_beyond_slack(t *testing.T) {
	t.Parallel()
	s := report.Status{Peers: []report.PeerStatus{
		{Unit: "ovn-central/1", ClockAheadSeconds: 30},
		{Unit: "ovn-central/2", ClockAheadSeconds: 31},
		{Unit: "ovn-central/3", ClockAheadSeconds: -7200},
		{Address: "10.0.0.9:16402"},
	}}
	var lines []string
	for _, c := range s.WrongClocks() {
		lines = append(lines, c.String())
	}
	assert.Equal(t, []string{
		"clock: ovn-central/2 is 31s ahead of this unit: certificates are not valid for both; look at: juju ssh ovn-central/2 timedatectl",
		"clock: ovn-central/3 is 2h0m behind this unit: certificates are not valid for both; look at: juju ssh ovn-central/3 timedatectl",
	}, lines)
	assert.Contains(t, document.Agent(s), lines[1]+"\n", "agent-status shows it too")
}
