package status_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ovn-central/ovn-central-operator/internal/juju"
	"github.com/ovn-central/ovn-central-operator/internal/observe"
	"github.com/ovn-central/ovn-central-operator/internal/ovndb"
	"github.com/ovn-central/ovn-central-operator/internal/relation"
	"github.com/ovn-central/ovn-central-operator/internal/status"
)

func TestNorthdIsReportedWithWhatIsToBeDone(t *testing.T) {
	t.Parallel()
	const restart = "juju run ovn-central/0 restart-services services=ovn-northd"
	for title, c := range map[string]struct {
		own           ovndb.NorthdHealth
		other         string
		line          string
		warning, next string
	}{
		"active":                          {own: ovndb.NorthdActive, line: "active"},
		"standby":                         {own: ovndb.NorthdStandby, other: "active", line: "standby"},
		"restarts, another takes over":    {own: ovndb.NorthdDown, other: "standby", line: "not running"},
		"held, another works":             {own: ovndb.NorthdHeld, other: "active", line: "held, by action hold-northd"},
		"held, and no other works":        {ovndb.NorthdHeld, "", "held, by action hold-northd", "ovn-northd: no unit reports a working one, and this unit's is held: changes do not reach the networks", "juju run ovn-central/0 release-northd"},
		"none works":                      {ovndb.NorthdUnconnected, "", "not connected to both databases", "ovn-northd: no unit reports a working one; see docs/how-to/when-a-unit-is-blocked-or-waits.md", ""},
		"none answers":                    {ovndb.NorthdUnresponsive, "", "does not answer", "ovn-northd: no unit reports a working one, and this unit's does not answer", restart},
		"hangs, and may have the lock":    {ovndb.NorthdUnresponsive, "standby", "does not answer", "ovn-northd: this unit's does not answer and may be the active one; no other unit reports an active one", restart},
		"hangs, another is active":        {ovndb.NorthdUnresponsive, "active", "does not answer", "ovn-northd: this unit's does not answer; another unit's is active", restart},
		"told to do nothing, another has": {ovndb.NorthdPaused, "active", "paused", `ovn-northd: this unit's is "paused"; another unit's works`, ""},
	} {
		m := observe.Application{
			Unit: "ovn-central/0", Goal: map[string]juju.UnitGoal{"ovn-central/0": {}, "ovn-central/1": {}},
			Peers: map[string]observe.Peer{"ovn-central/1": {State: relation.UnitState{Northd: c.other}}},
		}
		lines, warnings, next := status.NorthdReport(c.own, m)
		assert.Equal(t, "ovn-central/0: "+c.line, lines[0], title)
		assert.Equal(t, one(c.warning), warnings, title)
		assert.Equal(t, one(c.next), next, title)
	}
}

func one(line string) []string {
	if line == "" {
		return nil
	}
	return []string{line}
}
